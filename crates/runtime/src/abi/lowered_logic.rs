//! The behaviour of an operator as data: typed statements that a backend interprets or compiles.

use graph::{Body, StateId, StateVar};

/// The behaviour of a lowered operator. Every body's input slots are those of [`graph::Inputs`].
#[derive(Clone, Debug, Default)]
pub struct LoweredLogic {
    /// State: that of the logic clause first, then what the lowering added.
    pub state: Vec<StateVar>,
    /// What happens on a tuple, by input port; the logic clause is already inside.
    pub on_tuple: Vec<Body>,
    /// What happens on a marker, by input port, before it is forwarded.
    pub on_punct: Vec<Option<Body>>,
    /// A source's thread.
    pub on_process: Option<Body>,
    /// Window markers are not forwarded, whatever the model says.
    pub keeps_markers: bool,
    /// The window that it fills, if it does.
    pub window: Option<CountedWindow>,
}

/// The window of a lowered operator.
#[derive(Clone, Copy, Debug)]
pub struct CountedWindow {
    /// The state variable that counts the tuples in it: a uint32.
    pub count: StateId,
    /// See [`IncompleteWindows::help`].
    pub help: &'static str,
}
