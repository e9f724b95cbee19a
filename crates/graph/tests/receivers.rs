//! Regions of PEs, and which streams share a receiver.

use proptest::prelude::*;
use thalweg_graph::arbitrary::graphs;
use thalweg_graph::{
    Codec, Congestion, Crossing, Edge, Flow, Homes, InPort, Logic, Medium, Operator, OperatorId,
    OutPort, Pe, Plan, Pos, Program, ThreadedPort,
};

/// A program of operators with one output port each, given what feeds their input ports.
fn program(inputs: &[&[&[u32]]]) -> Program {
    let operators = inputs.iter().enumerate().map(|(at, ports)| {
        let ports = ports.iter().map(|sources| InPort {
            name: "In".into(),
            schema: Default::default(),
            sources: sources.iter().map(|&from| stream(from)).collect(),
            window: None,
            history: 0,
            is_control: false,
        });
        Operator {
            name: format!("O{at}").into(),
            kind: "test::Node".into(),
            inputs: ports.collect(),
            outputs: vec![OutPort {
                name: format!("O{at}").into(),
                schema: Default::default(),
                calls: Vec::new(),
                assign: Vec::new(),
            }],
            params: Vec::new(),
            logic: Logic::default(),
            config: Vec::new(),
            annotations: Vec::new(),
            pos: Pos::default(),
        }
    });
    Program {
        operators: operators.collect(),
        ..Program::default()
    }
}

fn stream(from: u32) -> Edge {
    Edge {
        operator: OperatorId(from),
        port: 0,
    }
}

/// A plan of these PEs, with the crossings that they need.
fn plan(program: &Program, pes: &[&[u32]]) -> Plan {
    let pe = |operators: &&[u32]| Pe {
        operators: operators.iter().map(|&o| OperatorId(o)).collect(),
        ..Pe::default()
    };
    let mut plan = Plan {
        pes: pes.iter().map(pe).collect(),
        crossings: Vec::new(),
    };
    let (flow, homes) = (
        Flow::new(program),
        Homes::new(&plan, program.operators.len()),
    );
    for from in (0..program.operators.len() as u32).map(stream) {
        let home = homes.of(from.operator);
        let to = flow.of(from).iter().filter_map(|to| homes.of(to.operator));
        let mut to: Vec<u32> = to.filter(|&pe| Some(pe) != home).collect();
        to.sort_unstable();
        to.dedup();
        if !to.is_empty() {
            plan.crossings.push(crossing(from, to));
        }
    }
    plan.derive(program);
    plan
}

fn crossing(from: Edge, to: Vec<u32>) -> Crossing {
    Crossing {
        from,
        to,
        medium: "shm".into(),
        codec: Codec::Facade,
        ring_bytes: None,
        batch: None,
    }
}

fn links(program: &Program, plan: &Plan, pe: usize) -> Vec<Vec<u32>> {
    let receivers = plan.receivers(program);
    receivers[pe].iter().map(|r| r.links.clone()).collect()
}

fn regions(plan: &Plan, pe: usize) -> Vec<Vec<u32>> {
    let regions = plan.pes[pe].regions.iter();
    let regions = regions.map(|r| r.operators.iter().map(|o| o.0).collect());
    regions.collect()
}

#[test]
fn streams_into_one_port_share_a_receiver() {
    let program = program(&[&[], &[], &[], &[&[0, 1]], &[&[2]]]);
    let plan = plan(&program, &[&[0], &[1], &[2], &[3, 4]]);
    assert_eq!(links(&program, &plan, 3), [vec![0, 1], vec![2]]);
    assert_eq!(regions(&plan, 3), [[3], [4]]);
    assert_eq!(plan.pes[3].shared, []);
}

#[test]
fn streams_share_through_a_third() {
    // 0 and 2 feed no common port, but 1 feeds one with each of them.
    let program = program(&[&[], &[], &[], &[&[0, 1]], &[&[1, 2]]]);
    let plan = plan(&program, &[&[0, 1, 2], &[3, 4]]);
    assert_eq!(links(&program, &plan, 1), [[0, 1, 2]]);
    assert_eq!(regions(&plan, 1), [[3, 4]]);
}

#[test]
fn streams_into_two_ports_of_an_operator_have_a_receiver_each() {
    let program = program(&[&[], &[], &[&[0], &[1]]]);
    let plan = plan(&program, &[&[0], &[1], &[2]]);
    assert_eq!(links(&program, &plan, 2), [[0], [1]]);
    assert_eq!(plan.pes[2].shared, [OperatorId(2)]);
}

#[test]
fn a_stream_that_its_receiver_brings_about_has_another_one() {
    // 0 feeds 1 and 2; 1 feeds 3 in another process; 3 comes back to 2.
    let program = program(&[&[], &[&[0]], &[&[0, 3]], &[&[1]]]);
    let plan = plan(&program, &[&[0], &[1, 2], &[3]]);
    assert_eq!(links(&program, &plan, 1), [[0], [2]]);
    assert_eq!(regions(&plan, 1), [vec![1, 2], vec![2]]);
    assert_eq!(plan.pes[1].shared, [OperatorId(2)]);
}

