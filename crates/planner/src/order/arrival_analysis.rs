//! The threads that bring each operator its tuples, and the operators to which two threads bring
//! tuples of one origin.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use graph::{CrossingId, InPortId, OperatorId, OriginId, OutPortId, PeId};

use super::order_context::{EdgeTransfer, OrderContext};

/// A thread of the job, by the place where it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum JobThread {
    /// The thread of a source, or of an operator with a thread of its own.
    Operator(OperatorId),
    /// The thread of a PE's timers.
    Timers(PeId),
    /// The thread of a PE's receiver, by its index there.
    Receiver(PeId, usize),
    /// The thread behind a queue.
    Queue(InPortId),
    /// The thread of a merge, by its unit.
    Merge(usize),
}

/// Threads, each with an origin of tuples that it brings.
type ThreadOrigins = BTreeSet<(JobThread, OriginId)>;

/// The two sorts of input ports, of which a merge may leave one to the threads that feed it.
///
/// A Switch that is closed, or a Gate without credit, blocks the thread that brings it a tuple
/// until another thread brings the tuple that opens it. One thread for both would wait for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortRole {
    Control,
    Data,
}

/// Edges whose tuples have to arrive in the order of some origins.
pub(super) struct OrderRequirement {
    /// The edges by which the tuples arrive.
    pub edges: Vec<(OutPortId, InPortId)>,
    /// The origins whose order counts.
    pub origins: BTreeSet<OriginId>,
}

/// The threads that enter each unit, and those from which each operator submits.
pub(super) struct ArrivalAnalysis<'g, 'a> {
    context: &'g OrderContext<'a>,
    /// By operator: the threads that submit from it.
    submitted_by_operator: Vec<Rc<ThreadOrigins>>,
    /// By unit: the threads that enter it.
    arrivals_by_unit: Vec<Rc<ThreadOrigins>>,
    /// The units that need a merge, and the origins of tuples that two threads bring them.
    pub contested_units: BTreeMap<usize, BTreeSet<OriginId>>,
    /// By unit with a merge: the ports that the merge leaves to other threads.
    unmerged_roles: BTreeMap<usize, PortRole>,
    /// The receiver of each crossing in each PE.
    receiver_of: BTreeMap<(PeId, CrossingId), usize>,
}

impl<'g, 'a> ArrivalAnalysis<'g, 'a> {
    /// Analyses a plan in which the units of `mixing_units` have merges, whether or not two threads
    /// bring them tuples of one origin.
    pub fn new(
        context: &'g OrderContext<'a>,
        mixing_units: &BTreeSet<usize>,
    ) -> ArrivalAnalysis<'g, 'a> {
        let mut receiver_of = BTreeMap::new();
        for (pe, receivers) in (0..).map(PeId).zip(&context.receivers) {
            for (at, receiver) in receivers.iter().enumerate() {
                let crossings = receiver.crossings.iter();
                receiver_of.extend(crossings.map(|&crossing_id| ((pe, crossing_id), at)));
            }
        }
        let mut arrivals = ArrivalAnalysis {
            context,
            submitted_by_operator: vec![Rc::default(); context.program.operators.len()],
            arrivals_by_unit: Vec::new(),
            contested_units: BTreeMap::new(),
            unmerged_roles: BTreeMap::new(),
            receiver_of,
        };
        for unit in 0..context.origins.units.operators_of.len() {
            arrivals.analyse_unit(unit, mixing_units.contains(&unit));
        }
        arrivals
    }

    /// The number of threads that bring a unit tuples of these origins.
    pub fn threads_of(&self, unit: usize, origins: &BTreeSet<OriginId>) -> usize {
        let arrivals = self.arrivals_by_unit[unit].iter();
        let threads = arrivals.filter(|(_, origin)| origins.contains(origin));
        let threads: BTreeSet<_> = threads.map(|(thread, _)| *thread).collect();
        threads.len()
    }

