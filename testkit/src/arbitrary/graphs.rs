//! Random graphs of operators, and random plans for them.
//!
//! The operators have names, ports and streams, and nothing else: it is the graph that counts.
//! There are merged ports, several output ports, several consumers of a stream, operators that
//! nothing feeds, and loops. Operators stand in any order: also in front of those that feed them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use graph::{
    CongestionPolicy, Crossing, CrossingCodec, CrossingRails, InPort, OperatorId, OperatorNode,
    OutPort, OutPortId, PeAssignment, PeId, PePlan, Pin, PinnedThread, Plan, PlanComment,
    PortIndex, Pos, Program, ThreadedPort,
};
use planner::{DisjointSets, StreamConsumers, derive};
use proptest::prelude::*;
use tuple::{TupleType, Type};

use super::choices::Choices;

/// Programs of at most so many operators, each with a plan.
pub fn programs_with_plans(operators_max: usize) -> impl Strategy<Value = (Program, Plan)> {
    let row = |len: usize| proptest::collection::vec(any::<u32>(), 0..=len);
    let rows = (
        row(operators_max * 8),
        row(operators_max),
        row(operators_max * 8),
    );
    rows.prop_map(move |(graph, order, plan)| {
        let program = in_any_order(program(&graph, operators_max), &order);
        let plan = self::plan(&program, &plan);
        (program, plan)
    })
}

/// The program that these decisions make, of one operator or more. Most operators stand behind
/// those that feed them.
pub fn program(decisions: &[u32], operators_max: usize) -> Program {
    let (outputs, inputs) = decisions.split_at(decisions.len() / 6);
    let mut choices = Choices::new(outputs);
    let mut operators: Vec<OperatorNode> = Vec::new();
    while operators.is_empty() || (!choices.are_spent() && operators.len() < operators_max) {
        operators.push(operator(operators.len(), choices.below(3)));
    }
    let mut choices = Choices::new(inputs);
    for at in 0..operators.len() {
        let ports = 0..choices.below(3);
        let ports = ports.map(|port| in_port(port, sources(&mut choices, &operators, at)));
        operators[at].inputs = ports.collect();
    }
    Program {
        name: "Main".into(),
        files: ["Main.spl".into()].into(),
        operators,
        ..Program::default()
    }
}

/// The program with its operators in the order that these decisions make; without any, as they are.
pub fn in_any_order(program: Program, decisions: &[u32]) -> Program {
    let mut choices = Choices::new(decisions);
    let count = program.operators.len();
    let mut order: Vec<usize> = (0..count).collect();
    for at in 0..count {
        order.swap(at, at + choices.below(count - at));
    }
    let mut places = vec![OperatorId(0); count];
    for (place, &at) in (0..).zip(&order) {
        places[at] = OperatorId(place);
    }
    let mut operators = Vec::with_capacity(count);
    for (line, &at) in (1..).zip(&order) {
        let mut operator = program.operators[at].clone();
        operator.pos.line = line;
        let ports = operator.inputs.iter_mut();
        for source in ports.flat_map(|port| &mut port.sources) {
            source.operator = places[source.operator.0 as usize];
        }
        operators.push(operator);
    }
    Program {
        operators,
        ..program
    }
}

/// A plan for a program: loops stay together, whatever else is at random.
pub fn plan(program: &Program, decisions: &[u32]) -> Plan {
    let mut choices = Choices::new(decisions);
    let stream_consumers = StreamConsumers::new(program);
    let mut plan = Plan {
        pes: pes(program, &stream_consumers, &mut choices),
        crossings: Vec::new(),
    };
    let pe_assignment = PeAssignment::new(&plan, program.operators.len());
    for (id, pe) in plan.pe_ids().zip(&mut plan.pes) {
        pe.pins = pins(program, id, &pe_assignment, &mut choices);
    }
    for operator in (0..program.operators.len() as u32).map(OperatorId) {
        for stream in stream_consumers.streams_of(operator) {
            plan.crossings.extend(crossings(
                stream,
                &stream_consumers,
                &pe_assignment,
                &mut choices,
            ));
        }
    }
    derive(&mut plan, program);
    plan
}

fn operator(at: usize, outputs: usize) -> OperatorNode {
    let name = match at % 4 {
        0 => format!("Inner.Op{at}"),
        1 => format!("Inner.More.Op{at}"),
        _ => format!("Op{at}"),
    };
    let outputs = (0..outputs).map(|port| OutPort::new(format!("S{at}x{port}"), schema()));
    OperatorNode {
        outputs: outputs.collect(),
        ..OperatorNode::new(
            name,
            "test::Node",
            Pos {
                file: 0,
                line: at as u32 + 1,
                column: 1,
            },
        )
    }
}

fn schema() -> Arc<TupleType> {
    Arc::new(TupleType::new([("a", Type::Int32)]))
}

fn in_port(port: usize, sources: Vec<OutPortId>) -> InPort {
    InPort::new(format!("In{port}"), schema(), sources)
}

