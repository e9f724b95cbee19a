//! The ordered merge: takes streams in the order of their origins, whichever stream brings a tuple;
//! and behind the positions of other origins that its stream names.
//!
//! ```text
//!    input 0   7 4 | 7 6        the first item of an input is next if no other input can still
//!    input 1   7 5 | (silent)   bring an item that stands before it
//! ```
//! Items are copied into a reorder buffer for each input, so that the medium's room is free while
//! they wait; tuples of an only input, which wait for nothing, are submitted where they lie. An
//! input whose buffer is not empty is not polled, so memory is bounded by what one poll brings.
//!
//! Where streams contradict each other (two origins were mixed in two processes, in different
//! orders) no order is right, and the first input goes on. Such streams could also come to wait for
//! each other, each behind what two merges hold up. So while no item is next, inputs with several
//! origins buffer more, up to `BUFFERED_BYTES_MAX` of each.

use std::sync::Arc;

use eval::Fault;
use transport::{Idler, WaitSet, Waitable};

use super::ordered_input::OrderedInput;
use crate::blocking::{before_sleep, thread_samples};
use crate::edge::idle_policy::IdlePolicy;
use crate::inserted::inserted_operator::InsertedSource;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::order::order_position;
use crate::order::thread_order::{PENDING_RETRY, ThreadOrder};

/// The source that merges ordered streams.
pub(crate) struct OrderedMerge {
    /// Inputs that have not ended: neither a final marker nor the end of an abandoned stream was
    /// submitted.
    inputs: Vec<OrderedInput>,
    idle_policy: Arc<IdlePolicy>,
    /// Whether some stream has several origins.
    may_contradict: bool,
    /// Indexes of the inputs that the thread sleeps on.
    parked_inputs: Vec<usize>,
    /// Memory for the position that is compared, and for the least one.
    position: Vec<u64>,
    least_position: Vec<u64>,
}

impl OrderedMerge {
    pub fn new(inputs: Vec<OrderedInput>, idle_policy: Arc<IdlePolicy>) -> OrderedMerge {
        let may_contradict = inputs.iter().any(|input| input.origins.len() > 1);
        let mut merge = OrderedMerge {
            inputs,
            idle_policy,
            may_contradict,
            parked_inputs: Vec::new(),
            position: order_position::new_position(),
            least_position: order_position::new_position(),
        };
        merge.find_rival_inputs();
        merge
    }

    /// Finds the inputs that carry the same origins; again when an input has ended.
    fn find_rival_inputs(&mut self) {
        for at in 0..self.inputs.len() {
            for index in 0..self.inputs[at].origins.len() {
                let origin = self.inputs[at].origins[index].origin;
                let others = self
                    .inputs
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != at);
                let rivals = others.filter(|(_, input)| input.origin_progress(origin).is_some());
                let rivals = rivals.map(|(other, _)| other).collect();
                self.inputs[at].origins[index].rival_inputs = rivals;
            }
        }
    }
}

impl InsertedSource for OrderedMerge {
    fn run(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let mut idle = self.idle_policy.new_idle()?;
        let (mut is_idle, mut is_pending) = (false, false);
        let origins = self.inputs.iter().flat_map(|input| &input.origins);
        origins.for_each(|known| out.order().expect_origin(known.origin));
        while !self.inputs.is_empty() {
            if self.idle_policy.has_failed() {
                let ports = self.inputs.iter().flat_map(|input| &input.ports);
                ports.for_each(|(port, _)| out.abandon(*port));
                return Ok(());
            }
            if self.turn(out)? {
                if std::mem::take(&mut is_idle) {
                    thread_samples::set_waiting(false);
                    self.inputs
                        .iter()
                        .for_each(|input| input.counters.end_wait());
                }
                idle.reset();
                continue;
            }
            if !std::mem::replace(&mut is_idle, true) {
                self.inputs
                    .iter()
                    .for_each(|input| input.counters.begin_wait());
                before_sleep::flush_once();
                thread_samples::set_waiting(true);
            } else if is_pending {
                before_sleep::flush_once();
            }
            is_pending = out.order().take_progress_pending();
            if !idle.spin_or_yield() {
                self.park(&mut idle, is_pending)?;
            }
        }
        Ok(())
    }
}

impl OrderedMerge {
    /// Polls inputs, and submits every item that is next. Returns whether there was any.
    fn turn(&mut self, out: &mut dyn InsertedOutlet) -> Result<bool, Fault> {
        let mut found = false;
        let is_only = self.inputs.len() == 1;
        let empty = self.inputs.iter_mut();
        for input in empty.filter(|input| input.first().is_none()) {
            found |= match is_only {
                true => input.pass_tuples(out)?,
                false => input.fill()?,
            };
        }
        while let Some(at) = self.next_input() {
            found = true;
            self.inputs[at].submit_first(out)?;
            if self.inputs[at].is_ended {
                let over = self.inputs.remove(at);
                over.counters.end_wait();
                self.find_rival_inputs();
                self.retire_input(&over, out.order());
            }
        }
        if found {
            self.record_progress(out.order());
        } else if self.may_contradict {
            let inputs = self.inputs.iter_mut();
            for input in inputs.filter(|input| input.first().is_some() && input.wants_more(true)) {
                found |= input.fill()?;
            }
        }
        Ok(found)
    }

