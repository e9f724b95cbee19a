//! Streams that share a receiver, and the threads that follow.

use graph::{
    CongestionPolicy, Crossing, CrossingCodec, CrossingId, CrossingRails, EdgeMedium, InPort,
    InPortId, Merge, OperatorId, OperatorNode, OutPort, OutPortId, PeAssignment, PeId, PePlan,
    Plan, PlanComment, PortIndex, Pos, Program, ThreadedPort,
};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_planner::{PlanOrder, StreamConsumers, cut, derive, order, pe_threads, receivers};

/// A program of operators with one output port each, given what feeds their input ports.
fn program(inputs: &[&[&[u32]]]) -> Program {
    let operators = inputs.iter().enumerate().map(|(at, ports)| {
        let ports = ports.iter().map(|sources| {
            InPort::new(
                "In",
                Default::default(),
                sources.iter().map(|&from| stream(from)).collect(),
            )
        });
        OperatorNode {
            inputs: ports.collect(),
            outputs: vec![OutPort::new(format!("O{at}"), Default::default())],
            ..OperatorNode::new(format!("O{at}"), "test::Node", Pos::default())
        }
    });
    Program {
        operators: operators.collect(),
        ..Program::default()
    }
}

fn stream(from: u32) -> OutPortId {
    OutPortId {
        operator: OperatorId(from),
        port: PortIndex(0),
    }
}

/// A plan of these PEs, with the crossings that they need.
fn plan(program: &Program, pes: &[&[u32]]) -> Plan {
    let pe = |operators: &&[u32]| PePlan {
        operators: operators.iter().map(|&o| OperatorId(o)).collect(),
        ..PePlan::default()
    };
    let mut plan = Plan {
        pes: pes.iter().map(pe).collect(),
        crossings: Vec::new(),
    };
    let stream_consumers = StreamConsumers::new(program);
    let pe_assignment = PeAssignment::new(&plan, program.operators.len());
    for from in (0..program.operators.len() as u32).map(stream) {
        let own_pe = pe_assignment.pe_of(from.operator);
        let to = stream_consumers
            .consumers_of(from)
            .iter()
            .filter_map(|to| pe_assignment.pe_of(to.operator));
        let mut to: Vec<PeId> = to.filter(|&pe| Some(pe) != own_pe).collect();
        to.sort_unstable();
        to.dedup();
        if !to.is_empty() {
            plan.crossings.push(crossing(from, to));
        }
    }
    derive(&mut plan, program);
    plan
}

fn crossing(from: OutPortId, to: Vec<PeId>) -> Crossing {
    Crossing {
        from,
        to,
        medium: "shm".into(),
        medium_settings: "".into(),
        medium_reason: PlanComment::default(),
        codec: CrossingCodec::Facade,
        ring_bytes: None,
        batch: None,
        rails: CrossingRails::None,
    }
}

fn received(program: &Program, plan: &Plan, pe: usize) -> Vec<Vec<u32>> {
    let receivers = receivers(plan, program);
    let receivers = receivers[pe].iter();
    receivers
        .map(|r| r.crossings.iter().map(|id| id.0).collect())
        .collect()
}

/// The operators of the program that each thread of a PE enters, and those that several enter.
fn threads(program: &Program, plan: &Plan, pe: u32) -> (Vec<Vec<u32>>, Vec<u32>) {
    let part = cut(program, plan, PeId(pe));
    let found = pe_threads(&part.program, &part.pins);
    let own = |ids: &[OperatorId]| -> Vec<u32> {
        let ids = ids.iter().filter_map(|id| part.operator_ids[id.0 as usize]);
        ids.map(|id| id.0).collect()
    };
    let threads = found.threads.iter().map(|thread| own(&thread.operators));
    (threads.collect(), own(&found.shared_operators()))
}

#[test]
fn streams_into_one_port_share_a_receiver() {
    let program = program(&[&[], &[], &[], &[&[0, 1]], &[&[2]]]);
    let plan = plan(&program, &[&[0], &[1], &[2], &[3, 4]]);
    assert_eq!(received(&program, &plan, 3), [vec![0, 1], vec![2]]);
    assert_eq!(
        threads(&program, &plan, 3),
        (vec![vec![3], vec![4]], vec![])
    );
}