#[test]
fn receivers_of_two_processes_do_not_wait_for_each_other() {
    // PE 1 could share 0 and 5, PE 2 could share 1 and 2; but 0 brings about 2 and 1 brings about 5.
    let inputs: &[&[&[u32]]] = &[&[], &[], &[&[0]], &[&[0, 5]], &[&[1, 2]], &[&[1]]];
    let program = program(inputs);
    let plan = plan(&program, &[&[0], &[2, 3], &[4, 5], &[1]]);
    assert_eq!(links(&program, &plan, 1), [[0, 3]]);
    assert_eq!(links(&program, &plan, 2), [[1], [2]]);
}

#[test]
fn a_threaded_port_begins_a_region() {
    let program = program(&[&[], &[&[0]], &[&[1]]]);
    let mut plan = plan(&program, &[&[0, 1, 2]]);
    assert_eq!(regions(&plan, 0), [[0, 1, 2]]);
    plan.pes[0].threaded.push(ThreadedPort {
        operator: OperatorId(2),
        port: 0,
        congestion: Congestion::Wait,
        tuples: 1,
        core: None,
    });
    plan.derive(&program);
    assert_eq!(regions(&plan, 0), [vec![0, 1], vec![2]]);
    let media = plan.pes[0].edges.iter().map(|edge| edge.medium);
    assert_eq!(media.collect::<Vec<_>>(), [Medium::Fused, Medium::Queue]);
    assert_eq!(plan.pes[0].shared, []);
}

#[test]
fn a_receiver_that_only_fills_a_queue_runs_no_operator() {
    let program = program(&[&[], &[&[0]]]);
    let mut plan = plan(&program, &[&[0], &[1]]);
    plan.pes[1].threaded.push(ThreadedPort {
        operator: OperatorId(1),
        port: 0,
        congestion: Congestion::DropLast,
        tuples: 1,
        core: None,
    });
    plan.derive(&program);
    assert_eq!(regions(&plan, 1), [[1]]);
    assert_eq!(plan.pes[1].edges[0].medium, Medium::Crossing(0));
    assert_eq!(links(&program, &plan, 1), [[0]]);
}

/// Whether a thread could come to wait for itself: a cycle among operators and receivers, but for
/// loops within a PE.
fn can_wait_for_itself(program: &Program, plan: &Plan) -> bool {
    let (flow, receivers) = (Flow::new(program), plan.receivers(program));
    let homes = Homes::new(plan, program.operators.len());
    let reaches = |pe: u32, links: &[u32]| {
        let mut seen = vec![false; program.operators.len()];
        let mut left: Vec<(u32, u32)> = Vec::new();
        let mut todo: Vec<(u32, Vec<u32>)> = vec![(pe, links.to_vec())];
        while let Some((pe, links)) = todo.pop() {
            let mut open: Vec<OperatorId> = Vec::new();
            for link in links {
                let to = flow.of(plan.crossings[link as usize].from).iter();
                open.extend(
                    to.map(|to| to.operator)
                        .filter(|&o| homes.of(o) == Some(pe)),
                );
            }
            while let Some(operator) = open.pop() {
                if std::mem::replace(&mut seen[operator.0 as usize], true) {
                    continue;
                }
                let out = flow.streams(operator).flat_map(|s| flow.of(s));
                open.extend(
                    out.map(|to| to.operator)
                        .filter(|&o| homes.of(o) == Some(pe)),
                );
                for (link, crossing) in (0..).zip(&plan.crossings) {
                    for &to in crossing
                        .to
                        .iter()
                        .filter(|_| crossing.from.operator == operator)
                    {
                        let mut all = receivers[to as usize].iter();
                        let all = all.find(|r| r.links.contains(&link)).expect("a receiver");
                        if !left.contains(&(link, to)) {
                            left.extend(all.links.iter().map(|&link| (link, to)));
                            todo.push((to, all.links.clone()));
                        }
                    }
                }
            }
        }
        left
    };
    (0..).zip(&receivers).any(|(pe, receivers)| {
        let mut receivers = receivers.iter();
        receivers.any(|r| {
            let left = reaches(pe, &r.links);
            r.links.iter().any(|&link| left.contains(&(link, pe)))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_thread_waits_for_itself((program, plan) in graphs::planned(16)) {
        prop_assert!(!can_wait_for_itself(&program, &plan), "{:?}", plan.receivers(&program));
    }

    #[test]
    fn every_crossing_has_one_receiver_in_each_of_its_pes((program, plan) in graphs::planned(16)) {
        let receivers = plan.receivers(&program);
        for (pe, receivers) in (0..).zip(&receivers) {
            let mut received: Vec<u32> = receivers.iter().flat_map(|r| r.links.clone()).collect();
            received.sort_unstable();
            let crossings = (0..).zip(&plan.crossings).filter(|(_, c)| c.to.contains(&pe));
            let links: Vec<u32> = crossings.map(|(link, _)| link).collect();
            prop_assert_eq!(received, links);
        }
    }

    #[test]
    fn what_is_not_shared_is_in_one_region((program, plan) in graphs::planned(16)) {
        for pe in &plan.pes {
            for operator in &pe.operators {
                let regions = pe.regions.iter().filter(|r| r.operators.contains(operator));
                prop_assert_eq!(regions.count() > 1, pe.is_shared(*operator));
            }
        }
        prop_assert_eq!(plan.pes.iter().map(|pe| pe.operators.len()).sum::<usize>(),
            program.operators.len());
    }
}
