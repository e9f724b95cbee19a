//! Threaded ports: the input ports that have a queue, and a thread of their own or of a pool.
//!
//! Config `threadedPort` names such ports. `@threading` gives a threading model to an operator, or
//! to all operators of a composite; the options for the job give one to all others:
//!
//! | model | threaded ports |
//! | --- | --- |
//! | `manual` | only ports that config names |
//! | `dedicated` | every input port, control ports too |
//! | `dynamic` | every input port, control ports too; a pool of threads runs their queues |
//! | `automatic` | `manual` where a process has threads enough, else `dynamic` |
//!
//! A channel of a parallel region begins with a threaded port if its splitter is in the same
//! process, and so does each consumer of a ThreadedSplit. It has a thread of its own unless the
//! operator's model is `dynamic`.
//!
//! A process has threads enough if its sources, receivers and threaded ports are a quarter of its
//! operators, or half of the machine's cores; but not if more channels begin in it than the machine
//! has cores.
//!
//! # The pool
//! A process has one pool. It begins with the largest number that `threads` of an operator with a
//! pooled queue says; without one, with as many threads as there are pooled queues, at most one for
//! each core. Unless each of these operators says `elastic = false`, it may grow to as many, and
//! shrink to one.
//!
//! # Where no thread is added
//! * At a port whose receiver brings it all its tuples, and nothing to any other operator: the
//!   receiver's thread is the port's.
//! * At a port that a loop comes back to: a full queue there would block the thread that empties
//!   it. Config may ask for one all the same.

use std::collections::HashSet;

use graph::{
    CongestionPolicy, InPort, InPortId, OperatorId, OperatorNode, PeAssignment, PeId, PePlan, Plan,
    PortIndex, Program, ReceiverPlan, ThreadPool, ThreadedPort,
};
use tuple::Value;

use crate::choice::{PlanOptions, ThreadingPolicy};
use crate::order::{PlanOrder, order};
use crate::streams::StreamConsumers;

/// Tuples that a queue holds at most if config does not give a number: the default of SPL.
const THREADED_QUEUE_TUPLES: u32 = 1000;

/// Name of the annotation of operators whose consumers have threads: splitters, which the compiler
/// puts before parallel regions, and operators whose model asks for it.
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
    } = order(&without_queues(plan), program);
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
        pe.pool = pe.pool.or_else(|| threads.pool(pe));
    }
}

/// A copy of a plan without its queues: they do not change which ports need no thread.
fn without_queues(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.pes.iter_mut().for_each(|pe| pe.threaded_ports.clear());
    plan
}

/// The value of a key of an operator's innermost `@threading`.
fn threading_value<'o>(operator: &'o OperatorNode, wanted: &str) -> Option<&'o Value> {
    let mut annotations = operator.annotations.iter().rev();
    let (_, keys) = annotations.find(|(name, _)| &**name == "threading")?;
    let value = keys.iter().find(|(key, _)| &**key == wanted);
    value.map(|(_, value)| value)
}

