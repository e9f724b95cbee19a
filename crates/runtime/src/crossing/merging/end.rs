//! A stream that a merge takes.

use std::sync::Arc;

use graph::{Fault, Origin};
use tuple::Punctuation;

use super::super::codec::Reading;
use super::super::receive::not_a_tuple;
use super::super::stash::{Item, Stash, Took, What};
use super::super::{Flow, order, wire};
use crate::Outlet;

use transport::Inbound;

/// What a stash holds at most beyond one poll.
const STASH_BYTES_MAX: usize = 64 << 20;

/// A stream.
pub(in crate::crossing) struct End {
    /// The output ports and the ranks of the consumers behind them, in order of the ranks.
    pub ports: Vec<(u32, u64)>,
    /// The origins by whose order it comes.
    pub carried: Vec<Carried>,
    pub end: Box<dyn Inbound>,
    pub reading: Reading,
    pub flow: Arc<Flow>,
    stash: Stash,
    /// How many ports the first item was handed to.
    handed: usize,
    /// When the first item was at hand, if it has a stamp.
    sent_ns: Option<u64>,
    pub(super) is_over: bool,
}

/// An origin by whose order a stream comes.
pub(in crate::crossing) struct Carried {
    pub origin: u64,
    /// Nothing at or before this place comes behind what is stashed; empty: nothing is known.
    reached: Vec<u64>,
    /// What is stashed stands behind this place, as far as it is of other origins.
    passed: Vec<u64>,
    /// That was not said downstream.
    is_news: bool,
    /// The other ends that carry it.
    pub(super) rivals: Vec<usize>,
}

impl Carried {
    fn new(origin: Origin) -> Carried {
        Carried {
            origin: origin.into(),
            reached: order::room(),
            passed: order::room(),
            is_news: false,
            rivals: Vec::new(),
        }
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
            stash: Stash::new(),
            handed: 0,
            sent_ns: None,
            is_over: false,
        }
    }

    /// It comes by the order of an origin.
    pub fn carry(&mut self, origin: Origin) {
        self.stash.expect(origin.into());
        self.carried.push(Carried::new(origin));
    }

    /// Whether it takes more.
    pub fn is_hungry(&self, may_contradict: bool) -> bool {
        let takes_more = may_contradict && self.stash.bytes() < STASH_BYTES_MAX;
        self.stash.is_empty() || takes_more && !self.stash.is_whole()
    }

    /// Stashes what has come; whether anything has.
    pub fn fill(&mut self) -> Result<bool, Fault> {
        let batch = self.end.poll().map_err(|error| self.flow.broken(&error))?;
        if batch.is_empty() {
            return Ok(false);
        }
        let bytes = batch.bytes().len() as u64;
        let mut frames = 0;
        for frame in batch {
            if frame.kind == wire::STAMP {
                frames += 1;
                let sent_ns = self.flow.sent_ns(frame.bytes)?;
                match self.stash.is_empty() {
                    true => self.sent_ns = Some(sent_ns),
                    false => self.stash.push_stamp(sent_ns),
                }
                continue;
            }
            let took = self.stash.take(frame);
            match took.map_err(|error| self.flow.broken(&error))? {
                Took::Item => frames += 1,
                Took::Place => {}
                Took::Reached => reached(&mut self.carried, self.stash.mark()),
                Took::Behind => behind(&mut self.carried, &mut self.stash),
            }
        }
        self.flow.count(frames, bytes);
        self.end.release();
        Ok(true)
    }

    /// The first item.
    pub fn first(&self) -> Option<Item> {
        self.stash.first()
    }

    /// Where the first item stands and for whom it is, if it stands anywhere.
    pub fn head(&self) -> Option<(&[u64], u64)> {
        let place = self.stash.place(self.stash.first()?);
        (!place.is_empty()).then(|| (place, self.rank(self.handed)))
    }

    /// What it knows of an origin.
    pub fn carries(&self, origin: u64) -> Option<&Carried> {
        self.carried.iter().find(|carried| carried.origin == origin)
    }

    /// What stands before the first item in other origins than that one's own.
    pub fn before(&self) -> impl Iterator<Item = (&Carried, &[u64])> {
        let own = self.head().map(|(place, _)| place[0]);
        let others = self.carried.iter().filter(move |c| Some(c.origin) != own);
        let known = others.filter(|carried| !carried.passed.is_empty());
        known.map(|carried| (carried, &carried.passed[..]))
    }

    /// The last place of an origin that is known to be over; empty: none.
    pub fn over(&self, carried: &Carried, place: &mut Vec<u64>) {
        place.clear();
        match self.stash.first_of(carried.origin) {
            Some((first, _)) => {
                place.extend(first);
                order::before(place);
            }
            None if self.stash.is_whole() => place.extend([carried.origin, u64::MAX]),
            None => place.extend(&carried.reached),
        }
    }

    /// Whether it may bring something that stands before a place and rank.
    pub fn may_precede(&self, place: &[u64], rank: u64) -> bool {
        let other = || place.iter().copied().chain([rank]);
        match self.stash.first_of(place[0]) {
            Some((own, is_first)) => {
                let rank = self.rank(if is_first { self.handed } else { 0 });
                own.iter().copied().chain([rank]).lt(other())
            }
            None => self.has_not_reached(place[0], |reached| reached.iter().copied().lt(other())),
        }
    }

    /// Whether it may bring something at or before a place.
    pub fn may_bring(&self, place: &[u64]) -> bool {
        match self.stash.first_of(place[0]) {
            Some((own, _)) => own <= place,
            None => self.has_not_reached(place[0], |reached| reached < place),
        }
    }

    fn has_not_reached(&self, origin: u64, is_less: impl FnOnce(&[u64]) -> bool) -> bool {
        let carried = self.carries(origin).filter(|_| !self.stash.is_whole());
        carried.is_some_and(|carried| is_less(&carried.reached))
    }

    /// Whether something of an origin is stashed.
    pub fn holds(&self, origin: u64) -> bool {
        self.stash.first_of(origin).is_some()
    }

    fn rank(&self, handed: usize) -> u64 {
        self.ports.get(handed).map_or(0, |(_, rank)| *rank)
    }

    /// Hands the first item on, to the next of its consumers.
    pub fn hand_on(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let Some(item) = self.stash.first() else {
            return Ok(());
        };
        let Some(&(port, rank)) = self.ports.get(self.handed) else {
            return Ok(());
        };
        if let Some(sent_ns) = self.sent_ns.take() {
            self.flow.arrived(sent_ns);
        }
        self.handed += 1;
        let is_last = self.handed == self.ports.len();
        self.say_passed();
        let place = self.stash.place(item);
        let origin = place.first().and_then(|&origin| self.carries(origin));
        let is_alone = origin.is_some_and(|carried| carried.rivals.is_empty());
        order::enter(place, rank);
        self.submit(item, port, out)?;
        order::leave(is_alone && is_last);
        if is_last {
            self.handed = 0;
            self.is_over = matches!(item.what, What::Final | What::Abandoned);
            self.pop();
        }
        Ok(())
    }

    /// What is handed on stands behind that downstream too.
    fn say_passed(&mut self) {
        for carried in self.carried.iter_mut().filter(|carried| carried.is_news) {
            carried.is_news = false;
            order::passed(&carried.passed);
        }
    }

    fn submit(&mut self, item: Item, port: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        match item.what {
            What::Tuple => {
                let tuple = self.reading.tuple(self.stash.payload(item));
                let tuple = tuple.map_err(|error| not_a_tuple(&self.flow, &error))?;
                out.submit(port, tuple)
            }
            What::Window => out.punctuate(port, Punctuation::Window),
            What::Watermark => match wire::read_watermark(self.stash.payload(item)) {
                Some(at) => out.watermark(port, at),
                None => Ok(()),
            },
            What::Final => out.punctuate(port, Punctuation::Final),
            What::Abandoned => {
                out.abandon(port);
                Ok(())
            }
            What::Behind | What::Stamp => Ok(()),
        }
    }

    /// The first item is done with, and so are marks and stamps behind it.
    fn pop(&mut self) {
        self.stash.pop();
        while let Some(item) = self.stash.first() {
            let place = self.stash.place(item);
            match item.what {
                What::Behind => pass(&mut self.carried, place),
                What::Stamp => self.sent_ns = place.first().copied(),
                _ => return,
            }
            self.stash.pop();
        }
    }
}