    /// All edges whose tuples have to arrive in order: into merges, into queues that several
    /// threads fill, and into receivers of several crossings.
    pub fn order_requirements(&self) -> Vec<OrderRequirement> {
        let merged = self.contested_units.iter().map(|(&unit, contested)| {
            let edges: Vec<_> = self.merged_edges(unit).collect();
            let mut origins = self.common_origins(&edges);
            origins.extend(contested);
            OrderRequirement { edges, origins }
        });
        let queues = self.context.queues.keys().copied();
        let relays = queues.filter(|&to| self.is_contested_relay(to));
        let relays = relays.map(|to| self.relay_requirement(to));
        let all = (0..).map(PeId).zip(&self.context.receivers);
        let received = all.flat_map(|(pe, receivers)| receivers.iter().map(move |r| (pe, r)));
        let received = received.filter(|(_, receiver)| receiver.crossings.len() > 1);
        let received =
            received.map(|(pe, receiver)| self.receiver_requirement(pe, &receiver.crossings));
        merged.chain(relays).chain(received).collect()
    }

    /// The edges into a queue that becomes a merge, which has a ring for each of its streams.
    pub fn relay_requirement(&self, to: InPortId) -> OrderRequirement {
        let edges = self.context.input_edges(to.operator);
        let edges: Vec<_> = edges.filter(|(_, port)| *port == to).collect();
        let origins = self.common_origins(&edges);
        OrderRequirement { edges, origins }
    }

    /// Whether several threads fill a queue that only the plan wants with tuples of one origin.
    fn is_contested_relay(&self, to: InPortId) -> bool {
        let edges = self.context.input_edges(to.operator);
        let mut edges = edges.filter(|(_, port)| *port == to).peekable();
        let is_relay = |(from, to): &(OutPortId, InPortId)| {
            matches!(self.context.transfer(*from, *to), EdgeTransfer::RelayQueue)
        };
        if !edges.peek().is_some_and(is_relay) {
            return false;
        }
        let arrivals = edges.flat_map(|(from, to)| match self.context.crossing_to(from, to) {
            Some(crossing_id) => self.arrivals_by_crossing(from, to, crossing_id),
            None => ThreadOrigins::clone(&self.submitted_by_operator[from.operator.0 as usize]),
        });
        contested_origins(&arrivals.collect()).is_some()
    }

    /// The origins whose tuples come by several of these edges.
    fn common_origins(&self, edges: &[(OutPortId, InPortId)]) -> BTreeSet<OriginId> {
        let mut count: BTreeMap<OriginId, u32> = BTreeMap::new();
        for &(from, to) in edges {
            for origin in self.context.origins.of_arrivals(from, to) {
                *count.entry(origin).or_default() += 1;
            }
        }
        let common = count.into_iter().filter(|(_, count)| *count > 1);
        common.map(|(origin, _)| origin).collect()
    }

    /// The edges that a receiver feeds, with the origins that several of its streams have in
    /// common.
    fn receiver_requirement(&self, pe: PeId, crossings: &[CrossingId]) -> OrderRequirement {
        let context = self.context;
        let mut count: BTreeMap<OriginId, u32> = BTreeMap::new();
        let mut edges = Vec::new();
        for &crossing_id in crossings {
            let from = context.plan.crossing(crossing_id).from;
            for &origin in context.origins.of_stream(from) {
                *count.entry(origin).or_default() += 1;
            }
            let consumers = context.stream_consumers.consumers_of(from).iter();
            let near = consumers.filter(|to| context.pe_assignment.pe_of(to.operator) == Some(pe));
            edges.extend(near.map(|&to| (from, to)));
        }
        let origins = count.into_iter().filter(|(_, count)| *count > 1);
        let origins = origins.map(|(origin, _)| origin).collect();
        OrderRequirement { edges, origins }
    }

