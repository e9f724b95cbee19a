//! Loads of the threads that a plan's choices lead to.
//!
//! Units are visited upstream first, so the threads that bring tuples to a unit are known before
//! the unit's own. Tuples come
//!
//! ```text
//!   from a unit of the PE           by the threads of that unit: a call
//!   through a queue of the port     by the queue's thread; both sides pay for the ring
//!   from another PE                 by the receiver's thread; both sides pay for the medium
//!   by several ways, of one origin  by a merge, which takes them all: rings, and the media
//! ```
//! Tuples that a merge takes carry their positions over each queue and crossing from their source
//! on, which costs more on both sides. Streams that feed one port share a receiver. A unit that
//! several threads enter divides its work among them by the tuples that they bring. With each
//! further unit the loads only grow, so those of the first units are a lower bound for the whole.
//!
//! # Cost
//! One walk over the edges.

use super::crossing_cost::CrossingCost;
use super::load_graph::{LoadGraph, LoadInput, StreamCosts};
use super::origin_bits::OriginBits;
use super::plan_sketch::PlanSketch;

/// The place where a thread of the model begins, by indices of the [`LoadGraph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoadedThreadStart {
    /// A source, by its unit.
    Source(usize),
    /// The receiver of a stream in a PE, by its stream.
    Receiver(usize),
    /// The queue of a port.
    Queue(usize),
    /// The merge before a unit.
    Merge(usize),
    /// A unit that submits from a thread of its own.
    Unit(usize),
}

/// A thread with its load, for one tuple of the sources.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadedThread {
    /// The place where the thread begins.
    pub start: LoadedThreadStart,
    /// PE that the thread belongs to.
    pub pe: u32,
    /// Processor time in nanoseconds.
    pub ns: f64,
    /// Tuples that come to the thread from others; those of a source itself.
    pub arrivals: f64,
}

/// The threads that run a unit, each with its part of the unit's tuples.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadShares {
    /// One thread, by its index.
    One(usize),
    /// Several threads; parts add up to 1, or there is none.
    Several(Vec<(usize, f64)>),
}

/// The threads of a plan and the units that each runs.
#[derive(Clone, Debug, Default)]
pub struct ThreadLoads {
    /// The threads; one whose receiver shares another's has no load.
    pub threads: Vec<LoadedThread>,
    /// The threads that run each unit.
    pub shares: Vec<ThreadShares>,
    /// The threads by which each unit submits.
    submitting: Vec<ThreadShares>,
    /// The thread that each thread has been joined with; itself if none.
    parents: Vec<usize>,
    /// Whether each unit has a merge before it.
    pub has_merge: Vec<bool>,
}

impl ThreadShares {
    /// The threads and their parts.
    pub fn parts(&self) -> Vec<(usize, f64)> {
        match self {
            ThreadShares::One(thread) => vec![(*thread, 1.0)],
            ThreadShares::Several(parts) => parts.clone(),
        }
    }
}

impl ThreadLoads {
    /// The loads of the threads of the first `units` units, where streams cost so much.
    pub fn new(
        graph: &LoadGraph,
        costs: &StreamCosts,
        sketch: &PlanSketch,
        units: usize,
    ) -> ThreadLoads {
        let mut walk = LoadWalk {
            graph,
            costs,
            sketch,
            loads: ThreadLoads {
                shares: Vec::with_capacity(units),
                submitting: Vec::with_capacity(units),
                ..ThreadLoads::default()
            },
            receivers: vec![Vec::new(); graph.streams.len()],
            queues: vec![None; graph.ports.len()],
            carried: Vec::with_capacity(units),
            has_positions: vec![false; units],
        };
        for unit in 0..units {
            walk.visit(unit);
        }
        walk.loads.settle();
        walk.loads
    }

    /// Load of the busiest thread in nanoseconds.
    pub fn busiest_ns(&self) -> f64 {
        self.threads
            .iter()
            .map(|thread| thread.ns)
            .fold(0.0, f64::max)
    }

    /// Processor time of all threads of a host in nanoseconds.
    pub fn host_ns(&self, sketch: &PlanSketch, host: u32) -> f64 {
        let threads = self.threads.iter();
        threads
            .filter(|one| sketch.host(one.pe) == host)
            .map(|one| one.ns)
            .sum()
    }

