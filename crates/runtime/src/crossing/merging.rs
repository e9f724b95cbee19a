//! Takes ordered streams: what one origin has begun is handed on in its order, whichever stream brings
//! it.
//!
//! ```text
//!   end 0   7 4 | 7 6        the head of an end is next if no other end can still bring
//!   end 1   7 5 | (silent)   anything of its origin that stands before it
//! ```
//! What has come is copied into a stash for each end, so that the medium's room is free while it waits.
//! An end whose stash is not empty is not polled: the memory is bounded by what one poll brings.
//!
//! Where the streams contradict each other (two origins, interleaved one way on one path and another way
//! on the other) no order is right: then the first end goes on. Such streams could also come to wait for
//! each other, each behind what two merges hold up; so of streams with several origins more is stashed
//! while nothing is next, up to [`STASH_BYTES_MAX`].

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Fault, Origin};
use transport::{Ends, Idle, Inbound, Wait};
use tuple::Punctuation;

use super::codec::Reading;
use super::receive::not_a_tuple;
use super::stash::{Item, Stash, Took, What};
use super::{Flow, Pacing, order, quiet, wire};
use crate::{Outlet, Source};

/// What its thread runs.
pub(super) struct Merging {
    /// Those whose final marker was not handed on.
    pub ends: Vec<End>,
    pub pacing: Arc<Pacing>,
    /// Some stream has several origins.
    may_contradict: bool,
    /// Ends that a park waits for.
    hungry: Vec<usize>,
}

/// What a stash holds at most beyond one poll.
const STASH_BYTES_MAX: usize = 64 << 20;

/// A stream.
pub(super) struct End {
    /// The output ports and the ranks of the consumers behind them, in order of the ranks.
    pub ports: Vec<(u32, u64)>,
    /// The origins by whose order it comes.
    pub carried: Vec<Origin>,
    pub end: Box<dyn Inbound>,
    pub reading: Reading,
    pub flow: Arc<Flow>,
    pub stash: Stash,
    /// How many ports the first item was handed to.
    handed: usize,
    /// By origin: nothing at or before this place comes behind what is stashed.
    reached: BTreeMap<u64, Vec<u64>>,
    is_over: bool,
}

impl Merging {
    pub fn new(ends: Vec<End>, pacing: Arc<Pacing>) -> Merging {
        let may_contradict = ends.iter().any(|end| end.carried.len() > 1);
        Merging {
            ends,
            pacing,
            may_contradict,
            hungry: Vec::new(),
        }
    }
}

