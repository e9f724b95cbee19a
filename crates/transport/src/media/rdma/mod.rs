//! The medium `rdma`: frames by remote memory writes or by messages, over libfabric's providers
//! ([`provider`]): sockets, adapters with verbs, and the memory of one host.
//!
//! # Mode `write`
//! The receiver has a ring in registered memory, the sender the same ring as the source of its
//! writes. A frame is built in place in the sender's ring and written to the same offset of the
//! receiver's; the receiver finds it by looking at its memory ([`record`]). Credit comes back as an
//! absolute position, written into memory of the sender's ([`write_receiver`]), so an update that
//! is late or doubled does no harm. This is the Vega transport (Selo et al., 2010), without its
//! limit that a message is at most the ring, and without its belief that bytes arrive in order.
//!
//! # Mode `channel`
//! Both sides have a pool of equal buffers ([`channel_pool`]). The receiver posts all of its own
//! and tells how many ([`channel_receiver`]); the sender fills buffers with frames and sends each
//! as a message while it has credit ([`channel_targets`]). This is the way of Heron over InfiniBand
//! (Kamburugamuve, 2017), without credit in data, since a stream goes one way.
//!
//! # Mode `batch`
//! The rings of mode `write`, with `rum`'s batches, and connections that may break: a receiver
//! whose connection broke connects again ([`sender_reconnection`]), and the sender
//! writes on from the position that it names. Positions are absolute and frames stay in the
//! sender's ring until they are released, so nothing is lost, doubled or out of order. Who is gone
//! and who is only disconnected is decided as in `rum` ([`disconnected_peer`]). This is RUM over
//! InfiniBand (the Streams report, 2011). With [`rails`] it goes over several paths at once.

mod adapter;
mod batch_pacing;
mod batch_targets;
#[cfg(test)]
mod batch_tests;
mod batch_ticket;
mod channel_pool;
mod channel_receiver;
mod channel_sender;
mod channel_targets;
#[cfg(test)]
mod channel_tests;
#[cfg(test)]
mod cost_tests;
mod disconnected_peer;
mod frame_check;
mod greeting;
mod introduction;
mod medium;
mod mode;
mod number_buffers;
mod peer_watch;
mod ports;
mod provider;
mod rails;
mod receiver;
mod receiver_table;
mod record;
mod ring_targets;
mod sender;
mod sender_reconnection;
mod settings;
#[cfg(test)]
mod sim_edge;
#[cfg(test)]
mod tcp_tests;
mod withheld_credit;
mod write_posts;
mod write_receiver;
mod write_sender;
mod write_target;
mod write_targets;
#[cfg(test)]
mod write_tests;

pub use medium::RdmaMedium;
pub use ports::{FabricPort, adapter_ports, is_for_adapters};

/// How a receiver knows that the bytes of a record are all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlacementProof {
    /// By the marks of the record: where bytes are placed in the order of their addresses, and
    /// writes one after the other.
    Marks,
    /// By a number that comes with each write and is told after its data.
    Numbers,
}

/// Number of the mode `write` in greetings: with marks, and with numbers.
const fn mode_number(proof: PlacementProof) -> u16 {
    match proof {
        PlacementProof::Marks => 1,
        PlacementProof::Numbers => 2,
    }
}

/// Number of the mode `batch` in greetings: with marks, and with numbers.
const fn batch_mode_number(proof: PlacementProof) -> u16 {
    match proof {
        PlacementProof::Marks => 4,
        PlacementProof::Numbers => 5,
    }
}

/// Number of the mode `channel` in greetings.
const CHANNEL_MODE: u16 = 3;

/// Bytes of a message of credit: a word.
const CHANNEL_CREDIT_BYTES: usize = 8;
