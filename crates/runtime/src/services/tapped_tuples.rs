//! Tuples that taps have taken from streams, until the thread that watches the PE fetches them.

use std::sync::{Mutex, PoisonError};

use graph::PortIndex;
use tuple::{TupleBuf, TupleRef};

use crate::abi::{PortTap, TapBudget};

/// Tuples in the order in which they were taken. There are never more than the budgets of all taps
/// together, which their owner renews when it has fetched some.
#[derive(Default)]
pub(crate) struct TappedTuples {
    /// Whether compiled code shows tuples that it takes to consumers by itself.
    pub shows_compiled: bool,
    /// Not 0 while somebody taps any stream of the PE: compiled code looks here first.
    pub is_open: TapBudget,
    tuples: Mutex<Vec<TappedTuple>>,
}

/// A copy of a tuple that was submitted.
#[derive(Debug)]
pub struct TappedTuple {
    /// Index of the operator that has submitted it, in its PE.
    pub operator: u32,
    /// The operator's output port.
    pub port: PortIndex,
    /// The tuple as it was submitted.
    pub tuple: TupleBuf,
}

impl TappedTuples {
    /// A collection without tuples.
    pub fn new(shows_compiled: bool) -> TappedTuples {
        TappedTuples {
            shows_compiled,
            ..TappedTuples::default()
        }
    }

    /// Words by which compiled code shows tuples of a port; `None` if it is to show none.
    pub fn port_tap<'a>(&'a self, budget: &'a TapBudget) -> Option<PortTap<'a>> {
        let is_open = &self.is_open;
        self.shows_compiled.then_some(PortTap { is_open, budget })
    }

    /// Adds a copy of a tuple.
    pub fn add(&self, operator: u32, port: PortIndex, tuple: TupleRef<'_>) {
        let tapped = TappedTuple {
            operator,
            port,
            tuple: tuple.to_buf(),
        };
        let mut tuples = self.tuples.lock().unwrap_or_else(PoisonError::into_inner);
        tuples.push(tapped);
    }

    /// The tuples that were added since this was last asked, in order.
    pub fn take(&self) -> Vec<TappedTuple> {
        std::mem::take(&mut *self.tuples.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