    /// Index of the input whose first item is next.
    fn next_input(&self) -> Option<usize> {
        let mut all = 0..self.inputs.len();
        let is_next =
            |&at: &usize| self.inputs[at].first().is_some() && self.blockers(at).next().is_none();
        all.find(is_next).or_else(|| self.contradicting_input())
    }

    /// Inputs that may still bring an item before the first one of input `at`, each with the origin
    /// of that item.
    fn blockers(&self, at: usize) -> impl Iterator<Item = (usize, u64)> {
        let input = &self.inputs[at];
        let own = input
            .first_position()
            .into_iter()
            .flat_map(move |(position, rank)| {
                let rivals = input
                    .origin_progress(position[0])
                    .map_or(&[][..], |own| &own.rival_inputs);
                let may_precede =
                    move |other: &usize| self.inputs[*other].may_precede(position, rank);
                let rivals = rivals.iter().copied().filter(may_precede);
                rivals.map(|other| (other, position[0]))
            });
        own.chain(
            input
                .known_precedences()
                .flat_map(move |(origin_progress, position)| {
                    let may_bring = move |other: &usize| self.inputs[*other].may_bring(position);
                    let rivals = origin_progress
                        .rival_inputs
                        .iter()
                        .copied()
                        .filter(may_bring);
                    rivals.map(|other| (other, origin_progress.origin))
                }),
        )
    }

    /// An input that waits only for items that cannot come, because they stand behind the first
    /// item of another input, which waits in the same way.
    fn contradicting_input(&self) -> Option<usize> {
        if !self.may_contradict {
            return None;
        }
        let mut waiting: Vec<bool> = self
            .inputs
            .iter()
            .map(|input| input.first().is_some())
            .collect();
        loop {
            let is_free = |&at: &usize| {
                let mut blockers = self.blockers(at);
                blockers.any(|(other, origin)| !waiting[other] || !self.cannot_help(other, origin))
            };
            let freed = (0..waiting.len()).filter(|&at| waiting[at]).find(is_free);
            match freed {
                Some(at) => waiting[at] = false,
                None => break,
            }
        }
        // From any of these inputs, the chain of blockers leads into a cycle.
        let mut at = waiting.iter().position(|waiting| *waiting)?;
        for _ in 0..waiting.len() {
            (at, _) = self.blockers(at).next()?;
        }
        Some(at)
    }

    /// Whether an input that blocks another one has buffered the item that does, or polls no more
    /// before it has submitted one.
    fn cannot_help(&self, input: usize, origin: u64) -> bool {
        let input = &self.inputs[input];
        input.has_buffered(origin) || !input.wants_more(self.may_contradict)
    }

    /// Records how far all inputs have come, for the senders downstream.
    fn record_progress(&mut self, order: &ThreadOrder) {
        for at in 0..self.inputs.len() {
            for index in 0..self.inputs[at].origins.len() {
                self.record_origin_progress(at, index, order);
            }
        }
    }

    /// Records how far all inputs have come with one origin, at the first input that carries it.
    fn record_origin_progress(&mut self, at: usize, index: usize, order: &ThreadOrder) {
        let input = &self.inputs[at];
        let origin_progress = &input.origins[index];
        if origin_progress.rival_inputs.iter().any(|&other| other < at) {
            return;
        }
        input.completed_position(origin_progress, &mut self.least_position);
        for &other in &origin_progress.rival_inputs {
            let other = &self.inputs[other];
            if let Some(origin_progress) = other.origin_progress(origin_progress.origin) {
                other.completed_position(origin_progress, &mut self.position);
            }
            if self.position < self.least_position {
                std::mem::swap(&mut self.position, &mut self.least_position);
            }
        }
        order.record_progress(&self.least_position);
    }

    /// Records the end of origins that no other input carries, when an input has ended.
    fn retire_input(&mut self, over: &OrderedInput, order: &ThreadOrder) {
        let origins = over
            .origins
            .iter()
            .map(|origin_progress| origin_progress.origin);
        let is_gone = |origin: &u64| {
            self.inputs
                .iter()
                .all(|input| input.origin_progress(*origin).is_none())
        };
        for origin in origins.filter(is_gone) {
            order.record_progress(&[origin, u64::MAX]);
        }
        self.record_progress(order);
    }

    /// Sleeps until an input brings frames that may be next.
    fn park(&mut self, idle: &mut Idler, is_pending: bool) -> Result<(), Fault> {
        let inputs = self.inputs.iter().enumerate();
        let hungry = inputs.filter(|(_, input)| input.wants_more(self.may_contradict));
        self.parked_inputs.clear();
        self.parked_inputs.extend(hungry.map(|(at, _)| at));
        let parked = idle.park(self, is_pending.then_some(PENDING_RETRY));
        parked.map_err(|(at, error)| {
            self.inputs[self.parked_inputs[at]]
                .counters
                .transport_fault(&error)
        })
    }
}

impl WaitSet for OrderedMerge {
    fn count(&self) -> usize {
        self.parked_inputs.len()
    }

    fn waitable(&self, at: usize) -> &dyn Waitable {
        &*self.inputs[self.parked_inputs[at]].end
    }

    fn waitable_mut(&mut self, at: usize) -> &mut dyn Waitable {
        &mut *self.inputs[self.parked_inputs[at]].end
    }
}
