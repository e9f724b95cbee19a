//! Threads that bring streams into a PE.

use super::plan_ids::CrossingId;

/// A receiver of a PE: one thread that reads some crossings and delivers their tuples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiverPlan {
    /// The crossings that the receiver reads, in order; each has an output port of its own.
    pub crossings: Vec<CrossingId>,
}
