//! The tuple histories of an operator's input ports: what `In[n]` reads.

use std::collections::VecDeque;
use std::sync::Arc;

use graph::Inputs;
use tuple::{Layout, TupleBuf, TupleRef, Type};

use crate::Row;

/// Earlier tuples of every input port, and the numbering of input slots (see [`graph::Inputs`]).
#[derive(Debug)]
pub(crate) struct Past {
    /// By input port, the latest tuple first: as many as the port's history, default ones at first.
    tuples: Vec<VecDeque<TupleBuf>>,
    /// By input port: the slot of its current tuple.
    first_slot: Vec<usize>,
    /// The layout of every slot but that of output function results, which the code knows itself.
    layouts: Vec<Arc<Layout>>,
    is_kept: bool,
}

/// With up to so many slots, an evaluation's row of tuples lies on the stack.
const SLOTS_ON_STACK: usize = 12;

impl Past {
    /// No tuple has come yet. `slots`: as from [`crate::build::slots`].
    pub fn new(
        operator: &graph::Operator,
        inputs: &[Arc<Layout>],
        slots: Vec<Arc<Layout>>,
    ) -> Past {
        let mut first_slot = Vec::new();
        let mut next = 0;
        let mut tuples = Vec::new();
        for (port, layout) in operator.inputs.iter().zip(inputs) {
            first_slot.push(next);
            next += port.history as usize + 1;
            let mut default = TupleBuf::default();
            default.begin(layout);
            tuples.push(std::iter::repeat_n(default, port.history as usize).collect());
        }
        Past {
            tuples,
            first_slot,
            layouts: slots,
            is_kept: operator.inputs.iter().any(|port| port.history > 0),
        }
    }

    /// Of an operator without input ports.
    pub fn none() -> Past {
        Past {
            tuples: Vec::new(),
            first_slot: Vec::new(),
            layouts: Vec::new(),
            is_kept: false,
        }
    }

    /// A tuple of a port as text, for messages.
    pub fn show(&self, port: u32, tuple: TupleRef<'_>) -> String {
        let layout = &self.layouts[self.first_slot[port as usize]];
        let ty = Type::Tuple(layout.schema.clone());
        let text = tuple::text::to_text(&tuple.to_value(layout), &ty);
        format!("; the tuple was {text}")
    }

    /// The tuple of a port becomes its latest.
    #[inline]
    pub fn push(&mut self, port: u32, tuple: TupleRef<'_>) {
        if self.is_kept {
            let tuples = &mut self.tuples[port as usize];
            if let Some(mut oldest) = tuples.pop_back() {
                oldest.copy_from(tuple);
                tuples.push_front(oldest);
            }
        }
    }

    /// Runs with the inputs of a body that processes a port's tuple.
    #[inline]
    pub fn with_tuple<'a, T>(
        &'a self,
        port: u32,
        tuple: TupleRef<'a>,
        run: impl FnOnce(Inputs<'_>) -> T,
    ) -> T {
        if self.layouts.len() == 1 {
            return run(Inputs {
                tuples: &[Some(tuple)],
                layouts: &self.layouts,
            });
        }
        let slot = self.first_slot[port as usize];
        self.with_slots(|slots| slots[slot] = Some(tuple), run)
    }

    /// Runs with the inputs of an expression over a row.
    #[inline]
    pub fn with_row<'a, T>(&'a self, row: &Row<'a>, run: impl FnOnce(Inputs<'_>) -> T) -> T {
        let fill = |slots: &mut [Option<TupleRef<'a>>]| {
            for (&slot, &tuple) in self.first_slot.iter().zip(row.tuples) {
                slots[slot] = tuple;
            }
            slots[self.layouts.len()] = row.results;
        };
        self.with_slots(fill, run)
    }

    /// Runs without current tuples: markers.
    pub fn with_none<T>(&self, run: impl FnOnce(Inputs<'_>) -> T) -> T {
        self.with_slots(|_| (), run)
    }

    /// Runs with the history and what `fill` puts in. The slot after the last is for results.
    #[inline]
    fn with_slots<'a, T>(
        &'a self,
        fill: impl FnOnce(&mut [Option<TupleRef<'a>>]),
        run: impl FnOnce(Inputs<'_>) -> T,
    ) -> T {
        let len = self.layouts.len() + 1;
        let mut stack = [None; SLOTS_ON_STACK];
        let mut heap;
        let slots = if len <= SLOTS_ON_STACK {
            &mut stack[..len]
        } else {
            heap = vec![None; len];
            &mut heap[..]
        };
        self.recall(slots);
        fill(slots);
        run(Inputs {
            tuples: slots,
            layouts: &self.layouts,
        })
    }

    fn recall<'a>(&'a self, slots: &mut [Option<TupleRef<'a>>]) {
        if self.is_kept {
            for (&first, tuples) in self.first_slot.iter().zip(&self.tuples) {
                for (slot, earlier) in slots[first + 1..].iter_mut().zip(tuples) {
                    *slot = Some(earlier.as_ref());
                }
            }
        }
    }
}
