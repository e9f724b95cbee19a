//! Takes ordered streams: what one origin has begun is handed on in its order, whichever stream
//! brings it; and behind what stands before it in other origins, if its stream says that something
//! does.
//!
//! ```text
//!   end 0   7 4 | 7 6        the head of an end is next if no other end can still bring
//!   end 1   7 5 | (silent)   anything that stands before it
//! ```
//! What has come is copied into a stash for each end, so that the medium's room is free while it
//! waits. An end whose stash is not empty is not polled: the memory is bounded by what one poll
//! brings.
//!
//! Where the streams contradict each other (two origins that were mixed in two processes, here one
//! way and there another way) no order is right: then the first end goes on. Such streams could
//! also come to wait for each other, each behind what two merges hold up; so of streams with
//! several origins more is stashed while nothing is next, up to [`end::STASH_BYTES_MAX`].

use std::sync::Arc;

use eval::Fault;
use transport::{Idler, WaitSet, Waitable};

use super::ordered_input::OrderedInput;
use super::thread_order;
use crate::blocking::before_sleep;
use crate::edge::idle_policy::IdlePolicy;
use crate::{Outlet, Source};

/// What its thread runs.
pub(crate) struct OrderedMerge {
    /// Those whose final marker was not handed on.
    inputs: Vec<OrderedInput>,
    idle_policy: Arc<IdlePolicy>,
    /// Some stream has several origins.
    may_contradict: bool,
    /// Ends that a park waits for.
    parked_inputs: Vec<usize>,
    /// For a place that is looked at, and the least of some.
    position: Vec<u64>,
    least_position: Vec<u64>,
}

impl OrderedMerge {
    pub fn new(ends: Vec<OrderedInput>, pacing: Arc<IdlePolicy>) -> OrderedMerge {
        let may_contradict = ends.iter().any(|end| end.origins.len() > 1);
        let mut merging = OrderedMerge {
            inputs: ends,
            idle_policy: pacing,
            may_contradict,
            parked_inputs: Vec::new(),
            position: thread_order::new_position(),
            least_position: thread_order::new_position(),
        };
        merging.find_rival_inputs();
        merging
    }

    /// Which ends carry the same: this changes when one is over.
    fn find_rival_inputs(&mut self) {
        for at in 0..self.inputs.len() {
            for index in 0..self.inputs[at].origins.len() {
                let origin = self.inputs[at].origins[index].origin;
                let others = self
                    .inputs
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != at);
                let rivals = others.filter(|(_, end)| end.origin_progress(origin).is_some());
                let rivals = rivals.map(|(other, _)| other).collect();
                self.inputs[at].origins[index].rival_inputs = rivals;
            }
        }
    }
}

impl Source for OrderedMerge {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut idle = self.idle_policy.new_idle()?;
        let (mut is_idle, mut is_pending) = (false, false);
        let origins = self.inputs.iter().flat_map(|end| &end.origins);
        origins.for_each(|carried| thread_order::expect_origin(carried.origin));
        while !self.inputs.is_empty() {
            if self.idle_policy.has_failed() {
                let ports = self.inputs.iter().flat_map(|end| &end.ports);
                ports.for_each(|(port, _)| out.abandon(*port));
                return Ok(());
            }
            if self.turn(out)? {
                if std::mem::take(&mut is_idle) {
                    self.inputs.iter().for_each(|end| end.counters.end_wait());
                }
                idle.reset();
                continue;
            }
            if !std::mem::replace(&mut is_idle, true) {
                self.inputs.iter().for_each(|end| end.counters.begin_wait());
                before_sleep::flush_once();
            } else if is_pending {
                before_sleep::flush_once();
            }
            is_pending = thread_order::take_progress_pending();
            if !idle.spin_or_yield() {
                self.park(&mut idle, is_pending)?;
            }
        }
        Ok(())
    }
}

impl OrderedMerge {
    /// Takes what has come, and hands on whatever is next; whether there was anything.
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<bool, Fault> {
        let mut found = false;
        for end in self.inputs.iter_mut().filter(|end| end.first().is_none()) {
            found |= end.fill()?;
        }
        while let Some(at) = self.next_input() {
            found = true;
            self.inputs[at].submit_first(out)?;
            if self.inputs[at].is_ended {
                let over = self.inputs.remove(at);
                over.counters.end_wait();
                self.find_rival_inputs();
                self.retire_input(&over);
            }
        }
        if found {
            self.send_progress();
        } else if self.may_contradict {
            let ends = self.inputs.iter_mut();
            for end in ends.filter(|end| end.first().is_some() && end.wants_more(true)) {
                found |= end.fill()?;
            }
        }
        Ok(found)
    }

