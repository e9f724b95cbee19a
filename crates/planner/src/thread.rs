//! Threaded ports: which input ports have a queue and a thread of their own.
//!
//! Config `threadedPort` says it of a port. `@threading` says it of operators and of whatever is in
//! a composite; for the others the choice for the job does:
//!
//! A channel of a parallel region begins with a thread where one process holds the splitter too,
//! and so does what a ThreadedSplit feeds.
//!
//! | model | |
//! | --- | --- |
//! | `manual` | only ports that config names |
//! | `dedicated` | every input port, control ports too |
//! | `dynamic` | a shared scheduler, which is not there: as `dedicated`, with a note |
//! | `automatic` | `manual` where a process has threads enough, else `dynamic` |
//!
//! A process has threads enough if its sources, receivers and threaded ports are a quarter of its
//! operators, or half of the machine's cores.
//!
//! # Where no thread is added
//! * At a port whose own receiver brings it everything and nothing to another operator: the
//!   receiver's thread is the port's.
//! * At a port that a loop comes back to. A queue there could be full of what its own thread is to
//!   take. Config may ask for one all the same.

use std::collections::HashSet;

use graph::{
    CongestionPolicy, InPortId, OperatorId, OperatorNode, PeAssignment, PePlan, Plan, PlanOrder,
    Program, ReceiverPlan, StreamConsumers, ThreadedPort,
};
use tuple::Value;

use super::{PlanOptions, ThreadingPolicy};

/// Tuples that a queue holds if nobody says how many: the default of SPL.
const THREADED_QUEUE_TUPLES: u32 = 1000;

/// The annotation of operators whose consumers have threads: of splitters, which the compiler puts
/// before parallel regions, and of those whose model says so.
pub const SPLITTER: &str = "splitter";

/// Adds threaded ports to those that a plan has.
pub(super) fn add(
    program: &Program,
    options: &PlanOptions<'_>,
    stream_consumers: &StreamConsumers,
    plan: &mut Plan,
) {
    let PlanOrder {
        receivers, merges, ..
    } = without_queues(plan).order(program);
    let threads = ThreadPlanner {
        program,
        options,
        loops: stream_consumers.loops(),
        exclusive: exclusive_ports(program, stream_consumers, plan, &receivers),
    };
    for ((pe, receivers), merges) in plan.pes.iter_mut().zip(receivers).zip(merges) {
        let mut ports = threads.explicit_ports(pe);
        pe.threaded_ports.append(&mut ports);
        let is_enough = threads.has_enough_threads(pe, receivers.len() + merges.len());
        let mut ports = threads.automatic_ports(pe, is_enough);
        pe.threaded_ports.append(&mut ports);
        pe.threaded_ports
            .sort_by_key(|queue| (queue.operator, queue.port));
    }
}

/// Which ports need no thread does not depend on those that have one.
fn without_queues(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.pes.iter_mut().for_each(|pe| pe.threaded_ports.clear());
    plan
}

/// The threading model of an operator: its own, or that of the job.
pub(super) fn threading_model(
    operator: &OperatorNode,
    options: &PlanOptions<'_>,
) -> ThreadingPolicy {
    let annotation = operator.annotations.iter();
    let annotation = annotation.rev().find(|(name, _)| &**name == "threading");
    let keys = annotation.map_or(&[][..], |(_, keys)| keys);
    let model = keys.iter().find(|(key, _)| &**key == "model");
    let Some((_, Value::RString(model))) = model else {
        return options.threading;
    };
    match &*model.0 {
        b"manual" => ThreadingPolicy::Manual,
        b"dedicated" => ThreadingPolicy::Dedicated,
        b"automatic" => ThreadingPolicy::Automatic,
        b"dynamic" => ThreadingPolicy::Dynamic,
        _ => options.threading,
    }
}

/// The threaded ports that config of an operator asks for.
pub(super) fn configured_ports(
    id: OperatorId,
    operator: &OperatorNode,
) -> impl Iterator<Item = ThreadedPort> {
    let entries = operator.config.iter();
    let entries = entries.filter(|entry| &*entry.name == "threadedPort");
    let values = entries.flat_map(|entry| &entry.values);
    values.filter_map(move |value| queue(id, operator, value))
}

/// The ports whose own receivers bring them everything, and nothing to any other operator.
fn exclusive_ports(
    program: &Program,
    stream_consumers: &StreamConsumers,
    plan: &Plan,
    receivers: &[Vec<ReceiverPlan>],
) -> HashSet<InPortId> {
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let mut alone = HashSet::new();
    for (number, receivers) in (0..).zip(receivers) {
        for receiver in receivers {
            let links = receiver.crossings.iter();
            let streams = links.map(|&link| plan.crossings[link as usize].from);
            let fed = streams.flat_map(|stream| stream_consumers.consumers_of(stream));
            let mut fed: Vec<InPortId> = fed
                .filter(|to| pe_assignment.pe_of(to.operator) == Some(number))
                .copied()
                .collect();
            fed.sort_unstable();
            let Some(only) = fed.first().map(|to| to.operator) else {
                continue;
            };
            if fed.iter().any(|to| to.operator != only) {
                continue;
            }
            let inputs = &program.operators[only.0 as usize].inputs;
            let ports = fed.chunk_by(|a, b| a == b);
            let ports =
                ports.filter(|port| inputs[port[0].port as usize].sources.len() == port.len());
            alone.extend(ports.map(|port| port[0]));
        }
    }
    alone
}