#[test]
fn streams_share_through_a_third() {
    // 0 and 2 feed no common port, but 1 feeds one with each of them.
    let program = program(&[&[], &[], &[], &[&[0, 1]], &[&[1, 2]]]);
    let plan = plan(&program, &[&[0, 1, 2], &[3, 4]]);
    assert_eq!(received(&program, &plan, 1), [[0, 1, 2]]);
    assert_eq!(threads(&program, &plan, 1), (vec![vec![3, 4]], vec![]));
}

#[test]
fn streams_into_two_ports_of_an_operator_have_a_receiver_each() {
    let program = program(&[&[], &[], &[&[0], &[1]]]);
    let plan = plan(&program, &[&[0], &[1], &[2]]);
    assert_eq!(received(&program, &plan, 2), [[0], [1]]);
    assert_eq!(
        threads(&program, &plan, 2),
        (vec![vec![2], vec![2]], vec![2])
    );
}

#[test]
fn a_stream_that_its_receiver_brings_about_has_another_one() {
    // 0 feeds 1 and 2; 1 feeds 3 in another process; 3 comes back to 2.
    let program = program(&[&[], &[&[0]], &[&[0, 3]], &[&[1]]]);
    let plan = plan(&program, &[&[0], &[1, 2], &[3]]);
    assert_eq!(received(&program, &plan, 1), [[0]]);
    // 2 takes both from a thread of its own, in the order of 0.
    let merges = &order(&plan, &program).merges[1];
    let inputs: Vec<_> = merges[0]
        .inputs
        .iter()
        .map(|i| (i.from, i.crossing))
        .collect();
    assert_eq!(
        inputs,
        [(stream(0), None), (stream(3), Some(CrossingId(2)))]
    );
    assert_eq!(
        threads(&program, &plan, 1),
        (vec![vec![1], vec![2]], vec![])
    );
}

#[test]
fn streams_of_one_origin_that_one_operator_takes_share_a_receiver() {
    // 0 feeds 1 and 2, and both feed 3, by two ports; 4 and 5 have another origin each.
    let inputs: &[&[&[u32]]] = &[&[], &[&[0]], &[&[0]], &[&[1], &[2]], &[], &[&[4], &[3]]];
    let program = program(inputs);
    let plan = plan(&program, &[&[0], &[1], &[2], &[3], &[4], &[5]]);
    assert_eq!(received(&program, &plan, 3), [[1, 2]]);
    assert_eq!(received(&program, &plan, 5), [[3], [4]]);
    let order = order(&plan, &program);
    let ordered: Vec<_> = (0..5)
        .map(|number| !order.origins_of_crossing(CrossingId(number)).is_empty())
        .collect();
    assert_eq!(ordered, [true, true, true, false, false]);
    assert!(order.merges.iter().all(Vec::is_empty));
}

#[test]
fn queues_that_only_the_plan_wants_keep_the_order_and_others_give_their_own() {
    // 0 feeds 1 and 2, and both feed 3, all in one process.
    let inputs: &[&[&[u32]]] = &[&[], &[&[0]], &[&[0]], &[&[1], &[2]]];
    let mut program = program(inputs);
    let mut plan = plan(&program, &[&[0, 1, 2, 3]]);
    let queue = |operator: u32, port: PortIndex, congestion| ThreadedPort {
        operator: OperatorId(operator),
        port,
        congestion,
        tuples_max: 1,
        core: None,
        is_pooled: false,
    };
    let merged = |plan: &Plan, program: &Program| -> Vec<Vec<OperatorId>> {
        let merges = &order(plan, program).merges[0];
        merges.iter().map(|merge| merge.operators.clone()).collect()
    };
    plan.pes[0].threaded_ports = vec![queue(1, PortIndex(0), CongestionPolicy::Wait)];
    assert_eq!(merged(&plan, &program), [[OperatorId(1)], [OperatorId(3)]]);
    // What drops tuples depends on speed anyway.
    plan.pes[0].threaded_ports = vec![queue(1, PortIndex(0), CongestionPolicy::DropLast)];
    assert_eq!(merged(&plan, &program), Vec::<Vec<OperatorId>>::new());
    program.operators[1].config = vec![graph::ConfigEntry {
        name: "threadedPort".into(),
        values: vec!["queue(In, Sys.Wait, 1)".into()],
        pos: Pos::default(),
    }];
    plan.pes[0].threaded_ports = vec![queue(1, PortIndex(0), CongestionPolicy::Wait)];
    assert_eq!(merged(&plan, &program), Vec::<Vec<OperatorId>>::new());
}

