//! Takes ordered streams: what one origin has begun is handed on in its order, whichever stream brings
//! it; and behind what stands before it in other origins, if its stream says that something does.
//!
//! ```text
//!   end 0   7 4 | 7 6        the head of an end is next if no other end can still bring
//!   end 1   7 5 | (silent)   anything that stands before it
//! ```
//! What has come is copied into a stash for each end, so that the medium's room is free while it waits.
//! An end whose stash is not empty is not polled: the memory is bounded by what one poll brings.
//!
//! Where the streams contradict each other (two origins that were mixed in two processes, here one way
//! and there another way) no order is right: then the first end goes on. Such streams could also come to
//! wait for each other, each behind what two merges hold up; so of streams with several origins more is
//! stashed while nothing is next, up to [`end::STASH_BYTES_MAX`].

mod end;

use std::sync::Arc;

use graph::Fault;
use transport::{Ends, Idle, Wait};

use super::{Pacing, order, quiet};
use crate::{Outlet, Source};

pub(super) use end::End;

/// What its thread runs.
pub(super) struct Merging {
    /// Those whose final marker was not handed on.
    ends: Vec<End>,
    pacing: Arc<Pacing>,
    /// Some stream has several origins.
    may_contradict: bool,
    /// Ends that a park waits for.
    hungry: Vec<usize>,
    /// For a place that is looked at, and the least of some.
    place: Vec<u64>,
    least: Vec<u64>,
}

impl Merging {
    pub fn new(ends: Vec<End>, pacing: Arc<Pacing>) -> Merging {
        let may_contradict = ends.iter().any(|end| end.carried.len() > 1);
        let mut merging = Merging {
            ends,
            pacing,
            may_contradict,
            hungry: Vec::new(),
            place: order::room(),
            least: order::room(),
        };
        merging.find_rivals();
        merging
    }

    /// Which ends carry the same: this changes when one is over.
    fn find_rivals(&mut self) {
        for at in 0..self.ends.len() {
            for index in 0..self.ends[at].carried.len() {
                let origin = self.ends[at].carried[index].origin;
                let others = self
                    .ends
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != at);
                let rivals = others.filter(|(_, end)| end.carries(origin).is_some());
                let rivals = rivals.map(|(other, _)| other).collect();
                self.ends[at].carried[index].rivals = rivals;
            }
        }
    }
}

impl Source for Merging {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut idle = self.pacing.idle()?;
        let (mut is_idle, mut is_pending) = (false, false);
        let origins = self.ends.iter().flat_map(|end| &end.carried);
        origins.for_each(|carried| order::expect(carried.origin));
        while !self.ends.is_empty() {
            if self.pacing.has_failed() {
                let ports = self.ends.iter().flat_map(|end| &end.ports);
                ports.for_each(|(port, _)| out.abandon(*port));
                return Ok(());
            }
            if self.turn(out)? {
                if std::mem::take(&mut is_idle) {
                    self.ends.iter().for_each(|end| end.flow.goes_on());
                }
                idle.worked();
                continue;
            }
            if !std::mem::replace(&mut is_idle, true) {
                self.ends.iter().for_each(|end| end.flow.blocks());
                quiet::flush_once();
            } else if is_pending {
                quiet::flush_once();
            }
            is_pending = order::take_pending();
            if !idle.pass() {
                self.park(&mut idle, is_pending)?;
            }
        }
        Ok(())
    }
}

impl Merging {
    /// Takes what has come, and hands on whatever is next; whether there was anything.
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<bool, Fault> {
        let mut found = false;
        for end in self.ends.iter_mut().filter(|end| end.first().is_none()) {
            found |= end.fill()?;
        }
        while let Some(at) = self.next() {
            found = true;
            self.ends[at].hand_on(out)?;
            if self.ends[at].is_over {
                let over = self.ends.remove(at);
                over.flow.goes_on();
                self.find_rivals();
                self.retire(&over);
            }
        }
        if found {
            self.pass_on();
        } else if self.may_contradict {
            let ends = self.ends.iter_mut();
            for end in ends.filter(|end| end.first().is_some() && end.is_hungry(true)) {
                found |= end.fill()?;
            }
        }
        Ok(found)
    }

