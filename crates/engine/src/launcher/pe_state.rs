//! State of a PE for the job coordinator: its stage, and messages and errors that count later.

use std::time::Instant;

/// State of a PE; by default that of one that has been sent `Begin`.
#[derive(Default)]
pub struct PeState {
    /// Last stage that the PE has reached.
    pub stage: PeStage,
    /// Whether `Stop` was sent to the PE.
    pub is_stopped: bool,
    /// Time at which the PE is killed if its process has not ended; `None`: no limit.
    pub deadline: Option<Instant>,
    /// Whether the launcher has killed the PE.
    pub is_killed: bool,
    /// Error of the connection to the PE, if it broke.
    pub connection_error: Option<String>,
    /// Number of tuples that each source in the PE has submitted, by operator name.
    pub counts: Vec<(String, u64)>,
}

/// Stages of a PE, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeStage {
    #[default]
    Opening,
    Opened,
    Ready,
    Ended,
    Exited,
}
