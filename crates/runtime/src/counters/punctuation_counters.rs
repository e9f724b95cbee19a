//! How many markers have passed a port.

use std::sync::Arc;

use tuple::Punctuation;

use crate::abi::Counter;

/// Markers of each sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PunctuationCounts {
    /// Window markers.
    pub windows: u64,
    /// Final markers: 0 or 1.
    pub finals: u64,
}

/// The same while it grows. Written by whoever is in the operator, read by anybody.
#[derive(Debug, Default)]
pub(crate) struct PunctuationCounters {
    windows: Counter,
    finals: Counter,
}

impl PunctuationCounters {
    /// For so many ports.
    pub fn for_ports(ports: usize) -> Arc<[PunctuationCounters]> {
        (0..ports).map(|_| PunctuationCounters::default()).collect()
    }

    /// A marker has passed.
    pub fn count(&self, mark: Punctuation) {
        match mark {
            Punctuation::Window => self.windows.add(1),
            Punctuation::Final => self.finals.add(1),
        }
    }

    /// How many have.
    pub fn get(&self) -> PunctuationCounts {
        PunctuationCounts {
            windows: self.windows.get(),
            finals: self.finals.get(),
        }
    }
}