    /// Processor time of all threads in nanoseconds.
    pub fn total_ns(&self) -> f64 {
        self.threads.iter().map(|thread| thread.ns).sum()
    }

    /// Number of threads that run anything.
    pub fn thread_count(&self) -> usize {
        self.threads.iter().filter(|thread| thread.ns > 0.0).count()
    }

    fn add_thread(&mut self, start: LoadedThreadStart, pe: u32) -> usize {
        self.threads.push(LoadedThread {
            start,
            pe,
            ns: 0.0,
            arrivals: 0.0,
        });
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    /// The thread that a thread has become a part of.
    pub fn find(&self, mut thread: usize) -> usize {
        while self.parents[thread] != thread {
            thread = self.parents[thread];
        }
        thread
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        if one == other {
            return;
        }
        let (into, from) = (one.min(other), one.max(other));
        self.parents[from] = into;
        let LoadedThread { ns, arrivals, .. } = self.threads[from];
        (self.threads[from].ns, self.threads[from].arrivals) = (0.0, 0.0);
        self.threads[into].ns += ns;
        self.threads[into].arrivals += arrivals;
    }

    fn charge(&mut self, shares: &ThreadShares, ns: f64) {
        match shares {
            ThreadShares::One(thread) => self.charge_thread(*thread, ns),
            ThreadShares::Several(parts) => {
                parts
                    .iter()
                    .for_each(|(thread, part)| self.charge_thread(*thread, ns * part));
            }
        }
    }

    fn charge_thread(&mut self, thread: usize, ns: f64) {
        let thread = self.find(thread);
        self.threads[thread].ns += ns;
    }

    /// Names threads in shares by what they have become.
    fn settle(&mut self) {
        let parents: Vec<usize> = (0..self.threads.len()).map(|at| self.find(at)).collect();
        for shares in self.shares.iter_mut().chain(&mut self.submitting) {
            match shares {
                ThreadShares::One(thread) => *thread = parents[*thread],
                ThreadShares::Several(parts) => {
                    parts
                        .iter_mut()
                        .for_each(|(thread, _)| *thread = parents[*thread]);
                }
            }
        }
    }
}

/// Nanoseconds of each side of a queue or crossing for a tuple with its position in the order of
/// its source: no code for batches writes or takes it. Measured with `thalweg bench plans --seed 7
/// --operators-min 21`.
const POSITION_NS: f64 = 180.0;

/// Threads, each with the origins of the tuples that it brings.
type CarriedOrigins = Vec<(usize, OriginBits)>;

/// First of the numbers that stand for queues before their threads are there.
const QUEUE_NUMBERS: usize = 1 << 48;

struct LoadWalk<'a> {
    graph: &'a LoadGraph,
    costs: &'a StreamCosts,
    sketch: &'a PlanSketch,
    loads: ThreadLoads,
    /// The receivers of each stream: PE, thread, and whether receiving is paid for.
    receivers: Vec<Vec<(u32, usize, bool)>>,
    /// The thread of each port's queue.
    queues: Vec<Option<usize>>,
    /// By unit that several threads enter: the origins that each brings.
    carried: Vec<CarriedOrigins>,
    /// By unit, whether its input tuples have positions that are paid for.
    has_positions: Vec<bool>,
}

