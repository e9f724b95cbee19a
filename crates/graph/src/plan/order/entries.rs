//! Which threads bring what to each operator, and where two of them bring what one origin began.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Ground, Origin, Way};
use crate::plan::flow::Consumer;
use crate::{Edge, OperatorId};

/// A thread of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thread {
    /// Of a source, or of an operator with a thread of its own.
    Own(OperatorId),
    /// Of the timers of a PE.
    Timers(u32),
    /// Of a receiver of a PE.
    Receiver(u32, usize),
    /// Of a queue.
    Queue(Consumer),
    /// Of a merge, by its unit.
    Merge(usize),
}

/// A thread and an origin of what it brings.
type Visits = BTreeSet<(Thread, Origin)>;

/// The ports of a unit that a merge leaves to the threads which bring them something.
///
/// A Switch that is closed, or a Gate without credit, holds up the thread that brings it a tuple until
/// another one brings what opens it. If one thread took both it would wait for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    Control,
    Data,
}

/// What has to come in order, and where.
pub(super) struct Need {
    /// Where it comes in.
    pub edges: Vec<(Edge, Consumer)>,
    /// The origins whose order counts.
    pub origins: BTreeSet<Origin>,
}

/// Who enters what.
pub(super) struct Entries<'g, 'a> {
    ground: &'g Ground<'a>,
    /// By operator: who submits from there.
    submitted: Vec<Rc<Visits>>,
    /// By unit: who enters it.
    entered: Vec<Rc<Visits>>,
    /// The units that need a merge, and the origins that two threads bring them.
    pub merged: BTreeMap<usize, BTreeSet<Origin>>,
    /// By unit with a merge: ports that it leaves alone.
    apart: BTreeMap<usize, Apart>,
    /// The receiver of each crossing in each PE.
    receiver_of: BTreeMap<(u32, u32), usize>,
}

impl<'g, 'a> Entries<'g, 'a> {
    /// Of a plan in which these units have merges, whether two threads bring them an origin or not.
    pub fn of(ground: &'g Ground<'a>, mixes: &BTreeSet<usize>) -> Entries<'g, 'a> {
        let mut receiver_of = BTreeMap::new();
        for (pe, receivers) in (0..).zip(&ground.receivers) {
            for (at, receiver) in receivers.iter().enumerate() {
                let links = receiver.links.iter();
                receiver_of.extend(links.map(|&link| ((pe, link), at)));
            }
        }
        let mut entries = Entries {
            ground,
            submitted: vec![Rc::default(); ground.program.operators.len()],
            entered: Vec::new(),
            merged: BTreeMap::new(),
            apart: BTreeMap::new(),
            receiver_of,
        };
        for unit in 0..ground.origins.units.all.len() {
            entries.unit(unit, mixes.contains(&unit));
        }
        entries
    }

    /// How many threads bring a unit what these origins began.
    pub fn threads_of(&self, unit: usize, origins: &BTreeSet<Origin>) -> usize {
        let visits = self.entered[unit].iter();
        let threads = visits.filter(|(_, origin)| origins.contains(origin));
        let threads: BTreeSet<_> = threads.map(|(thread, _)| *thread).collect();
        threads.len()
    }

    /// Everything that has to come in order.
    pub fn needs(&self) -> Vec<Need> {
        let merged = self.merged.iter().map(|(&unit, contested)| {
            let edges: Vec<_> = self.taken(unit).collect();
            let mut origins = self.common(&edges);
            origins.extend(contested);
            Need { edges, origins }
        });
        let queues = self.ground.queues.keys().copied();
        let relays = queues.filter(|&to| self.is_contested_relay(to));
        let relays = relays.map(|to| self.relayed(to));
        let all = (0..).zip(&self.ground.receivers);
        let received = all.flat_map(|(pe, receivers)| receivers.iter().map(move |r| (pe, r)));
        let received = received.filter(|(_, receiver)| receiver.links.len() > 1);
        let received = received.map(|(pe, receiver)| self.received(pe, &receiver.links));
        merged.chain(relays).chain(received).collect()
    }

    /// What a queue has to bring in order if it becomes a merge: each of its streams has a ring then.
    pub fn relayed(&self, to: Consumer) -> Need {
        let edges = self.ground.inputs(to.operator);
        let edges: Vec<_> = edges.filter(|(_, port)| *port == to).collect();
        let origins = self.common(&edges);
        Need { edges, origins }
    }

