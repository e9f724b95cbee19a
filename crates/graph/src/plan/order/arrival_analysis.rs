//! Which threads bring what to each operator, and where two of them bring what one origin began.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{EdgeTransfer, OrderContext, OriginId};
use crate::plan::stream_consumers::InPortId;
use crate::{OperatorId, OutPortId};

/// A thread of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum JobThread {
    /// Of a source, or of an operator with a thread of its own.
    Operator(OperatorId),
    /// Of the timers of a PE.
    Timers(u32),
    /// Of a receiver of a PE.
    Receiver(u32, usize),
    /// Of a queue.
    Queue(InPortId),
    /// Of a merge, by its unit.
    Merge(usize),
}

/// A thread and an origin of what it brings.
type ThreadOrigins = BTreeSet<(JobThread, OriginId)>;

/// The ports of a unit that a merge leaves to the threads which bring them something.
///
/// A Switch that is closed, or a Gate without credit, holds up the thread that brings it a tuple
/// until another one brings what opens it. If one thread took both it would wait for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortRole {
    Control,
    Data,
}

/// What has to come in order, and where.
pub(super) struct OrderRequirement {
    /// Where it comes in.
    pub edges: Vec<(OutPortId, InPortId)>,
    /// The origins whose order counts.
    pub origins: BTreeSet<OriginId>,
}

/// Who enters what.
pub(super) struct ArrivalAnalysis<'g, 'a> {
    context: &'g OrderContext<'a>,
    /// By operator: who submits from there.
    submitted_by_operator: Vec<Rc<ThreadOrigins>>,
    /// By unit: who enters it.
    arrivals_by_unit: Vec<Rc<ThreadOrigins>>,
    /// The units that need a merge, and the origins that two threads bring them.
    pub contested_units: BTreeMap<usize, BTreeSet<OriginId>>,
    /// By unit with a merge: ports that it leaves alone.
    unmerged_roles: BTreeMap<usize, PortRole>,
    /// The receiver of each crossing in each PE.
    receiver_of: BTreeMap<(u32, u32), usize>,
}

impl<'g, 'a> ArrivalAnalysis<'g, 'a> {
    /// Of a plan in which these units have merges, whether two threads bring them an origin or not.
    pub fn new(context: &'g OrderContext<'a>, mixes: &BTreeSet<usize>) -> ArrivalAnalysis<'g, 'a> {
        let mut receiver_of = BTreeMap::new();
        for (pe, receivers) in (0..).zip(&context.receivers) {
            for (at, receiver) in receivers.iter().enumerate() {
                let crossings = receiver.crossings.iter();
                receiver_of.extend(crossings.map(|&crossing_number| ((pe, crossing_number), at)));
            }
        }
        let mut entries = ArrivalAnalysis {
            context,
            submitted_by_operator: vec![Rc::default(); context.program.operators.len()],
            arrivals_by_unit: Vec::new(),
            contested_units: BTreeMap::new(),
            unmerged_roles: BTreeMap::new(),
            receiver_of,
        };
        for unit in 0..context.origins.units.operators_of.len() {
            entries.analyse_unit(unit, mixes.contains(&unit));
        }
        entries
    }

    /// How many threads bring a unit what these origins began.
    pub fn threads_of(&self, unit: usize, origins: &BTreeSet<OriginId>) -> usize {
        let visits = self.arrivals_by_unit[unit].iter();
        let threads = visits.filter(|(_, origin)| origins.contains(origin));
        let threads: BTreeSet<_> = threads.map(|(thread, _)| *thread).collect();
        threads.len()
    }