#[test]
fn receivers_of_two_processes_do_not_wait_for_each_other() {
    // PE 1 could share 0 and 5, PE 2 could share 1 and 2; but 0 brings about 2 and 1 brings about
    // 5.
    let inputs: &[&[&[u32]]] = &[&[], &[], &[&[0]], &[&[0, 5]], &[&[1, 2]], &[&[1]]];
    let program = program(inputs);
    let plan = plan(&program, &[&[0], &[2, 3], &[4, 5], &[1]]);
    assert_eq!(received(&program, &plan, 1), [[0, 3]]);
    assert_eq!(received(&program, &plan, 2), [[1], [2]]);
}

#[test]
fn a_thread_begins_at_a_threaded_port() {
    let program = program(&[&[], &[&[0]], &[&[1]]]);
    let mut plan = plan(&program, &[&[0, 1, 2]]);
    assert_eq!(threads(&program, &plan, 0), (vec![vec![0, 1, 2]], vec![]));
    plan.pes[0].threaded_ports.push(ThreadedPort {
        operator: OperatorId(2),
        port: PortIndex(0),
        congestion: CongestionPolicy::Wait,
        tuples_max: 1,
        core: None,
        is_pooled: false,
    });
    derive(&mut plan, &program);
    assert_eq!(
        threads(&program, &plan, 0),
        (vec![vec![0, 1], vec![2]], vec![])
    );
    let media = plan.pes[0].edges.iter().map(|edge| edge.medium);
    assert_eq!(
        media.collect::<Vec<_>>(),
        [EdgeMedium::Fused, EdgeMedium::Queue]
    );
}

#[test]
fn a_receiver_that_only_fills_a_queue_runs_no_operator() {
    let program = program(&[&[], &[&[0]]]);
    let mut plan = plan(&program, &[&[0], &[1]]);
    plan.pes[1].threaded_ports.push(ThreadedPort {
        operator: OperatorId(1),
        port: PortIndex(0),
        congestion: CongestionPolicy::DropLast,
        tuples_max: 1,
        core: None,
        is_pooled: false,
    });
    derive(&mut plan, &program);
    assert_eq!(threads(&program, &plan, 1), (vec![vec![], vec![1]], vec![]));
    assert_eq!(
        plan.pes[1].edges[0].medium,
        EdgeMedium::Crossing(CrossingId(0))
    );
    assert_eq!(received(&program, &plan, 1), [[0]]);
}

/// A thread that takes streams: a receiver or a merge of a PE, by its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ReceivingThread {
    Receiver(PeId, usize),
    Merge(PeId, usize),
}

/// The threads that take the streams of a plan.
struct ReceivingThreads<'a> {
    plan: &'a Plan,
    stream_consumers: StreamConsumers,
    pe_assignment: PeAssignment,
    order: PlanOrder,
}