/// Up to three streams, mostly of operators before this one.
fn sources(choices: &mut Choices<'_>, operators: &[OperatorNode], at: usize) -> Vec<OutPortId> {
    let mut sources: Vec<OutPortId> = Vec::new();
    for _ in 0..1 + choices.below(3) {
        let is_any = choices.percent(6);
        let operator = choices.below(if is_any { operators.len() } else { at.max(1) });
        let outputs = operators[operator].outputs.len();
        if outputs == 0 || (!is_any && operator == at) {
            continue;
        }
        let edge = OutPortId {
            operator: OperatorId(operator as u32),
            port: PortIndex(choices.below(outputs) as u32),
        };
        if !sources.contains(&edge) {
            sources.push(edge);
        }
    }
    sources
}

fn pes(
    program: &Program,
    stream_consumers: &StreamConsumers,
    choices: &mut Choices<'_>,
) -> Vec<PePlan> {
    let count = program.operators.len();
    let mut sets = DisjointSets::new(count);
    let mut looped: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, number) in stream_consumers.loops().into_iter().enumerate() {
        if let Some(number) = number {
            sets.join(*looped.entry(number).or_insert(at), at);
        }
    }
    let most = 1 + choices.below(count.min(5));
    let mut pes: BTreeMap<usize, PePlan> = BTreeMap::new();
    for set in sets.sets() {
        let pe = pes.entry(choices.below(most)).or_default();
        pe.operators
            .extend(set.into_iter().map(|at| OperatorId(at as u32)));
    }
    let mut pes: Vec<PePlan> = pes.into_values().collect();
    for pe in &mut pes {
        pe.operators.sort_unstable();
        pe.threaded_ports = threaded_ports(program, &pe.operators, choices);
        pe.cores = (0..choices.below(3) as u32).collect();
    }
    pes
}

fn threaded_ports(
    program: &Program,
    operators: &[OperatorId],
    choices: &mut Choices<'_>,
) -> Vec<ThreadedPort> {
    let mut threaded = Vec::new();
    for &operator in operators {
        let ports = program.operators[operator.0 as usize].inputs.len() as u32;
        for port in (0..ports).map(PortIndex) {
            if choices.percent(25) {
                threaded.push(ThreadedPort {
                    operator,
                    port,
                    congestion: *choices.one_of(&[
                        CongestionPolicy::Wait,
                        CongestionPolicy::DropFirst,
                        CongestionPolicy::DropLast,
                    ]),
                    tuples_max: 1 + choices.below(2000) as u32,
                    core: choices.percent(30).then_some(CORE),
                    is_pooled: false,
                });
            }
        }
    }
    threaded
}

/// The core of every thread that has one: those that share a receiver, and queues and streams that
/// one merge takes, share it.
const CORE: u32 = 2;

/// Some sources of a PE, and some streams that come into it.
fn pins(
    program: &Program,
    pe: PeId,
    pe_assignment: &PeAssignment,
    choices: &mut Choices<'_>,
) -> Vec<Pin> {
    let mut threads = Vec::new();
    for (id, operator) in (0..).map(OperatorId).zip(&program.operators) {
        if pe_assignment.pe_of(id) != Some(pe) {
            continue;
        }
        if operator.inputs.is_empty() {
            threads.push(PinnedThread::Source(id));
        }
        let streams = operator.inputs.iter().flat_map(|port| &port.sources);
        let streams = streams.filter(|from| pe_assignment.pe_of(from.operator) != Some(pe));
        threads.extend(streams.map(|&from| PinnedThread::Receiver(from)));
    }
    threads.sort_unstable();
    threads.dedup();
    threads.retain(|_| choices.percent(30));
    let pin = |thread| Pin { thread, core: CORE };
    threads.into_iter().map(pin).collect()
}

/// The crossings of a stream, on one medium or on two.
fn crossings(
    from: OutPortId,
    stream_consumers: &StreamConsumers,
    pe_assignment: &PeAssignment,
    choices: &mut Choices<'_>,
) -> Vec<Crossing> {
    let operator_pe = pe_assignment.pe_of(from.operator);
    let all = stream_consumers
        .consumers_of(from)
        .iter()
        .filter_map(|to| pe_assignment.pe_of(to.operator));
    let mut pes: Vec<PeId> = all.filter(|&pe| Some(pe) != operator_pe).collect();
    pes.sort_unstable();
    pes.dedup();
    let mut media: Vec<(&str, Vec<PeId>)> = Vec::new();
    for pe in pes {
        let medium = *choices.one_of(&["shm", "tcp"]);
        match media.iter_mut().find(|(name, _)| *name == medium) {
            Some((_, to)) => to.push(pe),
            None => media.push((medium, vec![pe])),
        }
    }
    let crossings = media.into_iter().map(|(medium, to)| Crossing {
        from,
        to,
        medium: medium.into(),
        medium_settings: "".into(),
        medium_reason: PlanComment::default(),
        codec: *choices.one_of(&[CrossingCodec::Facade, CrossingCodec::Normal]),
        ring_bytes: choices.percent(30).then_some(1 << 20),
        batch: choices.percent(30).then_some((25, 50, 4096)),
        rails: match choices.percent(30) {
            true => {
                let rails = [[127, 0, 0, 2], [127, 0, 0, 3]].map(IpAddr::from);
                choices
                    .one_of(&[CrossingRails::Striped(rails.into()), CrossingRails::Mptcp])
                    .clone()
            }
            false => CrossingRails::None,
        },
    });
    crossings.collect()
}
