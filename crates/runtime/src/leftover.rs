//! What windows hold when their input ends, and nothing is made of.
//!
//! ```text
//!   final marker, or the PE's end -> Operator::leftover -> metrics of the operator
//!                                                       -> Leftover, for the end of the job
//! ```

use std::sync::Arc;

use graph::{Pos, StateId};

use crate::wiring::Wiring;

/// The metric that counts windows (a partition has one by itself) that did not get full.
const WINDOWS_METRIC: &str = "nIncompleteWindows";

/// The metric that counts the tuples in them.
const TUPLES_METRIC: &str = "nIncompleteWindowTuples";

/// What an operator's windows hold that has not been full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncompleteWindows {
    /// How many windows hold something; each partition has its own.
    pub windows: u64,
    /// How many tuples they hold; one that lies in several windows counts in each.
    pub tuples: u64,
    /// What the program would have to say to get results of them.
    pub help: &'static str,
}

/// The window of a lowered operator.
#[derive(Clone, Copy, Debug)]
pub struct CountedWindow {
    /// The state variable that counts the tuples in it: a uint32.
    pub count: StateId,
    /// See [`IncompleteWindows::help`].
    pub help: &'static str,
}

/// What the windows of one operator held when its input ended.
#[derive(Clone, Debug)]
pub struct WindowLeftover {
    /// The operator instance.
    pub operator: Arc<str>,
    /// What sort of operator: `spl.relational::Aggregate`.
    pub kind: Arc<str>,
    /// Where it is invoked.
    pub pos: Pos,
    /// Whether it has ever submitted a tuple.
    pub has_results: bool,
    /// What was left.
    pub incomplete: IncompleteWindows,
}

/// Counts what an operator leaves behind, and notes it for the end of the job.
pub(crate) fn record_leftover(wiring: &Wiring, node: u32, incomplete: IncompleteWindows) {
    let at = node as usize;
    let operator_services = &wiring.services[at];
    if incomplete.windows > 0 {
        operator_services.add_to_metric(WINDOWS_METRIC, incomplete.windows as i64);
        operator_services.add_to_metric(TUPLES_METRIC, incomplete.tuples as i64);
    }
    let mut submitted = wiring.outs[at].iter().map(|out| out.submitted.get());
    wiring.context.add_leftover(WindowLeftover {
        operator: operator_services.name().clone(),
        kind: wiring.labels[at].kind.clone(),
        pos: wiring.labels[at].pos,
        has_results: submitted.any(|count| count > 0),
        incomplete,
    });
}
