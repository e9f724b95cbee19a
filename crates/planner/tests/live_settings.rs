//! Settings of a plan that change while the job runs, and all else, which cannot.

use graph::{
    AUTO_MEDIUM, CrossingCodec, InPort, OperatorId, OperatorNode, OutPort, OutPortId, Plan,
    PortIndex, Pos, Program,
};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_planner::{add_missing_crossings, derive, parse_plan, with_live_settings};

/// `A -> B -> C -> D`.
fn program() -> Program {
    let edge = |operator: u32| OutPortId {
        operator: OperatorId(operator),
        port: PortIndex(0),
    };
    let operators = ["A", "B", "C", "D"];
    let operators = (0..).zip(operators).map(|(at, name)| {
        let inputs = (0..at).last().map(|before| vec![edge(before)]);
        let inputs = inputs.map(|from| InPort::new("In", Default::default(), from));
        OperatorNode {
            inputs: inputs.into_iter().collect(),
            outputs: vec![OutPort::new(format!("{name}Out"), Default::default())],
            ..OperatorNode::new(name, "test::Node", Pos::default())
        }
    });
    Program {
        name: "Main".into(),
        operators: operators.collect(),
        ..Program::default()
    }
}

const RUNNING: &str = "pe 0\noperators A B\nqueue B wait 10\npe 1\noperators C D\npool 2\n\
                       queue D dropLast 20 pooled\ncrossing B.0 -> pe 1 on shm ring 8192\n";

/// The plan of a running job, complete with crossings.
fn running() -> Plan {
    parse_plan(RUNNING, &program()).unwrap()
}

fn applied(text: &str) -> Result<Plan, String> {
    let wanted = parse_plan(text, &program()).unwrap_or_else(|error| panic!("{error}"));
    with_live_settings(&running(), &wanted, &program())
}

#[test]
fn cores_sizes_and_pools_are_taken_over() {
    let plan = applied(
        "pe 0\noperators A B\ncores 1\nsource A core 2\nqueue B wait 5000 core 3\n\
         pe 1\noperators C D\nreceiver B core 4\npool 1 elastic 8\nqueue D dropLast 1 pooled\n",
    );
    let plan = plan.unwrap();
    let [first, second] = &plan.pes[..] else {
        panic!("two processes");
    };
    assert_eq!(first.cores, [1]);
    assert_eq!(first.pins[0].core, 2);
    let queue = &first.threaded_ports[0];
    assert_eq!((queue.tuples_max, queue.core), (5000, Some(3)));
    assert_eq!(second.pins[0].core, 4);
    assert_eq!(second.pool.unwrap().to_string(), "1 elastic 8");
    assert_eq!(second.threaded_ports[0].tuples_max, 1);
    assert_eq!(plan.crossings, running().crossings);
}

#[test]
fn what_cannot_change_is_named() {
    let cases = [
        (
            "pe 0\noperators *\n",
            "the number of processes cannot change while the job runs: it is 2 there, and 1 in the \
             plan",
        ),
        (
            "pe 0\noperators A\npe 1\noperators B C D\n",
            "pe 0 of the plan has other operators than the job's; operators cannot change their \
             process while the job runs",
        ),
        (
            "pe 0\noperators A B C\nqueue B wait 10\npe 1\noperators D\n",
            "pe 0 of the plan has other operators than the job's: `C` runs elsewhere; operators \
             cannot change their process while the job runs",
        ),
        (
            "pe 0\noperators A B\nhost far\nqueue B wait 10\npe 1\noperators C D\nhost far\n",
            "pe 0 of the plan has another host; a process cannot change its host while the job runs",
        ),
        (
            "pe 0\noperators A B\nqueue B wait 10\npe 1\noperators C D\n",
            "pe 1 has a pool in one of the two plans only; pools cannot come or go while the job \
             runs",
        ),
        (
            "pe 0\noperators A B\npe 1\noperators C D\npool 2\nqueue D dropLast 20 pooled\n",
            "the plan has no queue before `B.0` in pe 0, where the job has one; queues cannot be \
             removed while it runs",
        ),
        (
            "pe 0\noperators A B\nqueue B\npe 1\noperators C D\npool 2\nqueue C\n\
             queue D dropLast 20 pooled\n",
            "the job has no queue before `C.0` in pe 1; queues cannot be added while it runs",
        ),
        (
            "pe 0\noperators A B\nqueue B\npe 1\noperators C D\npool 2\nqueue D dropLast 20\n",
            "the queue before `D.0` is pooled in one of the two plans only; that cannot change \
             while the job runs",
        ),
        (
            "pe 0\noperators A B\nqueue B dropLast\npe 1\noperators C D\npool 2\n\
             queue D dropLast 20 pooled\n",
            "the queue before `B.0` waits or drops otherwise in the plan than in the job; that \
             cannot change while the job runs",
        ),
        (
            "pe 0\noperators A B\nqueue B\npe 1\noperators C D\npool 2\n\
             queue D dropLast 20 pooled\ncrossing B -> pe 1 on rum\n",
            "`B.0` crosses otherwise in the plan than in the job; streams cannot change their \
             medium or its settings while the job runs",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(applied(text).unwrap_err(), expected, "{text}");
    }
}

proptest! {
    /// The settings of any plan change nothing of the plan itself, and others are taken over.
    #[test]
    fn settings_of_any_plan_are_taken_over(
        (program, mut plan) in graphs::programs_with_plans(12),
        tuples in 1..5000u32,
    ) {
        add_missing_crossings(&mut plan, &program, CrossingCodec::default());
        for crossing in &mut plan.crossings {
            if &*crossing.medium == AUTO_MEDIUM {
                crossing.medium = "shm".into();
            }
        }
        derive(&mut plan, &program);
        prop_assert_eq!(with_live_settings(&plan, &plan, &program), Ok(plan.clone()));
        let mut wanted = plan.clone();
        let queues = wanted.pes.iter_mut().flat_map(|pe| &mut pe.threaded_ports);
        queues.for_each(|queue| queue.tuples_max = tuples);
        derive(&mut wanted, &program);
        prop_assert_eq!(with_live_settings(&plan, &wanted, &program), Ok(wanted));
    }
}
