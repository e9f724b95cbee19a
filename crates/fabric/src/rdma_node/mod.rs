//! The calls of a node, as a medium makes them: over libfabric, or over the fabric for tests.

mod completion;
mod connection;
mod operation;

use std::os::fd::BorrowedFd;

pub use completion::{COMPLETIONS_PER_POLL, Completion, CompletionKind};
pub(crate) use connection::RequestHandle;
pub use connection::{ConnectionId, ConnectionRequest, FabricEvent};
pub use operation::{LocalSlice, PostOptions, RegionId, RemoteAccess, RemoteMemory};

use crate::error::FabricError;
use crate::memory::PinnedMemory;
use crate::provider::ProviderLimits;

/// One end of connections that write, read and send: [`FabricNode`](crate::FabricNode) for
/// libfabric's providers, [`SimNode`](crate::sim::SimNode) for tests.
///
/// An operation is posted and done later. Bytes that it reads or fills must stay as they are until
/// then: a completion tells of that if one was asked for, or the protocol knows it from the peer.
///
/// # Rules
/// 1. Operations of one connection begin in the order in which they were posted. A write's data may
///    be placed in any order of its words, if the provider does not say otherwise.
/// 2. The number that comes with a write is told after its data, and after all writes before it.
/// 3. Completions of a connection come in order, so one tells of all operations posted before it.
pub trait RdmaNode: Send {
    /// Limits of the node's provider.
    fn limits(&self) -> &ProviderLimits;

    /// Registers a memory: operations of the node may use it from then on, and peers as `access`
    /// says, until [`RdmaNode::deregister`] or until the node is dropped. The key is not guessable
    /// where the node chooses it.
    ///
    /// # Errors
    /// The provider refuses: mostly because the limit of locked memory (`ulimit -l`) is too low.
    fn register(
        &mut self,
        memory: &PinnedMemory,
        access: RemoteAccess,
    ) -> Result<RegionId, FabricError>;

    /// Ends a registration: no peer reaches the memory by its key any more. Operations of this node
    /// that use the memory must be done, or their connection closed.
    fn deregister(&mut self, region: RegionId);

    /// Address and key by which the peer of a connection reaches a registered memory.
    ///
    /// # Panics
    /// The region is one of another node, or its registration has ended.
    fn remote_memory(&self, region: RegionId) -> RemoteMemory;

    /// Connects to the address that the node was opened for, with bytes for the peer: at most 55,
    /// which all providers carry. The connection is made once [`RdmaNode::next_event`] says so.
    ///
    /// # Errors
    /// The provider has failed, or the node listens. A peer that refuses is an event.
    fn connect(&mut self, data: &[u8]) -> Result<ConnectionId, FabricError>;

    /// Makes the connection of a request. The peer is told by [`RdmaNode::finish_accept`], so that
    /// receive buffers can be posted before, and no message finds none. After an error the request
    /// is still to be rejected.
    ///
    /// # Errors
    /// The provider has failed, or the request is one of another node.
    fn begin_accept(&mut self, request: &ConnectionRequest) -> Result<ConnectionId, FabricError>;

    /// Accepts the request of a connection, with bytes for the peer: at most 55, which all
    /// providers carry. The connection is made once [`RdmaNode::next_event`] says so.
    ///
    /// # Errors
    /// The provider has failed, or the connection is closed.
    fn finish_accept(&mut self, connection: ConnectionId, data: &[u8]) -> Result<(), FabricError>;

    /// Refuses a request for a connection, with words for the peer: their first 56 bytes, which all
    /// providers carry.
    ///
    /// # Errors
    /// The provider has failed, or the request is one of another node.
    fn reject(&mut self, request: ConnectionRequest, why: &str) -> Result<(), FabricError>;

    /// Closes a connection: the peer sees its end, and reaches no memory by it any more.
    fn disconnect(&mut self, connection: ConnectionId);

    /// Takes the next change of the node's connections; `None`: there is none now.
    ///
    /// # Errors
    /// The provider's queue has failed.
    fn next_event(&mut self) -> Result<Option<FabricEvent>, FabricError>;

    /// Posts a write of local bytes into a peer's memory, at `offset` bytes of it. `false`: the
    /// provider has no room for it now; completions make some.
    ///
    /// # Errors
    /// The connection is gone, a range is not within its memory, or too many bytes are inline.
    fn post_write(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        to: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError>;

    /// Posts a read of a peer's memory, from `offset` bytes of it, into local bytes. Reads are
    /// never inline. `false`: the provider has no room for it now.
    ///
    /// # Errors
    /// The connection is gone, or a range is not within its memory.
    fn post_read(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        from: &RemoteMemory,
        offset: u64,
        options: PostOptions,
    ) -> Result<bool, FabricError>;

    /// Posts a message of local bytes. The peer must have posted a receive buffer that is large
    /// enough. `false`: the provider has no room for it now.
    ///
    /// # Errors
    /// The connection is gone, the range is not within its memory, or too many bytes are inline.
    fn post_send(
        &mut self,
        connection: ConnectionId,
        from: &LocalSlice,
        options: PostOptions,
    ) -> Result<bool, FabricError>;

    /// Posts a receive buffer: a later message fills it, and completes with the number
    /// `completion`. `false`: the provider has no room for it now.
    ///
    /// # Errors
    /// The connection is gone, or the range is not within its memory.
    fn post_receive(
        &mut self,
        connection: ConnectionId,
        into: &LocalSlice,
        completion: u64,
    ) -> Result<bool, FabricError>;

    /// Lets the provider make progress, and appends the completions that have come, at most
    /// [`COMPLETIONS_PER_POLL`].
    ///
    /// # Errors
    /// The provider's queue has failed.
    fn poll_completions(&mut self, into: &mut Vec<Completion>) -> Result<(), FabricError>;

    /// Asks whether a thread may sleep on the node's descriptors. `false`: there is something to
    /// take now.
    ///
    /// # Errors
    /// The provider has failed.
    fn may_sleep(&mut self) -> Result<bool, FabricError>;

    /// Descriptors that become readable when there are completions or events: valid to sleep on
    /// right after [`RdmaNode::may_sleep`] was true.
    ///
    /// # Errors
    /// The provider has no descriptors.
    fn wait_fds(&self) -> Result<[BorrowedFd<'_>; 2], FabricError>;
}
