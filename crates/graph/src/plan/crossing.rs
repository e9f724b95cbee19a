//! Streams that leave their process: the sending port, the receiving PEs and the medium.

use std::sync::Arc;

use crate::{OperatorId, OutPortId};

/// A stream that leaves its PE: one sender there, one receiver in each receiving PE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The output port whose tuples cross.
    pub from: OutPortId,
    /// The receiving PEs, in order. A receiver's number is its index here.
    pub to: Vec<u32>,
    /// The medium's name, such as `shm`; [`AUTO_MEDIUM`] until one is chosen.
    pub medium: Arc<str>,
    /// The form in which tuples are written.
    pub codec: CrossingCodec,
    /// Size of the crossing's ring in bytes; `None` for the medium's default.
    pub ring_bytes: Option<u64>,
    /// Shortest and longest batching time in microseconds, and the size of a batch in bytes;
    /// `None` for the medium's default.
    pub batch: Option<(u32, u32, u32)>,
}

/// The medium of a crossing for which none is chosen yet. No medium has this name.
pub const AUTO_MEDIUM: &str = "auto";

/// The form in which a crossing writes tuples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CrossingCodec {
    /// The flat layout, byte for byte as tuples lie in memory.
    #[default]
    Facade,
    /// Field by field, in network byte order.
    Normal,
}

impl Crossing {
    /// The key by which the crossings of a plan are sorted: sending operator, output port, first
    /// receiving PE.
    pub fn sort_key(&self) -> (OperatorId, u32, Option<u32>) {
        let OutPortId { operator, port } = self.from;
        (operator, port, self.to.first().copied())
    }
}
