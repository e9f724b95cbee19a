//! Layouts of the ports of an interpreter's operator, and memory that the interpreter reuses.

use std::sync::Arc;

use graph::HistoryDepths;
use tuple::{Layout, TupleBuf, Value};

/// Slots and layouts of an operator's ports, known when the operator is wired.
#[derive(Clone, Default)]
pub(super) struct InterpreterPorts {
    /// First slot of each input port; then that of the results of output function calls.
    pub(super) first_slots: Vec<u32>,
    /// The depths that have a slot, by input port.
    pub(super) history: Vec<HistoryDepths>,
    /// Layouts of the output ports.
    pub(super) output_layouts: Vec<Arc<Layout>>,
}

/// Memory that is used again.
#[derive(Clone, Default)]
pub(super) struct InterpreterScratch {
    pub(super) locals: Vec<Value>,
    pub(super) tuple: TupleBuf,
}
