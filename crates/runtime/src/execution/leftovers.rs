//! Leftovers: counting the tuples in windows that did not get full before the operator's input
//! ended.
//!
//! ```text
//!   final marker, or the PE's end -> Operator::incomplete_windows -> metrics of the operator
//!                                                   -> WindowLeftover, for the end of the job
//! ```

use super::wiring::Wiring;
use crate::contract::incomplete_windows::IncompleteWindows;
use crate::contract::late_tuples::LATE_METRIC;
use crate::services::window_leftover::WindowLeftover;

/// The metric that counts windows (a partition has one by itself) that did not get full.
const WINDOWS_METRIC: &str = "nIncompleteWindows";

/// The metric that counts the tuples in them.
const TUPLES_METRIC: &str = "nIncompleteWindowTuples";

impl Wiring {
    /// Adds the incomplete windows of an operator to its metrics, and notes them for the end of the
    /// job.
    pub fn record_leftover(&self, operator: u32, incomplete: IncompleteWindows) {
        let at = operator as usize;
        let operator_services = &self.services[at];
        if incomplete.windows > 0 {
            operator_services.add_to_metric(WINDOWS_METRIC, incomplete.windows as i64);
            operator_services.add_to_metric(TUPLES_METRIC, incomplete.tuples as i64);
        }
        let mut submitted = self.outs[at].iter().map(|out| out.submitted.get());
        self.context.add_leftover(WindowLeftover {
            operator: operator_services.name().clone(),
            kind: self.labels[at].kind.clone(),
            pos: self.labels[at].pos,
            has_results: submitted.any(|count| count > 0),
            incomplete,
            late_tuples: 0,
        });
    }

    /// The leftovers of all operators, with the late tuples that their metrics have counted; to be
    /// called once, when all operators are closed.
    pub fn take_leftovers(&self) -> Vec<WindowLeftover> {
        let mut leftovers = self.context.take_leftovers();
        for (counts, label) in self.operator_counts().iter().zip(&self.labels) {
            let mut metrics = counts.metrics.iter();
            let late = metrics.find(|(name, value)| name == LATE_METRIC && *value > 0);
            if let Some((_, late)) = late {
                leftovers.push(WindowLeftover {
                    operator: counts.operator.clone(),
                    kind: label.kind.clone(),
                    pos: label.pos,
                    has_results: counts.submitted.iter().any(|count| *count > 0),
                    incomplete: IncompleteWindows::default(),
                    late_tuples: late.unsigned_abs(),
                });
            }
        }
        leftovers
    }
}