    /// Whether several threads fill a queue that only the plan wants with what one origin began.
    fn is_contested_relay(&self, to: Consumer) -> bool {
        let edges = self.ground.inputs(to.operator);
        let mut edges = edges.filter(|(_, port)| *port == to).peekable();
        let is_relay =
            |(from, to): &(Edge, Consumer)| matches!(self.ground.way(*from, *to), Way::Relay);
        if !edges.peek().is_some_and(is_relay) {
            return false;
        }
        let visits = edges.flat_map(|(from, to)| match self.ground.crossing(from, to) {
            Some(link) => self.received_by(from, to, link),
            None => Visits::clone(&self.submitted[from.operator.0 as usize]),
        });
        contested(&visits.collect()).is_some()
    }

    /// The origins that come by several of these edges.
    fn common(&self, edges: &[(Edge, Consumer)]) -> BTreeSet<Origin> {
        let mut count: BTreeMap<Origin, u32> = BTreeMap::new();
        for &(from, to) in edges {
            for origin in self.ground.origins.arriving(from, to) {
                *count.entry(origin).or_default() += 1;
            }
        }
        let common = count.into_iter().filter(|(_, count)| *count > 1);
        common.map(|(origin, _)| origin).collect()
    }

    /// What a receiver has to bring in order: what several of its streams have in common.
    fn received(&self, pe: u32, links: &[u32]) -> Need {
        let ground = self.ground;
        let mut count: BTreeMap<Origin, u32> = BTreeMap::new();
        let mut edges = Vec::new();
        for &link in links {
            let from = ground.plan.crossings[link as usize].from;
            for &origin in ground.origins.of(from) {
                *count.entry(origin).or_default() += 1;
            }
            let consumers = ground.flow.of(from).iter();
            let near = consumers.filter(|to| ground.homes.of(to.operator) == Some(pe));
            edges.extend(near.map(|&to| (from, to)));
        }
        let origins = count.into_iter().filter(|(_, count)| *count > 1);
        let origins = origins.map(|(origin, _)| origin).collect();
        Need { edges, origins }
    }

    /// The edges that lead into a unit from outside.
    pub fn outside(&self, unit: usize) -> Vec<(Edge, Consumer)> {
        let ground = self.ground;
        let units = &ground.origins.units;
        let edges = units.all[unit].iter().flat_map(|&id| ground.inputs(id));
        let edges = edges.filter(|(from, _)| units.of[from.operator.0 as usize] != unit);
        edges.collect()
    }

    /// Those of them that its merge takes.
    pub fn taken(&self, unit: usize) -> impl Iterator<Item = (Edge, Consumer)> {
        let apart = self.apart.get(&unit);
        let edges = self.outside(unit).into_iter();
        edges.filter(move |(_, to)| apart != Some(&self.sort(*to)))
    }

    /// Whether its merge takes what comes to a port.
    pub fn takes(&self, unit: usize, to: Consumer) -> bool {
        self.merged.contains_key(&unit) && self.apart.get(&unit) != Some(&self.sort(to))
    }

    fn sort(&self, to: Consumer) -> Apart {
        let operator = &self.ground.program.operators[to.operator.0 as usize];
        match operator.inputs[to.port as usize].is_control {
            true => Apart::Control,
            false => Apart::Data,
        }
    }

    /// What a merge for these origins has to leave alone: ports of one sort if nothing comes to them
    /// that comes to those of the other sort.
    fn apart(&self, unit: usize, contested: &BTreeSet<Origin>) -> Option<Apart> {
        let (mut control, mut data) = (BTreeSet::new(), BTreeSet::new());
        for (from, to) in self.outside(unit) {
            let arriving = self.ground.origins.arriving(from, to);
            match self.sort(to) {
                Apart::Control => control.extend(arriving),
                Apart::Data => data.extend(arriving),
            }
        }
        let is_separate = !control.is_empty() && control.is_disjoint(&data);
        let apart = [(Apart::Control, control), (Apart::Data, data)];
        let mut apart = apart.into_iter().filter(|_| is_separate);
        let apart = apart.find(|(_, origins)| origins.is_disjoint(contested));
        apart.map(|(apart, _)| apart)
    }

