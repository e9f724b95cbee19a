//! Constants of libfabric's interface.

/// Version of the interface that this crate asks for: 1.11, the first of 2020, which every
/// distribution has by now.
pub(crate) const API_VERSION: u32 = 1 << 16 | 11;

// Capabilities and flags of operations.
pub(crate) const FI_MSG: u64 = 1 << 1;
pub(crate) const FI_RMA: u64 = 1 << 2;
pub(crate) const FI_READ: u64 = 1 << 8;
pub(crate) const FI_WRITE: u64 = 1 << 9;
pub(crate) const FI_RECV: u64 = 1 << 10;
pub(crate) const FI_SEND: u64 = 1 << 11;
pub(crate) const FI_TRANSMIT: u64 = FI_SEND;
pub(crate) const FI_REMOTE_READ: u64 = 1 << 12;
pub(crate) const FI_REMOTE_WRITE: u64 = 1 << 13;
pub(crate) const FI_REMOTE_CQ_DATA: u64 = 1 << 17;
pub(crate) const FI_MORE: u64 = 1 << 18;
pub(crate) const FI_COMPLETION: u64 = 1 << 24;
pub(crate) const FI_INJECT: u64 = 1 << 25;
/// Flag of `fi_getinfo`: the address is one to listen on.
pub(crate) const FI_SOURCE: u64 = 1 << 57;
/// Flag of a binding: only operations with [`FI_COMPLETION`] complete in the queue.
pub(crate) const FI_SELECTIVE_COMPLETION: u64 = 1 << 59;

// Modes: what the provider may ask of its user.
/// A receive buffer is used up by a write with data.
pub(crate) const FI_RX_CQ_DATA: u64 = 1 << 56;

// Modes of memory registration.
pub(crate) const FI_MR_LOCAL: i32 = 1 << 2;
pub(crate) const FI_MR_VIRT_ADDR: i32 = 1 << 4;
pub(crate) const FI_MR_ALLOCATED: i32 = 1 << 5;
pub(crate) const FI_MR_PROV_KEY: i32 = 1 << 6;

// Orders of messages, as the receiver sees them.
/// A write stands after the writes before it.
pub(crate) const FI_ORDER_WAW: u64 = 1 << 4;
/// A message comes after the messages before it.
pub(crate) const FI_ORDER_SAS: u64 = 1 << 8;

// Formats of addresses.
pub(crate) const FI_SOCKADDR_IN: u32 = 2;
pub(crate) const FI_SOCKADDR_IN6: u32 = 3;

// Types of endpoints.
pub(crate) const FI_EP_MSG: i32 = 1;
pub(crate) const FI_EP_RDM: i32 = 3;

// Threading.
/// The user serialises all calls on a domain and its objects.
pub(crate) const FI_THREAD_DOMAIN: i32 = 3;

// Types of address vectors.
/// Addresses are numbers: that which was inserted first is 0.
pub(crate) const FI_AV_TABLE: i32 = 2;

// Ways to wait for a queue.
pub(crate) const FI_WAIT_NONE: i32 = 0;
pub(crate) const FI_WAIT_FD: i32 = 3;

// Formats of completions.
pub(crate) const FI_CQ_FORMAT_DATA: i32 = 3;

// Commands of `fi_control`.
pub(crate) const FI_GETWAIT: i32 = 5;
pub(crate) const FI_ENABLE: i32 = 6;

// Events of connections.
pub(crate) const FI_CONNREQ: u32 = 1;
pub(crate) const FI_CONNECTED: u32 = 2;
pub(crate) const FI_SHUTDOWN: u32 = 3;

// Errors, which calls return with a minus sign; those below 256 are the system's.
pub(crate) const FI_EAGAIN: i64 = libc::EAGAIN as i64;
/// An error entry waits in the queue.
pub(crate) const FI_EAVAIL: i64 = 259;