struct ThreadPlanner<'a> {
    program: &'a Program,
    options: &'a PlanOptions<'a>,
    loops: Vec<Option<u32>>,
    exclusive: HashSet<InPortId>,
}

impl ThreadPlanner<'_> {
    /// The ports of a PE that config names.
    fn explicit_ports(&self, pe: &PePlan) -> Vec<ThreadedPort> {
        let all = pe.operators.iter();
        let queues = all.flat_map(|&id| configured_ports(id, self.operator(id)));
        queues.filter(|queue| is_new(pe, queue)).collect()
    }

    /// The ports of a PE that get a thread by the models of their operators.
    fn automatic_ports(&self, pe: &PePlan, is_enough: bool) -> Vec<ThreadedPort> {
        let mut queues = Vec::new();
        for &operator in &pe.operators {
            let is_threaded = match threading_model(self.operator(operator), self.options) {
                ThreadingPolicy::Manual => false,
                ThreadingPolicy::Automatic => !is_enough,
                ThreadingPolicy::Dedicated | ThreadingPolicy::Dynamic => true,
            };
            let ports = 0..self.operator(operator).inputs.len() as u32;
            let begins = |&port: &u32| is_threaded || self.begins_channel(operator, port);
            let ports = ports.filter(begins);
            let ports = ports.filter(|&port| self.may_thread(operator, port));
            let queue = |port| ThreadedPort {
                operator,
                port,
                congestion: CongestionPolicy::Wait,
                tuples_max: THREADED_QUEUE_TUPLES,
                core: None,
            };
            queues.extend(ports.map(queue).filter(|queue| is_new(pe, queue)));
        }
        queues
    }

    /// Whether a port is where a channel of a parallel region begins.
    fn begins_channel(&self, operator: OperatorId, port: u32) -> bool {
        let sources = &self.operator(operator).inputs[port as usize].sources;
        let mut annotations = sources
            .iter()
            .flat_map(|from| &self.operator(from.operator).annotations);
        annotations.any(|(name, _)| &**name == SPLITTER)
    }

    /// Whether a port may get a thread unasked.
    fn may_thread(&self, operator: OperatorId, port: u32) -> bool {
        let number = self.loops[operator.0 as usize];
        let sources = &self.operator(operator).inputs[port as usize].sources;
        let mut loops = sources
            .iter()
            .map(|from| self.loops[from.operator.0 as usize]);
        let is_fed_back = number.is_some() && loops.any(|other| other == number);
        !is_fed_back
            && !sources.is_empty()
            && !self.exclusive.contains(&InPortId { operator, port })
    }

    /// Whether a PE has threads enough without those of the models; so many bring in its streams.
    fn has_enough_threads(&self, pe: &PePlan, bringing: usize) -> bool {
        let sources = pe.operators.iter().map(|&id| self.operator(id));
        let sources = sources
            .filter(|operator| operator.inputs.is_empty())
            .count();
        let threads = sources + bringing + pe.threaded_ports.len();
        threads * 4 >= pe.operators.len() || threads * 2 >= self.options.cores.max(1) as usize
    }

    fn operator(&self, id: OperatorId) -> &OperatorNode {
        &self.program.operators[id.0 as usize]
    }
}

fn is_new(pe: &PePlan, queue: &ThreadedPort) -> bool {
    let place = (queue.operator, queue.port);
    pe.threaded_ports
        .iter()
        .all(|other| (other.operator, other.port) != place)
}

/// `queue(In, Sys.Wait, 1000)`, as config has it.
fn queue(id: OperatorId, operator: &OperatorNode, value: &str) -> Option<ThreadedPort> {
    let inner = value.strip_prefix("queue(")?.strip_suffix(')')?;
    let mut parts = inner.split(", ");
    let port = parts.next()?;
    let port = operator
        .inputs
        .iter()
        .position(|input| &*input.name == port)?;
    Some(ThreadedPort {
        operator: id,
        port: port as u32,
        congestion: match parts.next()? {
            "Sys.DropFirst" => CongestionPolicy::DropFirst,
            "Sys.DropLast" => CongestionPolicy::DropLast,
            _ => CongestionPolicy::Wait,
        },
        tuples_max: parts.next().and_then(|size| size.parse().ok())?,
        core: None,
    })
}
