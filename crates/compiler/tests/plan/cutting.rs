//! The programs of the processes of a plan.

use std::collections::BTreeMap;

use graph::{
    CrossingId, InPortId, OperatorId, OperatorNode, OutPortId, ParamValue, PeId, Plan, PortIndex,
    Program, inserted_operators,
};
use planner::{FusionPolicy, PeProgram, check, cut, derive, parse_plan};
use proptest::prelude::*;
use testkit::arbitrary::graphs;

use crate::{choice, planned, program};

fn parts(program: &Program, plan: &Plan) -> Vec<PeProgram> {
    let pes = 0..plan.pes.len() as u32;
    pes.map(|pe| cut(program, plan, PeId(pe))).collect()
}

/// An operator with its parameters and what feeds it.
fn brief(part: &PeProgram) -> Vec<String> {
    let operators = part.program.operators.iter();
    let brief = operators.map(|operator| {
        let inputs = operator.inputs.iter().map(|port| {
            let sources = port.sources.iter();
            let sources: Vec<_> = sources.map(|&s| part.program.stream_name(s)).collect();
            sources.join("+")
        });
        let inputs: Vec<_> = inputs.collect();
        format!("{}({})", operator.name, inputs.join("; "))
    });
    brief.collect()
}

#[test]
fn senders_and_receivers_stand_where_streams_cross() {
    let program = program(
        "stream<int32 a> A = Beacon() {}\n stream<int32 a> B = Filter(A) {}\n\
         stream<int32 a> C = Filter(A) {}\n () as D = Custom(B, C) {}",
    );
    let plan = planned(&program, &choice(FusionPolicy::None));
    let parts = parts(&program, &plan);
    let all: Vec<_> = parts.iter().map(brief).collect();
    assert_eq!(all[0], ["A()", "A -> pe 1, 2(A)"]);
    assert_eq!(all[1], ["pe 0 -> A()", "B(pe 0 -> A)", "B -> pe 3(B)"]);
    assert_eq!(all[2], ["pe 0 -> A()", "C(pe 0 -> A)", "C -> pe 3(C)"]);
    let both = "pe 1 -> B, pe 2 -> C";
    assert_eq!(
        all[3],
        [format!("{both}()"), format!("D({both}.0+{both}.1)")]
    );
    let [send, receive] = [
        &parts[0].program.operators[1],
        &parts[3].program.operators[0],
    ];
    assert_eq!(crossings_of(send), [0]);
    assert_eq!(crossings_of(receive), [1, 2]);
    assert_eq!(&*receive.outputs[1].name, "C");
    assert_eq!(send.pos, program.operators[0].pos);
    assert_eq!(parts[2].received_crossings, [(CrossingId(0), 1)]);
    assert_eq!(parts[2].sent_crossings, [CrossingId(2)]);
    assert_eq!(parts[2].operator_ids, [None, Some(OperatorId(2)), None]);
}

#[test]
fn a_queue_stands_before_its_port() {
    let program = program(
        "stream<int32 a> A = Beacon() {}\n stream<int32 a> B = Filter(A) {}\n\
         () as C = Custom(A; B as X) {}",
    );
    let mut plan = planned(&program, &choice(FusionPolicy::All));
    plan.pes[0].threaded_ports.push(graph::ThreadedPort {
        operator: OperatorId(2),
        port: PortIndex(1),
        congestion: graph::CongestionPolicy::DropFirst,
        tuples_max: 10,
        core: Some(1),
        is_pooled: false,
    });
    derive(&mut plan, &program);
    let part = cut(&program, &plan, PeId(0));
    assert_eq!(
        brief(&part),
        ["A()", "B(A)", "queue of C.1(B)", "C(A; queue of C.1)"]
    );
    let queue = &part.program.operators[2];
    let params: Vec<_> = queue
        .params
        .iter()
        .map(|p| format!("{:?}", p.value))
        .collect();
    assert_eq!(params.len(), 3);
    assert!(params[0].contains("Uint32(10)"), "{}", params[0]);
    assert!(
        params[1].contains("Literals([\"dropFirst\"])"),
        "{}",
        params[1]
    );
    assert!(params[2].contains("Uint32(1)"), "{}", params[2]);
    let threads = planner::pe_threads(&part.program, &part.pins).threads;
    let entered: Vec<_> = threads.iter().map(|thread| &thread.operators[..]).collect();
    let ids: Vec<OperatorId> = (0..4).map(OperatorId).collect();
    assert_eq!(entered, [&ids[..], &ids[3..]]);
    assert_eq!(threads[1].core, Some(1));
    assert_eq!(crate::shared(&part), [OperatorId(2)]);
}

