//! The behaviour of an operator as data: typed statements that a backend interprets or compiles.

use eval::State;
use graph::{Body, EventTimeUnits, StateId, StateTable, StateVar, TableId};
use tuple::{EventTime, Resolution, Value};

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
    /// The statements for an advance of the operator's watermark, which run before it is passed
    /// on.
    pub on_watermark: Option<WatermarkLogic>,
    /// The statements that a timer runs, again and again.
    pub on_timer: Option<TimerLogic>,
    /// The statements that a source's thread runs.
    pub on_process: Option<Body>,
    /// Whether window markers are not forwarded, whatever the model says.
    pub keeps_markers: bool,
    /// Whether each output port continues the input port of its number: window markers and the
    /// final marker of that port are forwarded to it when they come, and no others.
    pub continues_ports: bool,
    /// The window that the statements fill, if they keep one.
    pub window: Option<CountedWindow>,
    /// The panes that the statements fill, if they keep some.
    pub panes: Option<CountedPanes>,
    /// The slices of panes that the statements fill, if they keep some.
    pub slices: Option<CountedSlices>,
}

/// The statements that a timer runs.
#[derive(Clone, Debug)]
pub struct TimerLogic {
    /// The statements for one firing.
    pub body: Body,
    /// Seconds from one firing to the next.
    pub period_s: f64,
}

/// The statements for an advance of the watermark, and the variables that tell them of it.
#[derive(Clone, Debug)]
pub struct WatermarkLogic {
    /// The statements for a watermark.
    pub body: Body,
    /// Variables of type int64, each the number of the unit that the watermark lies in.
    pub counts: Vec<(StateId, EventTimeUnits)>,
    /// Variable of the least event time that is not too late, of the type of the attribute that
    /// holds event times.
    pub earliest: StateId,
    /// Variable that counts the tuples that were too late, a uint64.
    pub late: StateId,
    /// Nanoseconds that event times may lie behind the watermark.
    pub discard_ns: i128,
    /// Length of a tick, for an integer attribute.
    pub resolution: Resolution,
}

/// The panes of a lowered operator, as far as the run time counts them. An entry of a table is a
/// pane, one of another a partition or a group in it.
#[derive(Clone, Copy, Debug)]
pub struct CountedPanes {
    /// The table of parts of panes.
    pub parts: TableId,
    /// Variable of a pane: the id of its first part.
    pub first: StateId,
    /// Variable of a pane: whether a tuple has come since it fired.
    pub has_new_tuples: StateId,
    /// Variable of a part: the id of the next part of the pane, or 0.
    pub next: StateId,
    /// Variable of a part: the number of its tuples.
    pub tuples: StateId,
    /// Variable of a part: whether a tuple has come since it fired. `None` if the parts are groups,
    /// which fire together.
    pub part_has_new_tuples: Option<StateId>,
    /// Advice for panes that have not fired: see [`crate::IncompleteWindows::help`].
    pub help: &'static str,
}

/// The slices of a lowered operator's panes, as far as the run time counts them. An entry of a
/// table is a slice, one of another a partition or a group in it. A pane has a number of slices, of
/// which the first has its number.
#[derive(Clone, Copy, Debug)]
pub struct CountedSlices {
    /// Variable of a slice: its number, an int64.
    pub number: StateId,
    /// Variable of a slice: the id of its first part.
    pub first: StateId,
    /// The table of parts of slices.
    pub parts: TableId,
    /// Variable of a part: the id of the next part of the slice, or 0.
    pub next: StateId,
    /// Variable of a part: the number of its tuples.
    pub tuples: StateId,
    /// Variable of a part: a number that it shares with the parts of its key in other slices.
    pub key: StateId,
    /// Variable: number of the first pane that has not fired, an int64.
    pub next_pane: StateId,
    /// Number of slices of a pane.
    pub slice_count: u64,
    /// The table of keys, if they are partitions.
    pub partitions: Option<TableId>,
    /// Advice for panes that have not fired: see [`crate::IncompleteWindows::help`].
    pub help: &'static str,
}

/// The window of a lowered operator, as far as the run time counts it.
#[derive(Clone, Copy, Debug)]
pub struct CountedWindow {
    /// The state variable that counts the tuples in the window: a uint32 or a uint64.
    pub count: StateId,
    /// The table that the variable lives in, if there are partitions: an entry is a window.
    pub table: Option<TableId>,
    /// Number of tuples of a full window; 0 if windows that are not full give results, too.
    pub size: u64,
    /// Advice for a window that did not get full: see [`crate::IncompleteWindows::help`].
    pub help: &'static str,
}

impl WatermarkLogic {
    /// Sets the variables for a watermark.
    pub fn set_variables(&self, state: &mut State, at: EventTime) {
        for (variable, units) in &self.counts {
            state.set(*variable, Value::Int64(units.count(at)));
        }
        let earliest = EventTime(at.0.saturating_sub(self.discard_ns));
        let ty = state.types[self.earliest.0 as usize].clone();
        state.set(self.earliest, earliest.to_value(&ty, self.resolution));
    }
}
