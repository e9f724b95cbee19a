//! How many markers have passed a port.

use std::sync::Arc;

use tuple::Punctuation;

use crate::abi::Counter;

/// Markers of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Window markers.
    pub windows: u64,
    /// Final markers: 0 or 1.
    pub finals: u64,
}

/// The same while it grows. Written by whoever is in the operator, read by anybody.
#[derive(Debug, Default)]
pub(crate) struct MarkCounters {
    windows: Counter,
    finals: Counter,
}

impl MarkCounters {
    /// For so many ports.
    pub fn several(ports: usize) -> Arc<[MarkCounters]> {
        (0..ports).map(|_| MarkCounters::default()).collect()
    }

    /// A marker has passed.
    pub fn count(&self, mark: Punctuation) {
        match mark {
            Punctuation::Window => self.windows.add(1),
            Punctuation::Final => self.finals.add(1),
        }
    }

    /// How many have.
    pub fn get(&self) -> Marks {
        Marks {
            windows: self.windows.get(),
            finals: self.finals.get(),
        }
    }
}
