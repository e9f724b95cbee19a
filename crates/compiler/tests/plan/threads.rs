//! Operators that the threads of a plan share: exactly those that several threads enter.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use graph::{OperatorId, OperatorTimers, PeAssignment, PeId, Plan, Program, inserted_operators};
use planner::{FusionPolicy, PeProgram, PlanOptions, StreamConsumers, ThreadingPolicy, cut};
use proptest::prelude::*;
use testkit::arbitrary::graphs;
use thalweg_compiler as compiler;

use crate::{choice, planned, support};

/// The operators that several threads of a part enter, found by following each thread.
fn entered(part: &PeProgram) -> Vec<OperatorId> {
    let flow = StreamConsumers::new(&part.program);
    let operators = &part.program.operators;
    let consumers = |at: u32| {
        let streams = flow.streams_of(OperatorId(at));
        let edges = streams.flat_map(|stream| flow.consumers_of(stream));
        let consumers = edges.map(|to| to.operator.0);
        consumers.collect::<Vec<u32>>()
    };
    let has_own_thread = |at: u32| {
        let operator = &operators[at as usize];
        let is_queue = *operator.kind == *inserted_operators::QUEUE;
        !operator.inputs.is_empty() && (is_queue || operator.has_own_thread)
    };
    let all = 0..operators.len() as u32;
    let mut threads: Vec<Vec<u32>> = Vec::new();
    for at in all.clone() {
        match operators[at as usize].inputs.is_empty() {
            true => threads.push(vec![at]),
            false if has_own_thread(at) => threads.push(consumers(at)),
            false => {}
        }
    }
    let timers_of = |at: u32| operators[at as usize].timers;
    let timed = all.clone().filter(|&at| timers_of(at).submit());
    threads.push(timed.collect());
    let mut entered = vec![0; operators.len()];
    let timer_thread = threads.len() - 1;
    for (number, mut open) in threads.into_iter().enumerate() {
        let mut seen = BTreeSet::new();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                entered[at as usize] += 1;
                open.extend(consumers(at).iter().filter(|_| !has_own_thread(at)));
            }
        }
        let is_silent = |at: &u32| timers_of(*at) == OperatorTimers::Silent;
        let silent = all.clone().filter(is_silent);
        for at in silent.filter(|_| number == timer_thread) {
            entered[at as usize] += u32::from(seen.insert(at));
        }
    }
    let several = (0..operators.len()).filter(|&at| entered[at] > 1);
    several.filter_map(|at| part.operator_ids[at]).collect()
}

/// The shared operators of each PE, which are those that a walk along each thread finds.
fn proven_shared(program: &Program, plan: &Plan) -> Vec<Vec<OperatorId>> {
    let shared = (0..plan.pes.len() as u32).map(|pe| {
        let part = cut(program, plan, PeId(pe));
        let shared = crate::shared(&part);
        assert_eq!(entered(&part), shared, "{}", plan.display(program));
        shared
    });
    shared.collect()
}

/// The programs in a folder of the examples. The queries of NEXMark share files, and are none.
fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|file| file.path());
    let programs = files.filter(|path| path.extension().is_some_and(|e| e == "spl"));
    programs.filter(|_| !folder.ends_with("nexmark")).collect()
}

/// The programs of the examples.
fn examples() -> Vec<Program> {
    let folders = fs::read_dir(support::tests().join("../../../examples"));
    let folders = folders.expect("the folder is there").flatten();
    let files = folders.flat_map(|folder| programs_in(&folder.path()));
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
                let shared = proven_shared(program, &plan);
                alone += usize::from(shared.iter().all(Vec::is_empty));
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
    let plan = planned(&program, &choice(FusionPolicy::All));
    assert_eq!(proven_shared(&program, &plan), [[]]);
    let two = format!("{graph}\n stream<int32 a> D = Beacon() {{}}\n () as E = Custom(B, D) {{}}");
    let program = crate::program(&two);
    let plan = planned(&program, &choice(FusionPolicy::All));
    assert_eq!(proven_shared(&program, &plan), [[OperatorId(4)]]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_shared_is_what_several_threads_enter((program, plan) in graphs::programs_with_plans(16)) {
        proven_shared(&program, &plan);
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
        let shared = proven_shared(&program, &plan);
        let loops = StreamConsumers::new(&program).loops();
        let homes = PeAssignment::new(&plan, program.operators.len());
        for (at, operator) in program.operators.iter().enumerate() {
            if operator.inputs.len() < 2 && loops[at].is_none() {
                let id = OperatorId(at as u32);
                let pe = homes.pe_of(id).expect("it is in a pe");
                prop_assert!(!shared[pe.0 as usize].contains(&id), "{}", operator.name);
            }
        }
        let again = PlanOptions { fusion: FusionPolicy::Text(&plan), ..choice };
        prop_assert_eq!(planner::plan(&program, &again), Ok(plan.clone()));
    }
}
