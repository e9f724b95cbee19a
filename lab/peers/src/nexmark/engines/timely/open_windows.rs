//! State by the time at which it is due, with the right to send results of that time.

use std::collections::BTreeMap;

use timely::dataflow::operators::{Capability, InputCapability};
use timely::progress::frontier::MutableAntichain;

/// Windows that are not over.
pub struct OpenWindows<S> {
    windows: BTreeMap<u64, (Capability<u64>, S)>,
}

impl<S: Default> OpenWindows<S> {
    /// A state without any window.
    pub fn new() -> OpenWindows<S> {
        OpenWindows {
            windows: BTreeMap::new(),
        }
    }

    /// The state of a window that is due at a time, a new one if there is none.
    pub fn state(&mut self, due: u64, at: &InputCapability<u64>) -> &mut S {
        let new = || (at.delayed(&due, 0), S::default());
        &mut self.windows.entry(due).or_insert_with(new).1
    }

    /// Opens a window again, with the right that another one had.
    pub fn reopen(&mut self, due: u64, at: &Capability<u64>) -> &mut S {
        let new = || (at.delayed(&due), S::default());
        &mut self.windows.entry(due).or_insert_with(new).1
    }

    /// The next window that is over: nothing before its due time comes any more.
    pub fn take_due(
        &mut self,
        frontier: &MutableAntichain<u64>,
    ) -> Option<(u64, Capability<u64>, S)> {
        let first = self.windows.first_entry()?;
        if frontier.less_than(first.key()) {
            return None;
        }
        let (due, (capability, state)) = first.remove_entry();
        Some((due, capability, state))
    }
}
