//! Parts of a plan by number, so that a fault can be shown where the plan's text has it.

use crate::OperatorId;

/// A part of a plan, to say where a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPart {
    /// The plan as a whole.
    Plan,
    /// A PE, by its number.
    Pe(u32),
    /// An operator in a PE.
    Operator(u32, OperatorId),
    /// A threaded port of a PE, by its index there.
    Queue(u32, usize),
    /// A pinned thread of a PE, by its index there.
    Pin(u32, usize),
    /// A crossing, by its number.
    Crossing(u32),
}