    /// Everything that has to come in order.
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
        let all = (0..).zip(&self.context.receivers);
        let received = all.flat_map(|(pe, receivers)| receivers.iter().map(move |r| (pe, r)));
        let received = received.filter(|(_, receiver)| receiver.crossings.len() > 1);
        let received =
            received.map(|(pe, receiver)| self.receiver_requirement(pe, &receiver.crossings));
        merged.chain(relays).chain(received).collect()
    }

    /// What a queue has to bring in order if it becomes a merge: each of its streams has a ring
    /// then.
    pub fn relay_requirement(&self, to: InPortId) -> OrderRequirement {
        let edges = self.context.input_edges(to.operator);
        let edges: Vec<_> = edges.filter(|(_, port)| *port == to).collect();
        let origins = self.common_origins(&edges);
        OrderRequirement { edges, origins }
    }

    /// Whether several threads fill a queue that only the plan wants with what one origin began.
    fn is_contested_relay(&self, to: InPortId) -> bool {
        let edges = self.context.input_edges(to.operator);
        let mut edges = edges.filter(|(_, port)| *port == to).peekable();
        let is_relay = |(from, to): &(OutPortId, InPortId)| {
            matches!(self.context.transfer(*from, *to), EdgeTransfer::RelayQueue)
        };
        if !edges.peek().is_some_and(is_relay) {
            return false;
        }
        let visits = edges.flat_map(|(from, to)| match self.context.crossing_to(from, to) {
            Some(crossing_number) => self.arrivals_by_crossing(from, to, crossing_number),
            None => ThreadOrigins::clone(&self.submitted_by_operator[from.operator.0 as usize]),
        });
        contested_origins(&visits.collect()).is_some()
    }

    /// The origins that come by several of these edges.
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

    /// What a receiver has to bring in order: what several of its streams have in common.
    fn receiver_requirement(&self, pe: u32, crossings: &[u32]) -> OrderRequirement {
        let context = self.context;
        let mut count: BTreeMap<OriginId, u32> = BTreeMap::new();
        let mut edges = Vec::new();
        for &crossing_number in crossings {
            let from = context.plan.crossings[crossing_number as usize].from;
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

    /// Those of them that its merge takes.
    pub fn merged_edges(&self, unit: usize) -> impl Iterator<Item = (OutPortId, InPortId)> {
        let apart = self.unmerged_roles.get(&unit);
        let edges = self.edges_into(unit).into_iter();
        edges.filter(move |(_, to)| apart != Some(&self.port_role(*to)))
    }

    /// Whether its merge takes what comes to a port.
    pub fn merges_port(&self, unit: usize, to: InPortId) -> bool {
        self.contested_units.contains_key(&unit)
            && self.unmerged_roles.get(&unit) != Some(&self.port_role(to))
    }

    fn port_role(&self, to: InPortId) -> PortRole {
        let operator = &self.context.program.operators[to.operator.0 as usize];
        match operator.inputs[to.port as usize].is_control {
            true => PortRole::Control,
            false => PortRole::Data,
        }
    }

    /// What a merge for these origins has to leave alone: ports of one sort if nothing comes to
    /// them that comes to those of the other sort.
    fn unmerged_role(&self, unit: usize, contested: &BTreeSet<OriginId>) -> Option<PortRole> {
        let (mut control, mut data) = (BTreeSet::new(), BTreeSet::new());
        for (from, to) in self.edges_into(unit) {
            let arriving = self.context.origins.of_arrivals(from, to);
            match self.port_role(to) {
                PortRole::Control => control.extend(arriving),
                PortRole::Data => data.extend(arriving),
            }
        }
        let is_separate = !control.is_empty() && control.is_disjoint(&data);
        let apart = [(PortRole::Control, control), (PortRole::Data, data)];
        let mut apart = apart.into_iter().filter(|_| is_separate);
        let apart = apart.find(|(_, origins)| origins.is_disjoint(contested));
        apart.map(|(apart, _)| apart)
    }

    /// Works out who enters a unit and who submits from it.
    fn analyse_unit(&mut self, unit: usize, is_mix: bool) {
        let context = self.context;
        let mut visits = ThreadOrigins::new();
        for (from, to) in self.edges_into(unit) {
            visits.extend(self.arrivals(from, to));
        }
        let operators = &context.origins.units.operators_of[unit];
        visits.extend(self.arrivals_by_inner_queues(unit));
        for &id in operators {
            let operator = &context.program.operators[id.0 as usize];
            let is_inside = operators.len() > 1 && operator.has_own_thread;
            if operator.inputs.is_empty() || is_inside {
                visits.extend(self.own_thread_origin(id));
            } else if operators.len() > 1 && operator.submits_by_timer {
                visits.extend(self.timer_origin(id));
            }
        }
        if let Some(contested) = contested_origins(&visits).or(is_mix.then(BTreeSet::new)) {
            let apart = self.unmerged_role(unit, &contested);
            self.unmerged_roles.extend(apart.map(|apart| (unit, apart)));
            self.contested_units.insert(unit, contested);
            let edges = self.edges_into(unit).into_iter();
            let left = edges.filter(|(_, to)| !self.merges_port(unit, *to));
            let left: ThreadOrigins = left
                .flat_map(|(from, to)| self.arrivals(from, to))
                .collect();
            let merge = |(thread, origin)| match thread {
                _ if left.contains(&(thread, origin)) => (thread, origin),
                JobThread::Receiver(..)
                | JobThread::Merge(_)
                | JobThread::Operator(_)
                | JobThread::Timers(_) => (JobThread::Merge(unit), origin),
                JobThread::Queue(to) if context.origins.of_queue(to) == Some(origin) => {
                    (thread, origin)
                }
                JobThread::Queue(_) => (JobThread::Merge(unit), origin),
            };
            visits = visits.into_iter().map(merge).collect();
        }
        let visits = Rc::new(visits);
        self.arrivals_by_unit.push(visits.clone());
        for &id in operators {
            let operator = &context.program.operators[id.0 as usize];
            self.submitted_by_operator[id.0 as usize] = if operator.has_own_thread {
                Rc::new(self.own_thread_origin(id).into_iter().collect())
            } else if operator.submits_by_timer {
                let timed = self.timer_origin(id);
                Rc::new(visits.iter().copied().chain(timed).collect())
            } else {
                visits.clone()
            };
        }
    }

    /// Who comes to a port by a stream.
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
            EdgeTransfer::Crossing(crossing_number) => {
                self.arrivals_by_crossing(from, to, crossing_number)
            }
        }
    }

    /// The same by a crossing.
    fn arrivals_by_crossing(
        &self,
        from: OutPortId,
        to: InPortId,
        crossing_number: u32,
    ) -> ThreadOrigins {
        let pe = self
            .context
            .pe_assignment
            .pe_of(to.operator)
            .unwrap_or_default();
        let at = self.receiver_of.get(&(pe, crossing_number));
        let thread = JobThread::Receiver(pe, at.copied().unwrap_or_default());
        let origins = self.context.origins.of_stream(from).iter();
        origins.map(|&origin| (thread, origin)).collect()
    }

    /// Who comes by queues between the operators of a loop.
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

/// The origins that several threads bring, if there are any.
fn contested_origins(visits: &ThreadOrigins) -> Option<BTreeSet<OriginId>> {
    let mut threads: BTreeMap<OriginId, JobThread> = BTreeMap::new();
    let mut contested = BTreeSet::new();
    for &(thread, origin) in visits {
        if *threads.entry(origin).or_insert(thread) != thread {
            contested.insert(origin);
        }
    }
    (!contested.is_empty()).then_some(contested)
}
