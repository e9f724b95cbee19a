//! Operators that a plan calls shared: exactly those that several threads of its regions enter.

use std::collections::BTreeSet;
use std::fs;

use graph::{OperatorId, PeAssignment, Plan, Program, inserted_operators};
use planner::{FusionPolicy, PeProgram, PlanOptions, StreamConsumers, ThreadingPolicy, cut};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_compiler as compiler;

use crate::{choice, planned, support};

/// The operators that several threads of a part enter, found by following each thread.
fn entered(part: &PeProgram) -> Vec<OperatorId> {
    let flow = StreamConsumers::new(&part.program);
    let operators = &part.program.operators;
    let is_queue = |at: u32| &*operators[at as usize].kind == inserted_operators::QUEUE;
    let mut entered = vec![0; operators.len()];
    for start in 0..operators.len() as u32 {
        if !operators[start as usize].inputs.is_empty() && !is_queue(start) {
            continue;
        }
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            entered[at as usize] += 1;
            for to in flow
                .streams_of(OperatorId(at))
                .flat_map(|s| flow.consumers_of(s))
            {
                let next = to.operator.0;
                if !is_queue(next) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
    }
    let several = (0..operators.len()).filter(|&at| entered[at] > 1);
    several.filter_map(|at| part.operator_ids[at]).collect()
}

fn is_proven(program: &Program, plan: &Plan) {
    for (number, pe) in (0..).zip(&plan.pes) {
        let part = cut(program, plan, number);
        assert_eq!(
            entered(&part),
            pe.shared_operators,
            "{}",
            plan.display(program)
        );
    }
}

/// The programs of the examples.
fn examples() -> Vec<Program> {
    let folders = fs::read_dir(support::tests().join("../../../examples"));
    let folders = folders.expect("the folder is there").flatten();
    let files = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    let files = files.flatten().map(|file| file.path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "spl"));
    let programs = files.map(|path| {
        let text = fs::read_to_string(&path).expect("an example can be read");
        let name = path.file_name().expect("it has one").to_string_lossy();
        let output = compiler::compile(support::input(&name, &text, None));
        output.program.expect("an example is right")
    });
    programs.collect()
}

#[test]
fn examples_share_nothing_but_what_several_threads_enter() {
    let mut alone = 0;
    let examples = examples();
    assert!(examples.len() >= 5, "the examples are there");
    for program in &examples {
        for fuse in [FusionPolicy::All, FusionPolicy::None, FusionPolicy::Spl] {
            for threading in [ThreadingPolicy::Manual, ThreadingPolicy::Dedicated] {
                let choice = PlanOptions {
                    threading,
                    ..choice(fuse)
                };
                let plan = planned(program, &choice);
                is_proven(program, &plan);
                alone += usize::from(plan.pes.iter().all(|pe| pe.shared_operators.is_empty()));
            }
        }
    }
    assert!(alone > examples.len(), "most plans need no lock at all");
}

#[test]
fn one_source_without_queues_needs_no_lock() {
    let graph = "stream<int32 a> A = Beacon() {}\n stream<int32 a> B = Filter(A) {}\n\
        () as C = Custom(A; B) {}";
    let program = crate::program(graph);
    assert_eq!(
        planned(&program, &choice(FusionPolicy::All)).pes[0].shared_operators,
        []
    );
    let two = format!("{graph}\n stream<int32 a> D = Beacon() {{}}\n () as E = Custom(B, D) {{}}");
    let program = crate::program(&two);
    let plan = planned(&program, &choice(FusionPolicy::All));
    assert_eq!(plan.pes[0].shared_operators, [OperatorId(4)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shared_is_what_several_threads_enter((program, plan) in graphs::programs_with_plans(16)) {
        is_proven(&program, &plan);
    }

    #[test]
    fn dedicated_operators_of_one_port_are_entered_by_one_thread(
        (program, _) in graphs::programs_with_plans(16),
        is_split in any::<bool>(),
    ) {
        let choice = PlanOptions {
            threading: ThreadingPolicy::Dedicated,
            ..choice(if is_split { FusionPolicy::None } else { FusionPolicy::All })
        };
        let plan = planned(&program, &choice);
        is_proven(&program, &plan);
        let loops = StreamConsumers::new(&program).loops();
        let homes = PeAssignment::new(&plan, program.operators.len());
        for (at, operator) in program.operators.iter().enumerate() {
            if operator.inputs.len() < 2 && loops[at].is_none() {
                let id = OperatorId(at as u32);
                let pe = homes.pe_of(id).expect("it is in a pe");
                prop_assert!(!plan.pes[pe as usize].is_shared(id), "{}", operator.name);
            }
        }
        let again = PlanOptions { fusion: FusionPolicy::Text(&plan), ..choice };
        prop_assert_eq!(planner::plan(&program, &again), Ok(plan.clone()));
    }
}