/// The threading model of an operator: its own, or else the job's.
fn threading_model(operator: &OperatorNode, options: &PlanOptions<'_>) -> ThreadingPolicy {
    let Some(Value::RString(model)) = threading_value(operator, "model") else {
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

/// The ports whose receivers bring them all their tuples, and nothing to any other operator.
fn exclusive_ports(
    program: &Program,
    stream_consumers: &StreamConsumers,
    plan: &Plan,
    receivers: &[Vec<ReceiverPlan>],
) -> HashSet<InPortId> {
    let pe_assignment = PeAssignment::new(plan, program.operators.len());
    let mut exclusive = HashSet::new();
    for (pe, receivers) in (0..).map(PeId).zip(receivers) {
        for receiver in receivers {
            let crossings = receiver.crossings.iter();
            let streams = crossings.map(|&id| plan.crossing(id).from);
            let fed = streams.flat_map(|stream| stream_consumers.consumers_of(stream));
            let mut fed: Vec<InPortId> = fed
                .filter(|to| pe_assignment.pe_of(to.operator) == Some(pe))
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
                ports.filter(|port| inputs[port[0].port.index()].sources.len() == port.len());
            exclusive.extend(ports.map(|port| port[0]));
        }
    }
    exclusive
}

struct ThreadPlanner<'a> {
    program: &'a Program,
    options: &'a PlanOptions<'a>,
    loops: Vec<Option<u32>>,
    exclusive: HashSet<InPortId>,
}

impl ThreadPlanner<'_> {
    /// The queues of a PE that config asks for.
    fn explicit_ports(&self, pe: &PePlan) -> Vec<ThreadedPort> {
        let all = pe.operators.iter();
        let queues = all.flat_map(|&id| configured_ports(id, self.operator(id)));
        queues.filter(|queue| is_new(pe, queue)).collect()
    }

    /// The queues of a PE that the threading models of its operators ask for.
    fn automatic_ports(&self, pe: &PePlan, is_enough: bool) -> Vec<ThreadedPort> {
        let mut queues = Vec::new();
        for &operator in &pe.operators {
            let (is_threaded, is_pooled) =
                match threading_model(self.operator(operator), self.options) {
                    ThreadingPolicy::Manual => (false, false),
                    ThreadingPolicy::Automatic => (!is_enough, !is_enough),
                    ThreadingPolicy::Dedicated => (true, false),
                    ThreadingPolicy::Dynamic => (true, true),
                };
            let ports = (0..self.operator(operator).inputs.len() as u32).map(PortIndex);
            let begins = |&port: &PortIndex| {
                let input = &self.operator(operator).inputs[port.index()];
                is_threaded || begins_channel(self.program, input)
            };
            let ports = ports.filter(begins);
            let ports = ports.filter(|&port| self.may_thread(operator, port));
            let queue = |port| ThreadedPort {
                is_pooled,
                ..waiting_queue(InPortId { operator, port })
            };
            queues.extend(ports.map(queue).filter(|queue| is_new(pe, queue)));
        }
        queues
    }

    /// Whether a port may get a thread that config does not ask for.
    fn may_thread(&self, operator: OperatorId, port: PortIndex) -> bool {
        let number = self.loops[operator.0 as usize];
        let sources = &self.operator(operator).inputs[port.index()].sources;
        let mut loops = sources
            .iter()
            .map(|from| self.loops[from.operator.0 as usize]);
        let is_fed_back = number.is_some() && loops.any(|other| other == number);
        !is_fed_back
            && !sources.is_empty()
            && !self.exclusive.contains(&InPortId { operator, port })
    }

    /// The pool for the pooled queues of a PE, if there are any.
    fn pool(&self, pe: &PePlan) -> Option<ThreadPool> {
        let cores = self.options.cores.max(1);
        let pooled = pe.threaded_ports.iter().filter(|queue| queue.is_pooled);
        let operators = pooled.clone().map(|queue| self.operator(queue.operator));
        let count = u32::try_from(pooled.count()).unwrap_or(u32::MAX);
        let wanted = operators.clone().filter_map(|operator| {
            let Some(Value::Int32(threads)) = threading_value(operator, "threads") else {
                return None;
            };
            u32::try_from(*threads).ok()
        });
        let threads = wanted.max().unwrap_or(count.min(cores)).max(1);
        let is_fixed = |operator: &OperatorNode| {
            threading_value(operator, "elastic") == Some(&Value::Boolean(false))
        };
        let is_elastic = !operators.clone().all(is_fixed);
        (count > 0).then_some(ThreadPool {
            threads,
            elastic_max: is_elastic.then_some(threads.max(count.min(cores))),
        })
    }

    /// Whether a PE has threads enough without those that models ask for; `receiving` counts its
    /// receivers and merges.
    fn has_enough_threads(&self, pe: &PePlan, receiving: usize) -> bool {
        let channels = pe.operators.iter().flat_map(|&operator| {
            let ports = (0..self.operator(operator).inputs.len() as u32).map(PortIndex);
            ports.filter(move |&port| {
                let input = &self.operator(operator).inputs[port.index()];
                begins_channel(self.program, input)
            })
        });
        if channels.count() > self.options.cores.max(1) as usize {
            return false;
        }
        let sources = pe.operators.iter().map(|&id| self.operator(id));
        let sources = sources
            .filter(|operator| operator.inputs.is_empty())
            .count();
        let threads = sources + receiving + pe.threaded_ports.len();
        threads * 4 >= pe.operators.len() || threads * 2 >= self.options.cores.max(1) as usize
    }

    fn operator(&self, id: OperatorId) -> &OperatorNode {
        &self.program.operators[id.0 as usize]
    }
}

/// A queue of the default size at a port, whose senders wait when it is full.
pub(super) fn waiting_queue(port: InPortId) -> ThreadedPort {
    ThreadedPort {
        operator: port.operator,
        port: port.port,
        congestion: CongestionPolicy::Wait,
        tuples_max: THREADED_QUEUE_TUPLES,
        core: None,
        is_pooled: false,
    }
}

/// Whether a port is where a channel of a parallel region begins.
pub(super) fn begins_channel(program: &Program, input: &InPort) -> bool {
    let from = input.sources.iter().map(|from| from.operator.0 as usize);
    let mut annotations = from.flat_map(|at| &program.operators[at].annotations);
    annotations.any(|(name, _)| &**name == SPLITTER)
}

/// Whether the port of a queue has none in a PE yet.
fn is_new(pe: &PePlan, queue: &ThreadedPort) -> bool {
    let mut ports = pe.threaded_ports.iter().map(ThreadedPort::in_port);
    ports.all(|port| port != queue.in_port())
}

/// The queue that a value of config `threadedPort` asks for: `queue(In, Sys.Wait, 1000)`.
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
        port: PortIndex(port as u32),
        congestion: match parts.next()? {
            "Sys.DropFirst" => CongestionPolicy::DropFirst,
            "Sys.DropLast" => CongestionPolicy::DropLast,
            _ => CongestionPolicy::Wait,
        },
        tuples_max: parts.next().and_then(|size| size.parse().ok())?,
        core: None,
        is_pooled: false,
    })
}