fn reached(carried: &mut [Carried], mark: &[u64]) {
    if let Some(known) = carried.iter_mut().find(|known| known.origin == mark[0]) {
        raise(&mut known.reached, mark);
    }
}

/// What comes stands behind a mark.
fn behind(carried: &mut [Carried], stash: &mut Stash) {
    reached(carried, stash.mark());
    match stash.is_empty() {
        true => pass(carried, stash.mark()),
        false => stash.push_mark(),
    }
}

fn pass(carried: &mut [Carried], mark: &[u64]) {
    if let Some(known) = carried.iter_mut().find(|known| known.origin == mark[0]) {
        known.is_news |= raise(&mut known.passed, mark);
    }
}

fn raise(place: &mut Vec<u64>, to: &[u64]) -> bool {
    let is_higher = place[..] < *to;
    if is_higher {
        place.clear();
        place.extend(to);
    }
    is_higher
}

#[cfg(test)]
mod tests {
    use graph::Codec;
    use transport::fragment::WHOLE;
    use transport::{Batching, Spec};
    use tuple::{Layout, TupleType, Type};

    use super::super::super::{Side, stash};
    use super::*;

    fn spec() -> Spec {
        Spec {
            name: "A".into(),
            link: 0,
            receivers: 1,
            ring_bytes: 4096,
            batch: Batching::default(),
            token: [0; 16],
            listen: std::net::Ipv4Addr::LOCALHOST.into(),
        }
    }

    #[test]
    fn a_stamp_waits_with_its_tuple() {
        let medium = transport::media::find("ring").expect("a medium");
        let (mut out, mut tickets) = medium.open(&spec()).expect("a sending end");
        let inbound = medium.accept(&spec(), tickets.remove(0)).expect("an end");
        for number in [4_u64, 5] {
            let (mut place, mut sealed) = (Vec::new(), Vec::new());
            stash::encode(&[7, number], &mut place);
            stash::seal(&number.to_le_bytes(), &place, &mut sealed);
            let stamp = number.to_le_bytes();
            assert!(out.put(wire::STAMP, WHOLE, &stamp).expect("room"));
            assert!(out.put(wire::PLACED, WHOLE, &sealed).expect("room"));
        }
        let schema = Arc::new(TupleType::new([("n".to_owned(), Type::Uint64)]));
        let reading = Reading::new(Codec::Facade, Layout::of(&schema), false);
        let flow = Arc::new(Flow::new(0, "A".into(), 0, vec![1], Side::Receiver).with_latency());
        let mut end = End::new(inbound, reading, flow.clone());
        assert!(end.fill().expect("frames"));
        let measured = || flow.latency().map(|latency| latency.counts().sum::<u64>());
        assert_eq!((measured(), end.sent_ns), (Some(0), Some(4)));
        end.pop();
        assert_eq!((measured(), end.sent_ns), (Some(0), Some(5)));
        end.pop();
        assert!(end.first().is_none());
    }
}
