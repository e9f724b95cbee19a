//! Input ports that have a queue, and a thread of their own or of a pool.

use super::InPortId;
use crate::{OperatorId, PortIndex};

/// An input port with a queue, and a thread of its own or of a pool.
///
/// The threads that feed the port put tuples into the queue and go on; the queue's thread runs the
/// operator and all operators downstream that it reaches by direct calls. The program asks for such
/// a port by config `threadedPort : queue(Port, Sys.Wait, 1000)`, a plan by a line `queue`, and the
/// threading model for every port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadedPort {
    /// The operator that the queue feeds.
    pub operator: OperatorId,
    /// The number of the operator's input port, from 0.
    pub port: PortIndex,
    /// Treatment of a tuple that finds the queue full.
    pub congestion: CongestionPolicy,
    /// Tuples and punctuation that the queue holds at most, besides the one that is being
    /// processed; at least 1.
    pub tuples_max: u32,
    /// The core that the queue's thread has for itself; `None` lets it run on any of the PE's.
    pub core: Option<u32>,
    /// Whether the PE's pool runs the queue ([`PePlan::pool`](super::PePlan::pool)), which then has
    /// no thread of its own.
    pub is_pooled: bool,
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