impl Source for Merging {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let mut idle = self.pacing.idle()?;
        let (mut is_idle, mut is_pending) = (false, false);
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
        for end in self.ends.iter_mut().filter(|end| end.stash.is_empty()) {
            found |= end.fill()?;
        }
        while let Some(at) = self.next() {
            found = true;
            let is_alone = self.is_alone(at);
            self.ends[at].hand_on(out, is_alone)?;
            if self.ends[at].is_over {
                let over = self.ends.remove(at);
                over.flow.goes_on();
                self.retire(&over);
            }
        }
        if found {
            self.pass_on();
        } else if self.may_contradict {
            let ends = self.ends.iter_mut();
            for end in ends.filter(|end| !end.stash.is_empty() && end.is_hungry(true)) {
                found |= end.fill()?;
            }
        }
        Ok(found)
    }

    /// The end whose first item is next.
    fn next(&self) -> Option<usize> {
        let mut all = 0..self.ends.len();
        let is_next = |&at: &usize| {
            let end = &self.ends[at];
            !end.stash.is_empty() && self.blockers(at).next().is_none()
        };
        all.find(is_next).or_else(|| self.contradiction())
    }

    /// Ends that may still bring what stands before the first item of this one.
    fn blockers(&self, at: usize) -> impl Iterator<Item = usize> {
        let end = &self.ends[at];
        let head = end.head();
        let others = self
            .ends
            .iter()
            .enumerate()
            .filter(move |(other, _)| *other != at);
        others.filter_map(move |(other, end)| {
            let (place, rank) = head?;
            end.may_precede(place, rank).then_some(other)
        })
    }

    /// An end that waits only for what cannot come: for what stands behind another end's first item,
    /// which waits in the same way.
    fn contradiction(&self) -> Option<usize> {
        if !self.may_contradict {
            return None;
        }
        let is_waiting = |end: &End| !end.stash.is_empty();
        let mut waiting: Vec<bool> = self.ends.iter().map(is_waiting).collect();
        loop {
            let is_free = |&at: &usize| {
                let mut blockers = self.blockers(at);
                blockers.any(|other| !waiting[other] || !self.holds_before(other, at))
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
            at = self.blockers(at).next()?;
        }
        Some(at)
    }

    /// Whether an end is known to bring what stands before the first item of another one, or takes no
    /// more before it has handed something on.
    fn holds_before(&self, other: usize, at: usize) -> bool {
        let (other, end) = (&self.ends[other], &self.ends[at]);
        let origin = end.head().and_then(|(place, _)| place.first());
        origin.is_some_and(|&origin| other.stash.first_of(origin).is_some())
            || !other.is_hungry(self.may_contradict)
    }

    /// Whether no other end brings what the origin of this one's first item has begun.
    fn is_alone(&self, at: usize) -> bool {
        let place = self.ends[at]
            .head()
            .and_then(|(place, _)| place.first().copied());
        let mut others = self
            .ends
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at);
        place.is_some_and(|origin| !others.any(|(_, end)| end.carries(origin)))
    }

    /// Says downstream how far all ends have come.
    fn pass_on(&self) {
        for end in &self.ends {
            for &origin in &end.carried {
                self.pass_on_of(origin.into());
            }
        }
    }

    fn pass_on_of(&self, origin: u64) {
        let ends = self.ends.iter().filter(|end| end.carries(origin));
        let least = ends.map(|end| end.over(origin)).min();
        if let Some(place) = least {
            order::reached(&place);
        }
    }

    /// An end is over: what nobody else brings is over too.
    fn retire(&self, over: &End) {
        for &origin in &over.carried {
            let origin = origin.into();
            if self.ends.iter().any(|end| end.carries(origin)) {
                self.pass_on_of(origin);
            } else {
                order::reached(&[origin, u64::MAX]);
            }
        }
    }

    /// Sleeps until an end brings something that may be next.
    fn park(&mut self, idle: &mut Idle, is_pending: bool) -> Result<(), Fault> {
        let ends = self.ends.iter().enumerate();
        let hungry = ends.filter(|(_, end)| end.is_hungry(self.may_contradict));
        self.hungry = hungry.map(|(at, _)| at).collect();
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

impl End {
    pub fn new(end: Box<dyn Inbound>, reading: Reading, flow: Arc<Flow>) -> End {
        End {
            ports: Vec::new(),
            carried: Vec::new(),
            end,
            reading,
            flow,
            stash: Stash::default(),
            handed: 0,
            reached: BTreeMap::new(),
            is_over: false,
        }
    }

    /// Whether it takes more.
    fn is_hungry(&self, may_contradict: bool) -> bool {
        let takes_more = may_contradict && self.stash.bytes() < STASH_BYTES_MAX;
        self.stash.is_empty() || takes_more && !self.stash.is_whole()
    }

    /// Stashes what has come; whether anything has.
    fn fill(&mut self) -> Result<bool, Fault> {
        let batch = self.end.poll().map_err(|error| self.flow.broken(&error))?;
        if batch.is_empty() {
            return Ok(false);
        }
        let bytes = batch.bytes().len() as u64;
        let mut frames = 0;
        for frame in batch {
            if frame.kind == wire::STAMP {
                frames += 1;
                self.flow.arrived(frame.bytes)?;
                continue;
            }
            let took = self.stash.take(frame);
            match took.map_err(|error| self.flow.broken(&error))? {
                Took::Item => frames += 1,
                Took::Place => {}
                Took::Reached(place) if carries(&self.carried, place[0]) => {
                    let reached = self.reached.entry(place[0]).or_default();
                    if *reached < place {
                        *reached = place;
                    }
                }
                Took::Reached(_) => {}
            }
        }
        self.flow.count(frames, bytes);
        self.end.release();
        Ok(true)
    }

    /// Where the first item stands and for whom it is, if it stands anywhere.
    fn head(&self) -> Option<(&[u64], u64)> {
        let place = self.stash.place(self.stash.first()?);
        (!place.is_empty()).then(|| (place, self.rank(self.handed)))
    }

    fn rank(&self, handed: usize) -> u64 {
        self.ports.get(handed).map_or(0, |(_, rank)| *rank)
    }

    fn carries(&self, origin: u64) -> bool {
        carries(&self.carried, origin)
    }

    /// The last place of an origin that is known to be over; empty: none.
    fn over(&self, origin: u64) -> Vec<u64> {
        match self.stash.first_of(origin) {
            Some((place, _)) => {
                let mut place = place.to_vec();
                order::before(&mut place);
                place
            }
            None if self.stash.is_whole() => vec![origin, u64::MAX],
            None => self.reached.get(&origin).cloned().unwrap_or_default(),
        }
    }

    /// Whether it may bring something that stands before a place and rank.
    fn may_precede(&self, place: &[u64], rank: u64) -> bool {
        let Some(&origin) = place.first().filter(|origin| self.carries(**origin)) else {
            return false;
        };
        let other = || place.iter().copied().chain([rank]);
        match self.stash.first_of(origin) {
            Some((own, is_first)) => {
                let rank = self.rank(if is_first { self.handed } else { 0 });
                own.iter().copied().chain([rank]).lt(other())
            }
            None if self.stash.is_whole() => false,
            None => {
                let reached = self.reached.get(&origin);
                reached.is_none_or(|reached| reached.iter().copied().lt(other()))
            }
        }
    }

    /// Hands the first item on, to the next of its consumers.
    fn hand_on(&mut self, out: &mut dyn Outlet, is_alone: bool) -> Result<(), Fault> {
        let Some(item) = self.stash.first() else {
            return Ok(());
        };
        let Some(&(port, rank)) = self.ports.get(self.handed) else {
            return Ok(());
        };
        self.handed += 1;
        let is_last = self.handed == self.ports.len();
        order::enter(self.stash.place(item), rank);
        self.submit(item, port, out)?;
        order::leave(is_alone && is_last);
        if !is_last {
            return Ok(());
        }
        self.handed = 0;
        self.is_over = matches!(item.what, What::Final | What::Abandoned);
        self.stash.pop();
        Ok(())
    }

    fn submit(&mut self, item: Item, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        match item.what {
            What::Tuple => {
                let tuple = self.reading.tuple(self.stash.payload(item));
                let tuple = tuple.map_err(|error| not_a_tuple(&self.flow, &error))?;
                out.submit(port, tuple)
            }
            What::Window => out.punctuate(port, Punctuation::Window),
            What::Final => out.punctuate(port, Punctuation::Final),
            What::Abandoned => {
                out.abandon(port);
                Ok(())
            }
        }
    }
}

fn carries(carried: &[Origin], origin: u64) -> bool {
    carried.iter().any(|&carried| u64::from(carried) == origin)
}