fn crossings_of(operator: &OperatorNode) -> Vec<u32> {
    let Some(ParamValue::Exprs(exprs)) = operator.param("crossing").map(|p| &p.value) else {
        panic!("{} has crossings", operator.name);
    };
    let numbers = exprs.iter().map(|expr| match &expr.kind {
        graph::ExprKind::Const(tuple::Value::Uint32(crossing_number)) => *crossing_number,
        other => panic!("{other:?} is no crossing"),
    });
    numbers.collect()
}

/// An input port of the whole program, and what feeds it.
type Fed = BTreeMap<InPortId, Vec<OutPortId>>;

/// The feeds of every port, put together from the parts again.
fn merged(plan: &Plan, parts: &[PeProgram]) -> Fed {
    let mut fed = Fed::new();
    for part in parts {
        for (operator, origin) in part.program.operators.iter().zip(&part.operator_ids) {
            let Some(origin) = *origin else { continue };
            for (port, input) in (0..).map(PortIndex).zip(&operator.inputs) {
                let sources = input.sources.iter();
                let sources = sources.flat_map(|&from| behind(plan, parts, part, from));
                let to = InPortId {
                    operator: origin,
                    port,
                };
                let before = fed.insert(to, sources.collect());
                assert_eq!(before, None, "an operator is in one part");
            }
        }
    }
    fed
}

/// The streams of the program that are behind an edge of a part.
fn behind(plan: &Plan, parts: &[PeProgram], part: &PeProgram, edge: OutPortId) -> Vec<OutPortId> {
    let at = edge.operator.0 as usize;
    let operator = &part.program.operators[at];
    match (&*operator.kind, part.operator_ids[at]) {
        (_, Some(operator)) => vec![OutPortId { operator, ..edge }],
        (inserted_operators::QUEUE | inserted_operators::ORDERED_CALL, _) => {
            let sources = operator.inputs[0].sources.iter();
            sources
                .flat_map(|&from| behind(plan, parts, part, from))
                .collect()
        }
        (inserted_operators::RECEIVE, _) => {
            let crossing_number = crossings_of(operator)[edge.port.index()];
            let Some(crossing) = plan.crossings.get(crossing_number as usize) else {
                let (_, sender) = sender(std::slice::from_ref(part), crossing_number);
                return behind(plan, parts, part, sender);
            };
            let (from, sender) = sender(parts, crossing_number);
            let sent = behind(plan, parts, from, sender);
            assert_eq!(sent, [crossing.from]);
            sent
        }
        (kind, _) => panic!("{kind} has no output"),
    }
}

/// The part that sends a crossing, and the stream that it sends there.
fn sender(parts: &[PeProgram], crossing_number: u32) -> (&PeProgram, OutPortId) {
    let all = parts.iter().flat_map(|part| {
        let operators = part.program.operators.iter();
        operators.map(move |operator| (part, operator))
    });
    let mut senders = all.filter(|(_, o)| {
        &*o.kind == inserted_operators::SEND && crossings_of(o) == [crossing_number]
    });
    let (part, operator) = senders.next().expect("a sender");
    assert!(senders.next().is_none(), "one sender a crossing");
    (part, operator.inputs[0].sources[0])
}

