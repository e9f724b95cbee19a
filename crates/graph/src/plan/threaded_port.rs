//! Input ports that have a queue and a thread of their own.

use super::InPortId;
use crate::OperatorId;

/// An input port with a queue and a thread of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadedPort {
    /// The operator that the queue feeds.
    pub operator: OperatorId,
    /// The number of the operator's input port, from 0.
    pub port: u32,
    /// Treatment of a tuple that finds the queue full.
    pub congestion: CongestionPolicy,
    /// Tuples that the queue holds at most; at least 1.
    pub tuples_max: u32,
    /// The core that the queue's thread has for itself; `None` lets it run on any of the PE's.
    pub core: Option<u32>,
}

/// Treatment of a tuple that finds a queue full. Punctuation always waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionPolicy {
    /// The submitting thread waits for room: `Sys.Wait`.
    Wait,
    /// The oldest tuple is dropped: `Sys.DropFirst`.
    DropFirst,
    /// The new tuple is dropped: `Sys.DropLast`.
    DropLast,
}

impl ThreadedPort {
    /// The input port that the queue feeds.
    pub fn in_port(&self) -> InPortId {
        let (operator, port) = (self.operator, self.port);
        InPortId { operator, port }
    }
}