impl LoadWalk<'_> {
    fn visit(&mut self, at: usize) {
        let unit = &self.graph.units[at];
        let pe = self.sketch.pe_of[at];
        if unit.is_source {
            let thread = self.loads.add_thread(LoadedThreadStart::Source(at), pe);
            let tuples: f64 = unit.work_ns / unit.tuple_ns.max(f64::MIN_POSITIVE);
            self.loads.threads[thread].arrivals = tuples;
            self.loads.charge_thread(thread, unit.work_ns);
            self.loads.shares.push(ThreadShares::One(thread));
            self.loads.submitting.push(ThreadShares::One(thread));
            self.loads.has_merge.push(false);
            self.carried.push(Vec::new());
            return;
        }
        self.receive(at);
        let has_merge = self.needs_merge(at);
        let merge = has_merge.then(|| self.loads.add_thread(LoadedThreadStart::Merge(at), pe));
        let mut parts: Vec<(usize, f64)> = Vec::new();
        for input in &unit.inputs {
            let merge = merge.filter(|_| self.graph.ports[input.port].declared.is_none());
            self.arrive(at, input, merge, &mut parts);
        }
        let shares = self.shares(parts);
        self.loads.charge(&shares, unit.work_ns);
        let submitting = match unit.has_own_thread {
            true => ThreadShares::One(self.loads.add_thread(LoadedThreadStart::Unit(at), pe)),
            false => shares.clone(),
        };
        let is_shared = matches!(submitting, ThreadShares::Several(_));
        let carried = if is_shared {
            self.carried_to(at)
        } else {
            Vec::new()
        };
        self.carried.push(carried);
        self.loads.shares.push(shares);
        self.loads.submitting.push(submitting);
        self.loads.has_merge.push(has_merge);
        if has_merge {
            self.pay_positions(at);
        }
    }

    /// Pays for the positions of tuples on their ways from the sources to a unit with a merge.
    fn pay_positions(&mut self, merging: usize) {
        let graph = self.graph;
        let mut open = vec![merging];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut self.has_positions[at], true) {
                continue;
            }
            for input in &graph.units[at].inputs {
                open.push(input.from);
                let is_queued = self.sketch.is_queued[input.port];
                if is_queued || self.loads.has_merge[at] || self.is_far(at, input) {
                    let ns = graph.streams[input.stream].tuples * POSITION_NS;
                    let senders = self.loads.submitting[input.from].clone();
                    let receivers = self.loads.shares[at].clone();
                    self.loads.charge(&senders, ns);
                    self.loads.charge(&receivers, ns);
                }
            }
        }
    }

    /// The threads that enter a unit without a merge, with the origins that each brings.
    fn carried_to(&self, at: usize) -> CarriedOrigins {
        let all = self.all_bringing(at).into_iter();
        let threads = all.map(|(thread, origins)| {
            let queue = thread.checked_sub(QUEUE_NUMBERS);
            let queue = queue.and_then(|port| self.queues[port]);
            (queue.unwrap_or(thread), origins)
        });
        threads.collect()
    }

    fn is_far(&self, at: usize, input: &LoadInput) -> bool {
        self.sketch.pe_of[input.from] != self.sketch.pe_of[at]
    }

    /// Cost of a stream between the PEs of its ends.
    fn crossing_cost(&self, at: usize, input: &LoadInput) -> CrossingCost {
        let host = |unit: usize| self.sketch.host(self.sketch.pe_of[unit]);
        match host(at) == host(input.from) {
            true => self.costs.within[input.stream],
            false => self.costs.between[input.stream],
        }
    }

    /// The receiver of an input from another PE.
    fn receiver(&self, at: usize, input: &LoadInput) -> Option<usize> {
        let pe = self.sketch.pe_of[at];
        let mut receivers = self.receivers[input.stream].iter();
        receivers
            .find(|(of, ..)| *of == pe)
            .map(|(_, thread, _)| *thread)
    }

    /// Adds the receivers of a unit's streams from other PEs: one for each port. Senders pay here.
    fn receive(&mut self, at: usize) {
        let graph = self.graph;
        let pe = self.sketch.pe_of[at];
        let mut of_port: Option<(usize, usize)> = None;
        for input in &graph.units[at].inputs {
            if !self.is_far(at, input) {
                continue;
            }
            let known = self.receiver(at, input);
            let thread = known.unwrap_or_else(|| {
                let start = LoadedThreadStart::Receiver(input.stream);
                let thread = self.loads.add_thread(start, pe);
                let stream = &graph.streams[input.stream];
                let is_first = self.receivers[input.stream].is_empty();
                if is_first || !self.costs.is_one_to_many[input.stream] {
                    let ns = stream.tuples * self.crossing_cost(at, input).send_ns;
                    let senders = self.loads.submitting[input.from].clone();
                    self.loads.charge(&senders, ns);
                }
                self.receivers[input.stream].push((pe, thread, false));
                thread
            });
            match of_port {
                Some((port, first)) if port == input.port => self.loads.join(first, thread),
                _ => of_port = Some((input.port, thread)),
            }
        }
    }

    /// The threads that bring an input's tuples, with their origins. A queue has a number behind
    /// those of all threads, since its thread may not be there yet.
    fn bringing(&self, at: usize, input: &LoadInput) -> CarriedOrigins {
        let origins = self.graph.input_origins(input);
        let one = |thread| vec![(thread, origins.clone())];
        if self.sketch.is_queued[input.port] {
            return one(QUEUE_NUMBERS + input.port);
        }
        if let Some(receiver) = self.receiver(at, input).filter(|_| self.is_far(at, input)) {
            return one(self.loads.find(receiver));
        }
        match &self.loads.submitting[input.from] {
            ThreadShares::One(thread) => one(self.loads.find(*thread)),
            ThreadShares::Several(_) => {
                let carried = self.carried[input.from].iter().cloned();
                carried
                    .map(|(thread, origins)| (self.loads.find(thread), origins))
                    .collect()
            }
        }
    }

    /// The threads that bring a unit's tuples, each once with all origins.
    fn all_bringing(&self, at: usize) -> CarriedOrigins {
        let inputs = self.graph.units[at].inputs.iter();
        let mut all: CarriedOrigins = inputs.flat_map(|input| self.bringing(at, input)).collect();
        all.sort_by_key(|(thread, _)| *thread);
        all.dedup_by(|(thread, origins), (before, joined)| {
            let is_same = thread == before;
            if is_same {
                joined.add(origins);
            }
            is_same
        });
        all
    }

    /// Whether tuples of one origin come to a unit by several threads.
    fn needs_merge(&self, at: usize) -> bool {
        let inputs = &self.graph.units[at].inputs;
        if inputs.len() < 2 {
            return false;
        }
        let mut before = OriginBits::default();
        for (_, origins) in self.all_bringing(at) {
            if before.intersects(&origins) {
                return true;
            }
            before.add(&origins);
        }
        false
    }

    /// Brings an input's tuples to the unit: adds the threads that do, and what they pay.
    fn arrive(
        &mut self,
        at: usize,
        input: &LoadInput,
        merge: Option<usize>,
        parts: &mut Vec<(usize, f64)>,
    ) {
        let graph = self.graph;
        let tuples = graph.streams[input.stream].tuples;
        let is_far = self.is_far(at, input);
        let mut feeders = self.loads.submitting[input.from].clone();
        if is_far {
            let pe = self.sketch.pe_of[at];
            let receive_ns = tuples * self.crossing_cost(at, input).receive_ns;
            let mut receivers = self.receivers[input.stream].iter_mut();
            if let Some((_, thread, is_paid)) = receivers.find(|(of, ..)| *of == pe) {
                let thread = merge.unwrap_or(*thread);
                if !std::mem::replace(is_paid, true) {
                    self.loads.charge_thread(thread, receive_ns);
                    let thread = self.loads.find(thread);
                    self.loads.threads[thread].arrivals += tuples;
                }
                feeders = ThreadShares::One(thread);
            }
        }
        let ring = self.costs.ring[input.stream];
        let thread = match merge {
            Some(merge) if is_far => return parts.push((merge, tuples)),
            Some(merge) => merge,
            None if self.sketch.is_queued[input.port] => self.queue(input.port),
            None => {
                let own = feeders.parts().into_iter();
                return parts.extend(own.map(|(thread, part)| (thread, part * tuples)));
            }
        };
        self.loads.charge(&feeders, tuples * ring.send_ns);
        self.loads.charge_thread(thread, tuples * ring.receive_ns);
        self.loads.threads[thread].arrivals += tuples;
        parts.push((thread, tuples));
    }

    fn queue(&mut self, port: usize) -> usize {
        let pe = self.sketch.pe_of[self.graph.ports[port].unit];
        let loads = &mut self.loads;
        *self.queues[port]
            .get_or_insert_with(|| loads.add_thread(LoadedThreadStart::Queue(port), pe))
    }

    /// The parts of the threads that bring so many tuples each.
    fn shares(&self, parts: Vec<(usize, f64)>) -> ThreadShares {
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for (thread, tuples) in parts {
            let thread = self.loads.find(thread);
            match sums.iter_mut().find(|(other, _)| *other == thread) {
                Some((_, sum)) => *sum += tuples,
                None => sums.push((thread, tuples)),
            }
        }
        if let [(thread, _)] = sums[..] {
            return ThreadShares::One(thread);
        }
        let all: f64 = sums.iter().map(|(_, tuples)| tuples).sum();
        let count = sums.len() as f64;
        for (_, part) in &mut sums {
            *part = match all > 0.0 {
                true => *part / all,
                false => 1.0 / count,
            };
        }
        ThreadShares::Several(sums)
    }
}