    /// The edges that lead into a unit from outside.
    pub fn edges_into(&self, unit: usize) -> Vec<(OutPortId, InPortId)> {
        let context = self.context;
        let units = &context.origins.units;
        let edges = units.operators_of[unit]
            .iter()
            .flat_map(|&id| context.input_edges(id));
        let edges = edges.filter(|(from, _)| units.unit_of[from.operator.0 as usize] != unit);
        edges.collect()
    }

    /// The edges into a unit that its merge takes.
    pub fn merged_edges(&self, unit: usize) -> impl Iterator<Item = (OutPortId, InPortId)> {
        let unmerged = self.unmerged_roles.get(&unit);
        let edges = self.edges_into(unit).into_iter();
        edges.filter(move |(_, to)| unmerged != Some(&self.port_role(*to)))
    }

    /// Whether a unit has a merge that takes the tuples of one of its input ports.
    pub fn merges_port(&self, unit: usize, to: InPortId) -> bool {
        self.contested_units.contains_key(&unit)
            && self.unmerged_roles.get(&unit) != Some(&self.port_role(to))
    }

    fn port_role(&self, to: InPortId) -> PortRole {
        let operator = &self.context.program.operators[to.operator.0 as usize];
        match operator.inputs[to.port.index()].is_control {
            true => PortRole::Control,
            false => PortRole::Data,
        }
    }

    /// The sort of ports that a merge for these origins leaves to other threads: one that receives
    /// tuples of none of the origins, and has no origin in common with ports of the other sort.
    fn unmerged_role(&self, unit: usize, merged: &BTreeSet<OriginId>) -> Option<PortRole> {
        let (mut control, mut data) = (BTreeSet::new(), BTreeSet::new());
        for (from, to) in self.edges_into(unit) {
            let arriving = self.context.origins.of_arrivals(from, to);
            match self.port_role(to) {
                PortRole::Control => control.extend(arriving),
                PortRole::Data => data.extend(arriving),
            }
        }
        let is_separate = !control.is_empty() && control.is_disjoint(&data);
        let roles = [(PortRole::Control, control), (PortRole::Data, data)];
        let mut roles = roles.into_iter().filter(|_| is_separate);
        let unmerged = roles.find(|(_, origins)| origins.is_disjoint(merged));
        unmerged.map(|(role, _)| role)
    }

    /// Works out the threads that enter a unit and those that submit from it.
    fn analyse_unit(&mut self, unit: usize, is_mixing: bool) {
        let context = self.context;
        let mut entering = ThreadOrigins::new();
        for (from, to) in self.edges_into(unit) {
            entering.extend(self.arrivals(from, to));
        }
        let operators = &context.origins.units.operators_of[unit];
        entering.extend(self.arrivals_by_inner_queues(unit));
        for &id in operators {
            let operator = &context.program.operators[id.0 as usize];
            let is_inside = operators.len() > 1 && operator.has_own_thread;
            if operator.inputs.is_empty() || is_inside {
                entering.extend(self.own_thread_origin(id));
            } else if operators.len() > 1 && operator.timers.submit() {
                entering.extend(self.timer_origin(id));
            }
        }
        if let Some(contested) = contested_origins(&entering).or(is_mixing.then(BTreeSet::new)) {
            entering = self.add_merge(unit, contested, entering);
        }
        let entering = Rc::new(entering);
        self.arrivals_by_unit.push(entering.clone());
        for &id in operators {
            let operator = &context.program.operators[id.0 as usize];
            self.submitted_by_operator[id.0 as usize] = if operator.has_own_thread {
                Rc::new(self.own_thread_origin(id).into_iter().collect())
            } else if operator.timers.submit() {
                let timed = self.timer_origin(id);
                Rc::new(entering.iter().copied().chain(timed).collect())
            } else {
                entering.clone()
            };
        }
    }

