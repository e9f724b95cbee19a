//! Counters of the markers that have passed a port.

use std::sync::Arc;

use tuple::Punctuation;

use crate::abi::Counter;

/// Number of markers of each kind that have passed a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PunctuationCounts {
    /// Number of window markers.
    pub windows: u64,
    /// Number of final markers: 0 or 1.
    pub finals: u64,
}

/// Counters of markers at a port. The thread that is in the operator writes them, any thread may
/// read them.
#[derive(Debug, Default)]
pub(crate) struct PunctuationCounters {
    windows: Counter,
    finals: Counter,
}

impl PunctuationCounters {
    /// Counters for a number of ports.
    pub fn for_ports(ports: usize) -> Arc<[PunctuationCounters]> {
        (0..ports).map(|_| PunctuationCounters::default()).collect()
    }

    /// Counts a marker that has passed.
    pub fn count(&self, mark: Punctuation) {
        match mark {
            Punctuation::Window => self.windows.add(1),
            Punctuation::Final => self.finals.add(1),
        }
    }

    /// The counter of window markers.
    pub fn windows(&self) -> &Counter {
        &self.windows
    }

    /// Number of markers so far, perhaps stale.
    pub fn get(&self) -> PunctuationCounts {
        PunctuationCounts {
            windows: self.windows.get(),
            finals: self.finals.get(),
        }
    }
}
