//! Parts of a plan by number, so that a fault can be shown where the plan's text has it.

use super::{CrossingId, PeId};
use crate::OperatorId;

/// A part of a plan, to say where a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPart {
    /// The plan as a whole.
    Plan,
    /// A PE as a whole.
    Pe(PeId),
    /// An operator in a PE.
    Operator(PeId, OperatorId),
    /// The pool of threads of a PE.
    Pool(PeId),
    /// A threaded port of a PE, by its index there.
    Queue(PeId, usize),
    /// A pinned thread of a PE, by its index there.
    Pin(PeId, usize),
    /// A crossing to other PEs.
    Crossing(CrossingId),
}