    /// The end whose first item is next.
    fn next(&self) -> Option<usize> {
        let mut all = 0..self.ends.len();
        let is_next =
            |&at: &usize| self.ends[at].first().is_some() && self.blockers(at).next().is_none();
        all.find(is_next).or_else(|| self.contradiction())
    }

    /// Ends that may still bring what stands before the first item of this one, and the origin of that.
    fn blockers(&self, at: usize) -> impl Iterator<Item = (usize, u64)> {
        let end = &self.ends[at];
        let own = end.head().into_iter().flat_map(move |(place, rank)| {
            let rivals = end.carries(place[0]).map_or(&[][..], |own| &own.rivals);
            let may_precede = move |other: &usize| self.ends[*other].may_precede(place, rank);
            let rivals = rivals.iter().copied().filter(may_precede);
            rivals.map(|other| (other, place[0]))
        });
        own.chain(end.before().flat_map(move |(carried, place)| {
            let may_bring = move |other: &usize| self.ends[*other].may_bring(place);
            let rivals = carried.rivals.iter().copied().filter(may_bring);
            rivals.map(|other| (other, carried.origin))
        }))
    }

    /// An end that waits only for what cannot come: for what stands behind another end's first item,
    /// which waits in the same way.
    fn contradiction(&self) -> Option<usize> {
        if !self.may_contradict {
            return None;
        }
        let mut waiting: Vec<bool> = self.ends.iter().map(|end| end.first().is_some()).collect();
        loop {
            let is_free = |&at: &usize| {
                let mut blockers = self.blockers(at);
                blockers.any(|(other, origin)| !waiting[other] || !self.holds(other, origin))
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
    fn holds(&self, end: usize, origin: u64) -> bool {
        let end = &self.ends[end];
        end.holds(origin) || !end.is_hungry(self.may_contradict)
    }

    /// Says downstream how far all ends have come.
    fn pass_on(&mut self) {
        for at in 0..self.ends.len() {
            for index in 0..self.ends[at].carried.len() {
                self.pass_on_of(at, index);
            }
        }
    }

    /// The same of an origin, once: by the first of the ends that carry it.
    fn pass_on_of(&mut self, at: usize, index: usize) {
        let end = &self.ends[at];
        let carried = &end.carried[index];
        if carried.rivals.iter().any(|&other| other < at) {
            return;
        }
        end.over(carried, &mut self.least);
        for &other in &carried.rivals {
            let other = &self.ends[other];
            if let Some(carried) = other.carries(carried.origin) {
                other.over(carried, &mut self.place);
            }
            if self.place < self.least {
                std::mem::swap(&mut self.place, &mut self.least);
            }
        }
        order::reached(&self.least);
    }

    /// An end is over: what nobody else brings is over too.
    fn retire(&mut self, over: &End) {
        let origins = over.carried.iter().map(|carried| carried.origin);
        let is_gone = |origin: &u64| self.ends.iter().all(|end| end.carries(*origin).is_none());
        for origin in origins.filter(is_gone) {
            order::reached(&[origin, u64::MAX]);
        }
        self.pass_on();
    }

    /// Sleeps until an end brings something that may be next.
    fn park(&mut self, idle: &mut Idle, is_pending: bool) -> Result<(), Fault> {
        let ends = self.ends.iter().enumerate();
        let hungry = ends.filter(|(_, end)| end.is_hungry(self.may_contradict));
        self.hungry.clear();
        self.hungry.extend(hungry.map(|(at, _)| at));
        let parked = idle.park(self, is_pending.then_some(order::RETRY));
        parked.map_err(|(at, error)| self.ends[self.hungry[at]].flow.broken(&error))
    }
}

impl Ends for Merging {
    fn count(&self) -> usize {
        self.hungry.len()
    }

    fn end(&self, at: usize) -> &dyn Wait {
        &*self.ends[self.hungry[at]].end
    }

    fn end_mut(&mut self, at: usize) -> &mut dyn Wait {
        &mut *self.ends[self.hungry[at]].end
    }
}