    /// Works out who enters a unit and who submits from it.
    fn unit(&mut self, unit: usize, is_mix: bool) {
        let ground = self.ground;
        let mut visits = Visits::new();
        for (from, to) in self.outside(unit) {
            visits.extend(self.visits(from, to));
        }
        let operators = &ground.origins.units.all[unit];
        visits.extend(self.queued_inside(unit));
        for &id in operators {
            let operator = &ground.program.operators[id.0 as usize];
            let is_inside = operators.len() > 1 && operator.own_thread;
            if operator.inputs.is_empty() || is_inside {
                visits.extend(self.own(id));
            } else if operators.len() > 1 && operator.is_timed {
                visits.extend(self.timed(id));
            }
        }
        if let Some(contested) = contested(&visits).or(is_mix.then(BTreeSet::new)) {
            let apart = self.apart(unit, &contested);
            self.apart.extend(apart.map(|apart| (unit, apart)));
            self.merged.insert(unit, contested);
            let edges = self.outside(unit).into_iter();
            let left = edges.filter(|(_, to)| !self.takes(unit, *to));
            let left: Visits = left.flat_map(|(from, to)| self.visits(from, to)).collect();
            let merge = |(thread, origin)| match thread {
                _ if left.contains(&(thread, origin)) => (thread, origin),
                Thread::Receiver(..) | Thread::Merge(_) | Thread::Own(_) | Thread::Timers(_) => {
                    (Thread::Merge(unit), origin)
                }
                Thread::Queue(to) if ground.origins.queue(to) == Some(origin) => (thread, origin),
                Thread::Queue(_) => (Thread::Merge(unit), origin),
            };
            visits = visits.into_iter().map(merge).collect();
        }
        let visits = Rc::new(visits);
        self.entered.push(visits.clone());
        for &id in operators {
            let operator = &ground.program.operators[id.0 as usize];
            self.submitted[id.0 as usize] = if operator.own_thread {
                Rc::new(self.own(id).into_iter().collect())
            } else if operator.is_timed {
                let timed = self.timed(id);
                Rc::new(visits.iter().copied().chain(timed).collect())
            } else {
                visits.clone()
            };
        }
    }

    /// Who comes to a port by a stream.
    fn visits(&self, from: Edge, to: Consumer) -> Visits {
        let ground = self.ground;
        let by = |thread: Thread| {
            let origins = ground.origins.arriving(from, to).into_iter();
            origins.map(|origin| (thread, origin)).collect()
        };
        match ground.way(from, to) {
            Way::Call => Visits::clone(&self.submitted[from.operator.0 as usize]),
            Way::Queue | Way::Relay => by(Thread::Queue(to)),
            Way::Crossing(link) => self.received_by(from, to, link),
        }
    }

    /// The same by a crossing.
    fn received_by(&self, from: Edge, to: Consumer, link: u32) -> Visits {
        let pe = self.ground.homes.of(to.operator).unwrap_or_default();
        let at = self.receiver_of.get(&(pe, link));
        let thread = Thread::Receiver(pe, at.copied().unwrap_or_default());
        let origins = self.ground.origins.of(from).iter();
        origins.map(|&origin| (thread, origin)).collect()
    }

    /// Who comes by queues between the operators of a loop.
    fn queued_inside(&self, unit: usize) -> impl Iterator<Item = (Thread, Origin)> {
        let origins = &self.ground.origins;
        let operators = origins.units.all[unit].iter();
        let edges = operators.flat_map(|&id| self.ground.inputs(id));
        let inside =
            edges.filter(move |(from, _)| origins.units.of[from.operator.0 as usize] == unit);
        inside.filter_map(|(_, to)| Some((Thread::Queue(to), origins.queue(to)?)))
    }

    fn own(&self, id: OperatorId) -> Option<(Thread, Origin)> {
        let origin = self.ground.origins.own(id)?;
        Some((Thread::Own(id), origin))
    }

    fn timed(&self, id: OperatorId) -> Option<(Thread, Origin)> {
        let pe = self.ground.homes.of(id)?;
        let origin = self.ground.origins.own(id)?;
        Some((Thread::Timers(pe), origin))
    }
}

/// The origins that several threads bring, if there are any.
fn contested(visits: &Visits) -> Option<BTreeSet<Origin>> {
    let mut threads: BTreeMap<Origin, Thread> = BTreeMap::new();
    let mut contested = BTreeSet::new();
    for &(thread, origin) in visits {
        if *threads.entry(origin).or_insert(thread) != thread {
            contested.insert(origin);
        }
    }
    (!contested.is_empty()).then_some(contested)
}
