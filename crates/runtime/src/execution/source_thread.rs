//! The source that a thread of a PE runs.

use eval::State;

use super::built_operator::BuiltSource;
use crate::blocking::stop_signal::StopSignal;

/// The source that a thread runs, and how the thread ends.
pub(crate) struct SourceThread {
    pub operator: u32,
    /// The source of a built operator, with state of its own; `None` for a lowered one, whose code
    /// runs.
    pub source: Option<(BuiltSource, State)>,
    /// Whether the thread goes on after a shutdown until its input has ended.
    pub drains: bool,
    /// Requested if the thread has to end before its input has: see
    /// [`crate::BuildContext::use_own_thread`].
    pub interrupt: StopSignal,
    /// The core that the thread has for itself.
    pub core: Option<u32>,
    /// Whether threads of the pool run the source, and it has none of its own.
    pub is_pooled: bool,
}
