//! The behaviour of an operator as data: typed statements that a backend interprets or compiles.

use graph::{Body, StateId, StateTable, StateVar, TableId};

/// The bodies and the state of a lowered operator. [`eval::InputTuples`] says how input slots are
/// numbered.
#[derive(Clone, Debug, Default)]
pub struct LoweredLogic {
    /// State variables: those of the logic clause first, then those that the lowering added.
    pub state: Vec<StateVar>,
    /// Tables that some of the variables live in.
    pub tables: Vec<StateTable>,
    /// By input port: the statements for a tuple, the logic clause included.
    pub on_tuple: Vec<Body>,
    /// By input port: the statements for a marker, which run before it is forwarded.
    pub on_punct: Vec<Option<Body>>,
    /// The statements for the end of the operator's input, after those for final markers.
    pub on_finish: Option<Body>,
    /// The statements that a source's thread runs.
    pub on_process: Option<Body>,
    /// Whether window markers are not forwarded, whatever the model says.
    pub keeps_markers: bool,
    /// Whether each output port continues the input port of its number: window markers and the
    /// final marker of that port are forwarded to it when they come, and no others.
    pub continues_ports: bool,
    /// The window that the statements fill, if they keep one.
    pub window: Option<CountedWindow>,
}

/// The window of a lowered operator, as far as the run time counts it.
#[derive(Clone, Copy, Debug)]
pub struct CountedWindow {
    /// The state variable that counts the tuples in the window: a uint32.
    pub count: StateId,
    /// The table that the variable lives in, if there are partitions: an entry is a window.
    pub table: Option<TableId>,
    /// Number of tuples of a full window; 0 if windows that are not full give results, too.
    pub size: u32,
    /// Advice for a window that did not get full: see [`crate::IncompleteWindows::help`].
    pub help: &'static str,
}