    /// The end whose first item is next.
    fn next_input(&self) -> Option<usize> {
        let mut all = 0..self.inputs.len();
        let is_next =
            |&at: &usize| self.inputs[at].first().is_some() && self.blockers(at).next().is_none();
        all.find(is_next).or_else(|| self.contradicting_input())
    }

    /// Ends that may still bring what stands before the first item of this one, and the origin of
    /// that.
    fn blockers(&self, at: usize) -> impl Iterator<Item = (usize, u64)> {
        let end = &self.inputs[at];
        let own = end
            .first_position()
            .into_iter()
            .flat_map(move |(place, rank)| {
                let rivals = end
                    .origin_progress(place[0])
                    .map_or(&[][..], |own| &own.rival_inputs);
                let may_precede = move |other: &usize| self.inputs[*other].may_precede(place, rank);
                let rivals = rivals.iter().copied().filter(may_precede);
                rivals.map(|other| (other, place[0]))
            });
        own.chain(end.known_precedences().flat_map(move |(carried, place)| {
            let may_bring = move |other: &usize| self.inputs[*other].may_bring(place);
            let rivals = carried.rival_inputs.iter().copied().filter(may_bring);
            rivals.map(|other| (other, carried.origin))
        }))
    }

    /// An end that waits only for what cannot come: for what stands behind another end's first
    /// item, which waits in the same way.
    fn contradicting_input(&self) -> Option<usize> {
        if !self.may_contradict {
            return None;
        }
        let mut waiting: Vec<bool> = self
            .inputs
            .iter()
            .map(|end| end.first().is_some())
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
        // From any of those, whom it waits for leads into a circle.
        let mut at = waiting.iter().position(|waiting| *waiting)?;
        for _ in 0..waiting.len() {
            (at, _) = self.blockers(at).next()?;
        }
        Some(at)
    }

    /// Whether an end that holds up another one has got what does, or takes no more before it has
    /// handed something on.
    fn cannot_help(&self, end: usize, origin: u64) -> bool {
        let end = &self.inputs[end];
        end.has_buffered(origin) || !end.wants_more(self.may_contradict)
    }

    /// Says downstream how far all ends have come.
    fn send_progress(&mut self) {
        for at in 0..self.inputs.len() {
            for index in 0..self.inputs[at].origins.len() {
                self.send_origin_progress(at, index);
            }
        }
    }

    /// The same of an origin, once: by the first of the ends that carry it.
    fn send_origin_progress(&mut self, at: usize, index: usize) {
        let end = &self.inputs[at];
        let carried = &end.origins[index];
        if carried.rival_inputs.iter().any(|&other| other < at) {
            return;
        }
        end.completed_position(carried, &mut self.least_position);
        for &other in &carried.rival_inputs {
            let other = &self.inputs[other];
            if let Some(carried) = other.origin_progress(carried.origin) {
                other.completed_position(carried, &mut self.position);
            }
            if self.position < self.least_position {
                std::mem::swap(&mut self.position, &mut self.least_position);
            }
        }
        thread_order::record_progress(&self.least_position);
    }

    /// An end is over: what nobody else brings is over too.
    fn retire_input(&mut self, over: &OrderedInput) {
        let origins = over.origins.iter().map(|carried| carried.origin);
        let is_gone = |origin: &u64| {
            self.inputs
                .iter()
                .all(|end| end.origin_progress(*origin).is_none())
        };
        for origin in origins.filter(is_gone) {
            thread_order::record_progress(&[origin, u64::MAX]);
        }
        self.send_progress();
    }

    /// Sleeps until an end brings something that may be next.
    fn park(&mut self, idle: &mut Idler, is_pending: bool) -> Result<(), Fault> {
        let ends = self.inputs.iter().enumerate();
        let hungry = ends.filter(|(_, end)| end.wants_more(self.may_contradict));
        self.parked_inputs.clear();
        self.parked_inputs.extend(hungry.map(|(at, _)| at));
        let parked = idle.park(self, is_pending.then_some(thread_order::PENDING_RETRY));
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