    /// Gives a unit a merge for the contested origins; returns the threads that enter the unit
    /// then.
    fn add_merge(
        &mut self,
        unit: usize,
        contested: BTreeSet<OriginId>,
        entering: ThreadOrigins,
    ) -> ThreadOrigins {
        let unmerged = self.unmerged_role(unit, &contested);
        self.unmerged_roles
            .extend(unmerged.map(|role| (unit, role)));
        self.contested_units.insert(unit, contested);
        let edges = self.edges_into(unit).into_iter();
        let unmerged = edges.filter(|(_, to)| !self.merges_port(unit, *to));
        let unmerged: ThreadOrigins = unmerged
            .flat_map(|(from, to)| self.arrivals(from, to))
            .collect();
        let origins = &self.context.origins;
        let merged = |(thread, origin)| match thread {
            _ if unmerged.contains(&(thread, origin)) => (thread, origin),
            JobThread::Queue(to) if origins.of_queue(to) == Some(origin) => (thread, origin),
            _ => (JobThread::Merge(unit), origin),
        };
        entering.into_iter().map(merged).collect()
    }

    /// The threads that bring an input port the tuples of a stream.
    fn arrivals(&self, from: OutPortId, to: InPortId) -> ThreadOrigins {
        let context = self.context;
        let by = |thread: JobThread| {
            let origins = context.origins.of_arrivals(from, to).into_iter();
            origins.map(|origin| (thread, origin)).collect()
        };
        match context.transfer(from, to) {
            EdgeTransfer::FusedCall => {
                ThreadOrigins::clone(&self.submitted_by_operator[from.operator.0 as usize])
            }
            EdgeTransfer::OwnOrderQueue | EdgeTransfer::RelayQueue => by(JobThread::Queue(to)),
            EdgeTransfer::Crossing(crossing_id) => self.arrivals_by_crossing(from, to, crossing_id),
        }
    }

    /// The receiver that brings an input port a stream by a crossing, with the stream's origins.
    fn arrivals_by_crossing(
        &self,
        from: OutPortId,
        to: InPortId,
        crossing_id: CrossingId,
    ) -> ThreadOrigins {
        let pe = self.context.pe_assignment.pe_of(to.operator);
        let pe = pe.expect("a crossing leads into the PE of each consumer");
        let at = self.receiver_of.get(&(pe, crossing_id));
        let at = at.expect("each crossing has a receiver in the PE that it leads into");
        let thread = JobThread::Receiver(pe, *at);
        let origins = self.context.origins.of_stream(from).iter();
        origins.map(|&origin| (thread, origin)).collect()
    }

    /// The threads of queues between the operators of a loop, with the origins that they are.
    fn arrivals_by_inner_queues(&self, unit: usize) -> impl Iterator<Item = (JobThread, OriginId)> {
        let origins = &self.context.origins;
        let operators = origins.units.operators_of[unit].iter();
        let edges = operators.flat_map(|&id| self.context.input_edges(id));
        let inside =
            edges.filter(move |(from, _)| origins.units.unit_of[from.operator.0 as usize] == unit);
        inside.filter_map(|(_, to)| Some((JobThread::Queue(to), origins.of_queue(to)?)))
    }

    fn own_thread_origin(&self, id: OperatorId) -> Option<(JobThread, OriginId)> {
        let origin = self.context.origins.of_operator(id)?;
        Some((JobThread::Operator(id), origin))
    }

    fn timer_origin(&self, id: OperatorId) -> Option<(JobThread, OriginId)> {
        let pe = self.context.pe_assignment.pe_of(id)?;
        let origin = self.context.origins.of_operator(id)?;
        Some((JobThread::Timers(pe), origin))
    }
}

/// The origins of tuples that several threads bring; `None` if there are none.
fn contested_origins(arrivals: &ThreadOrigins) -> Option<BTreeSet<OriginId>> {
    let mut threads: BTreeMap<OriginId, JobThread> = BTreeMap::new();
    let mut contested = BTreeSet::new();
    for &(thread, origin) in arrivals {
        if *threads.entry(origin).or_insert(thread) != thread {
            contested.insert(origin);
        }
    }
    (!contested.is_empty()).then_some(contested)
}
