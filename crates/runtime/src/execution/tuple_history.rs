//! Tuple histories of an operator's input ports, which `In[n]` reads.

use std::collections::VecDeque;
use std::sync::Arc;

use eval::InputTuples;
use graph::{HistoryDepths, PortIndex};
use tuple::{Layout, TupleBuf, TupleRef, Type};

use crate::EvaluationInputs;

/// Past tuples of every input port, and the numbering of input slots (see [`eval::InputTuples`]).
#[derive(Debug)]
pub(crate) struct TupleHistory {
    ports: Vec<PortHistory>,
    /// By input port: the slot of its current tuple.
    first_slot: Vec<usize>,
    /// The layout of every slot but that of output function results, which the code knows itself.
    layouts: Vec<Arc<Layout>>,
    has_history: bool,
}

/// Past tuples of an input port. Memory is taken as tuples come; evaluations get only the tuples
/// of the depths that they read.
#[derive(Debug)]
struct PortHistory {
    /// The tuples that came last, the latest first; at most as many as the deepest depth.
    tuples: VecDeque<TupleBuf>,
    depths: HistoryDepths,
}

impl PortHistory {
    fn push(&mut self, tuple: TupleRef<'_>) {
        let deepest = self.depths.deepest() as usize;
        let mut latest = if self.tuples.len() < deepest {
            TupleBuf::default()
        } else if let Some(oldest) = self.tuples.pop_back() {
            oldest
        } else {
            return;
        };
        latest.copy_from(tuple);
        self.tuples.push_front(latest);
    }

    /// The tuple that came `depth` tuples ago; `None` before there are so many.
    fn get(&self, depth: u32) -> Option<TupleRef<'_>> {
        let back = (depth as usize).checked_sub(1)?;
        self.tuples.get(back).map(TupleBuf::as_ref)
    }
}

/// Number of slots up to which the inputs of an evaluation lie on the stack: enough for nearly all
/// operators, at 200 bytes.
const SLOTS_ON_STACK: usize = 12;

impl TupleHistory {
    /// Histories before the first tuple; what has not come yet reads as default tuples. `slots` are
    /// the layouts from [`crate::contract::build_context::slot_layouts`].
    pub fn new(operator: &graph::OperatorNode, slots: Vec<Arc<Layout>>) -> TupleHistory {
        let mut first_slot = Vec::new();
        let mut next = 0;
        let mut ports = Vec::new();
        for port in &operator.inputs {
            first_slot.push(next);
            next += port.history.slots() as usize;
            ports.push(PortHistory {
                tuples: VecDeque::new(),
                depths: port.history.clone(),
            });
        }
        TupleHistory {
            ports,
            first_slot,
            layouts: slots,
            has_history: operator.keeps_history(),
        }
    }

    /// Histories of an operator without input ports.
    pub fn without_ports() -> TupleHistory {
        TupleHistory {
            ports: Vec::new(),
            first_slot: Vec::new(),
            layouts: Vec::new(),
            has_history: false,
        }
    }

    /// A tuple of a port as text, for messages.
    pub fn describe_tuple(&self, port: PortIndex, tuple: TupleRef<'_>) -> String {
        let layout = &self.layouts[self.first_slot[port.index()]];
        let ty = Type::Tuple(layout.schema.clone());
        let text = tuple::text::to_text(&tuple.to_value(layout), &ty);
        format!("; the tuple was {text}")
    }

    /// Adds a tuple of a port as the latest one.
    #[inline]
    pub fn push(&mut self, port: PortIndex, tuple: TupleRef<'_>) {
        if self.has_history {
            self.ports[port.index()].push(tuple);
        }
    }

    /// Calls `run` with the inputs of a body that processes a port's tuple.
    #[inline]
    pub fn with_tuple<'a, T>(
        &'a self,
        port: PortIndex,
        tuple: TupleRef<'a>,
        run: impl FnOnce(InputTuples<'_>) -> T,
    ) -> T {
        if self.layouts.len() == 1 {
            return run(InputTuples {
                tuples: &[Some(tuple)],
                layouts: &self.layouts,
            });
        }
        let slot = self.first_slot[port.index()];
        self.with_slots(|slots| slots[slot] = Some(tuple), run)
    }

    /// Calls `run` with the inputs of an expression of a built operator.
    #[inline]
    pub fn with_inputs<'a, T>(
        &'a self,
        inputs: &EvaluationInputs<'a>,
        run: impl FnOnce(InputTuples<'_>) -> T,
    ) -> T {
        let fill = |slots: &mut [Option<TupleRef<'a>>]| {
            for (&slot, &tuple) in self.first_slot.iter().zip(inputs.tuples) {
                slots[slot] = tuple;
            }
            slots[self.layouts.len()] = inputs.results;
        };
        self.with_slots(fill, run)
    }

    /// Calls `run` without current tuples, for markers.
    pub fn without_tuple<T>(&self, run: impl FnOnce(InputTuples<'_>) -> T) -> T {
        self.with_slots(|_| (), run)
    }

    /// Calls `run` with the histories and the tuples that `fill` puts in. The slot after the last
    /// is for results.
    #[inline]
    fn with_slots<'a, T>(
        &'a self,
        fill: impl FnOnce(&mut [Option<TupleRef<'a>>]),
        run: impl FnOnce(InputTuples<'_>) -> T,
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
        self.fill_history(slots);
        fill(slots);
        run(InputTuples {
            tuples: slots,
            layouts: &self.layouts,
        })
    }

    fn fill_history<'a>(&'a self, slots: &mut [Option<TupleRef<'a>>]) {
        if self.has_history {
            for (&first, port) in self.first_slot.iter().zip(&self.ports) {
                for (slot, depth) in slots[first + 1..].iter_mut().zip(port.depths.iter()) {
                    *slot = port.get(depth);
                }
            }
        }
    }
}
