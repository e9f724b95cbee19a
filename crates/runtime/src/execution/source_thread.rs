//! What a thread of a PE begins with.

use eval::State;

use crate::blocking::stop_signal::StopSignal;
use crate::contract::operator::Source;

/// What a thread begins with.
pub(crate) struct SourceThread {
    pub operator: u32,
    /// A built operator's source, with a state of its own; else the node's own code runs.
    pub source: Option<(Box<dyn Source>, State)>,
    /// A shutdown does not end it: it goes on until its input has ended.
    pub drains: bool,
    /// Raised if it has to end before that. See [`BuildContext::thread`].
    pub interrupt: StopSignal,
    /// The core that its thread has for itself.
    pub core: Option<u32>,
}