impl ReceivingThreads<'_> {
    fn all(&self) -> Vec<ReceivingThread> {
        let receivers = (0..).map(PeId).zip(&self.order.receivers);
        let receivers = receivers
            .flat_map(|(pe, all)| (0..all.len()).map(move |at| ReceivingThread::Receiver(pe, at)));
        let merges = (0..).map(PeId).zip(&self.order.merges);
        let merges = merges
            .flat_map(|(pe, all)| (0..all.len()).map(move |at| ReceivingThread::Merge(pe, at)));
        receivers.chain(merges).collect()
    }

    /// The thread that takes a stream for a port; `None` for the thread that submits it.
    fn of(&self, from: OutPortId, to: InPortId) -> Option<ReceivingThread> {
        let pe = self.pe_assignment.pe_of(to.operator)?;
        let takes = |merge: &Merge| {
            let mut inputs = merge.inputs.iter();
            inputs.any(|input| input.from == from && input.consumers.contains(&to))
        };
        if let Some(at) = self.order.merges[pe.0 as usize].iter().position(takes) {
            return Some(ReceivingThread::Merge(pe, at));
        }
        let crossing = self.plan.crossing_index().get(&(from, pe)).copied();
        let crossing = crossing.filter(|_| self.pe_assignment.pe_of(from.operator) != Some(pe))?;
        let mut receivers = self.order.receivers[pe.0 as usize].iter();
        let at = receivers.position(|receiver| receiver.crossings.contains(&crossing));
        Some(ReceivingThread::Receiver(pe, at.expect("a receiver")))
    }

    /// The operators that a thread calls first, and the threads that it fills rings of.
    fn starts(&self, receiving: ReceivingThread) -> (Vec<OperatorId>, Vec<ReceivingThread>) {
        let ports: Vec<(OutPortId, InPortId)> = match receiving {
            ReceivingThread::Merge(pe, at) => {
                let inputs = self.order.merges[pe.0 as usize][at].inputs.iter();
                let consumers = inputs.flat_map(|input| &input.consumers);
                return (consumers.map(|to| to.operator).collect(), Vec::new());
            }
            ReceivingThread::Receiver(pe, at) => {
                let crossings = self.order.receivers[pe.0 as usize][at].crossings.iter();
                let streams = crossings.map(|&id| self.plan.crossing(id).from);
                let ports = streams.flat_map(|from| {
                    self.stream_consumers
                        .consumers_of(from)
                        .iter()
                        .map(move |&to| (from, to))
                });
                ports
                    .filter(|(_, to)| self.pe_assignment.pe_of(to.operator) == Some(pe))
                    .collect()
            }
        };
        let (own, others): (Vec<_>, Vec<_>) = ports
            .into_iter()
            .partition(|&(from, to)| self.of(from, to) == Some(receiving));
        let others = others
            .into_iter()
            .filter_map(|(from, to)| self.of(from, to));
        (
            own.into_iter().map(|(_, to)| to.operator).collect(),
            others.collect(),
        )
    }

    /// The threads that a thread hands something, directly.
    fn after(&self, receiving: ReceivingThread) -> Vec<ReceivingThread> {
        let (mut open, mut after) = self.starts(receiving);
        let mut seen = vec![];
        while let Some(operator) = open.pop() {
            if seen.contains(&operator) {
                continue;
            }
            seen.push(operator);
            for from in self.stream_consumers.streams_of(operator) {
                for &to in self.stream_consumers.consumers_of(from) {
                    match self.of(from, to) {
                        Some(other) => after.push(other),
                        None => open.push(to.operator),
                    }
                }
            }
        }
        after
    }
}

/// Whether a thread could come to wait for itself: a cycle among receivers and merges.
fn can_wait_for_itself(program: &Program, plan: &Plan) -> bool {
    let threads = ReceivingThreads {
        plan,
        stream_consumers: StreamConsumers::new(program),
        pe_assignment: PeAssignment::new(plan, program.operators.len()),
        order: order(plan, program),
    };
    threads.all().into_iter().any(|first| {
        let mut seen: Vec<ReceivingThread> = Vec::new();
        let mut open = threads.after(first);
        while let Some(next) = open.pop() {
            if !seen.contains(&next) {
                seen.push(next);
                open.extend(threads.after(next));
            }
        }
        seen.contains(&first)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn no_thread_waits_for_itself((program, plan) in graphs::programs_with_plans(16)) {
        prop_assert!(!can_wait_for_itself(&program, &plan), "{:?}", receivers(&plan, &program));
    }

    #[test]
    fn every_crossing_has_one_receiver_in_each_of_its_pes((program, plan) in graphs::programs_with_plans(16)) {
        let (receivers, order) = (receivers(&plan, &program), order(&plan, &program));
        for (pe, receivers) in (0..).map(PeId).zip(&receivers) {
            let mut received: Vec<CrossingId> = receivers.iter().flat_map(|r| r.crossings.clone()).collect();
            let merged = order.merges[pe.0 as usize].iter().flat_map(|merge| &merge.inputs);
            received.extend(merged.filter_map(|input| input.crossing));
            received.sort_unstable();
            let crossings = plan.crossing_ids().zip(&plan.crossings).filter(|(_, c)| c.to.contains(&pe));
            let crossings: Vec<CrossingId> = crossings.map(|(id, _)| id).collect();
            prop_assert_eq!(received, crossings);
        }
    }

    #[test]
    fn operators_that_are_not_shared_have_one_thread((program, plan) in graphs::programs_with_plans(16)) {
        for (number, pe) in (0..).zip(&plan.pes) {
            let (threads, shared) = threads(&program, &plan, number);
            for operator in &pe.operators {
                let entering = threads.iter().filter(|entered| entered.contains(&operator.0));
                prop_assert_eq!(entering.count() > 1, shared.contains(&operator.0));
            }
        }
        prop_assert_eq!(plan.pes.iter().map(|pe| pe.operators.len()).sum::<usize>(),
            program.operators.len());
    }
}
