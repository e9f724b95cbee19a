//! Contents of an operator's windows that never fired before its input ended.

use eval::State;
use tuple::Value;

use crate::abi::CountedWindow;

/// Contents of an operator's windows that never got full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncompleteWindows {
    /// Number of windows that hold a tuple; each partition has its own.
    pub windows: u64,
    /// Number of tuples in these windows. A tuple that lies in several windows counts in each.
    pub tuples: u64,
    /// Advice to the user: how the program gets results from windows that do not get full.
    pub help: &'static str,
}

impl IncompleteWindows {
    /// The windows of a lowered operator that hold tuples, but fewer than a full one.
    pub(crate) fn from_counts(window: CountedWindow, state: &State) -> IncompleteWindows {
        let add = |(windows, tuples), count| match count {
            Value::Uint32(count) if (1..window.size).contains(&count) => {
                (windows + 1, tuples + u64::from(count))
            }
            _ => (windows, tuples),
        };
        let (windows, tuples) = match state.home(window.count) {
            Some((windows, variable)) => windows.values(variable).fold((0, 0), add),
            None => add((0, 0), state.get(window.count)),
        };
        let help = window.help;
        IncompleteWindows {
            windows,
            tuples,
            help,
        }
    }
}