/// The consumers that a stream of a part calls directly, as the whole program numbers them.
fn called(part: &PeProgram, stream: OutPortId) -> Vec<(OperatorId, PortIndex)> {
    let flow = planner::StreamConsumers::new(&part.program);
    let consumers = flow.consumers_of(stream).iter();
    consumers
        .filter_map(|to| Some((part.operator_ids[to.operator.0 as usize]?, to.port)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn the_parts_are_the_program((program, plan) in graphs::programs_with_plans(14)) {
        let parts = parts(&program, &plan);
        let operators = (0..).map(OperatorId).zip(&program.operators);
        let whole = operators.flat_map(|(operator, node)| {
            let inputs = (0..).map(PortIndex).zip(&node.inputs);
            inputs.map(move |(port, input)| (InPortId { operator, port }, input.sources.clone()))
        });
        prop_assert_eq!(merged(&plan, &parts), whole.collect::<Fed>());
        let names = parts.iter().flat_map(|part| &part.program.operators);
        let names: Vec<_> = names.map(|operator| operator.name.clone()).collect();
        for operator in &program.operators {
            let times = names.iter().filter(|name| **name == operator.name).count();
            prop_assert_eq!(times, 1, "{}", operator.name);
        }
    }

    #[test]
    fn direct_calls_keep_their_order((program, plan) in graphs::programs_with_plans(14)) {
        for part in parts(&program, &plan) {
            for (number, origin) in part.operator_ids.iter().enumerate() {
                let Some(origin) = origin else { continue };
                let ports = program.operators[origin.0 as usize].outputs.len() as u32;
                for port in (0..ports).map(PortIndex) {
                    let new = OutPortId { operator: OperatorId(number as u32), port };
                    let called = called(&part, new);
                    let mut sorted = called.clone();
                    sorted.sort_unstable();
                    prop_assert_eq!(called, sorted);
                }
            }
        }
    }

    #[test]
    fn one_process_without_queues_runs_the_program_itself((program, _) in graphs::programs_with_plans(14)) {
        let plan = planned(&program, &choice(FusionPolicy::All));
        let part = cut(&program, &plan, PeId(0));
        prop_assert_eq!(format!("{:?}", part.program), format!("{program:?}"));
    }

    #[test]
    fn inserted_operators_have_names_of_their_own((program, plan) in graphs::programs_with_plans(14)) {
        for part in parts(&program, &plan) {
            let mut names: Vec<_> = part.program.operators.iter().map(|o| o.name.clone()).collect();
            names.sort();
            let count = names.len();
            names.dedup();
            prop_assert_eq!(names.len(), count, "{:?}", names);
        }
    }
}

/// Sources and receivers, by their names.
#[test]
fn pinned_threads_keep_their_cores() {
    let program = program(
        "stream<int32 a> A = Beacon() {}\n stream<int32 a> B = Beacon() {}\n\
         stream<int32 a> C = Filter(A) {}\n () as D = Custom(B, C) {}",
    );
    let text = "pe 0\n operators A B\n source B core 4\n\
                pe 1\n operators *\n receiver B core 5\n receiver A core 6\n";
    let written = parse_plan(text, &program).expect("a plan");
    let plan = planned(&program, &choice(FusionPolicy::Text(&written)));
    assert_eq!(check(&plan, &program), Ok(()));
    let pinned = parts(&program, &plan).into_iter().map(|part| {
        let pins = part.pins.iter();
        let name = |number: u32| part.program.operators[number as usize].name.to_string();
        pins.map(|&(number, core)| (name(number), core)).collect()
    });
    let pinned: Vec<Vec<(String, u32)>> = pinned.collect();
    let own = |name: &str, core| (name.to_owned(), core);
    assert_eq!(pinned[0], [own("B", 4)]);
    assert_eq!(pinned[1], [own("pe 0 -> A", 6), own("pe 0 -> B", 5)]);
}
