//! Plans: which operators share a process, how streams cross, and the program of each process.

mod auto;
mod cutting;
mod fusing;
mod golden;
mod placing;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod timed;

use graph::{OperatorId, PeId, PeThreads, Plan, Program};
use planner::{FusionPolicy, MediumCapabilities, PeProgram, PlanOptions, ProgramCuts};
use thalweg_compiler as compiler;

/// Media as an engine hands them in.
pub const MEDIA: &[MediumCapabilities<'_>] = &[
    medium("tcp", 2, false, 3),
    medium("ring", 0, false, 0),
    medium("shm", 1, true, 1),
    medium("rum", 2, true, RUM),
    MediumCapabilities {
        is_for_tests: true,
        ..medium("sim", 1, true, 3)
    },
    MediumCapabilities {
        is_by_name_only: true,
        ..medium("pipe", 1, true, 0)
    },
];

/// The rank of the medium that batches.
const RUM: u32 = 2;

/// Which gets as far as other threads, processes, hosts.
const fn medium(
    name: &'static str,
    reach: u8,
    is_one_to_many: bool,
    rank: u32,
) -> MediumCapabilities<'static> {
    MediumCapabilities {
        name,
        crosses_processes: reach >= 1,
        crosses_hosts: reach >= 2,
        is_one_to_many,
        batches: rank == RUM,
        rails_max: if rank == RUM { 8 } else { 1 },
        receivers_max: 64,
        is_for_tests: false,
        is_by_name_only: false,
        needs_fabric: false,
        rank,
    }
}

/// A choice with all media.
pub fn choice(fuse: FusionPolicy<'_>) -> PlanOptions<'_> {
    PlanOptions {
        fusion: fuse,
        media: MEDIA,
        ..PlanOptions::default()
    }
}

/// A program of the operators of a main composite.
pub fn program(graph: &str) -> Program {
    let text = format!("composite Main {{ graph\n{graph}\n}}");
    let mut input = support::input("plan.spl", &text, None);
    input.options.media = MEDIA.iter().map(|medium| medium.name.to_owned()).collect();
    let output = compiler::compile(input);
    let said = syntax::render(&output.diagnostics, &output.sources, false);
    output.program.unwrap_or_else(|| panic!("{said}"))
}

/// The plan of a program.
pub fn planned(program: &Program, choice: &PlanOptions<'_>) -> Plan {
    let plan = planner::plan(program, choice);
    plan.unwrap_or_else(|errors| {
        let errors: Vec<_> = errors.iter().map(|error| error.text(program)).collect();
        panic!("{}", errors.join("\n"))
    })
}

/// The threads of each PE, with the numbers of the PE's own program.
pub fn threads(program: &Program, plan: &Plan) -> Vec<PeThreads> {
    let cuts = ProgramCuts::new(program, plan);
    let parts = (0..plan.pes.len() as u32).map(|pe| cuts.cut(PeId(pe)));
    let threads = parts.map(|part| planner::pe_threads(&part.program, &part.pins));
    threads.collect()
}

/// The operators of the program that several threads of a part enter.
pub fn shared(part: &PeProgram) -> Vec<OperatorId> {
    let threads = planner::pe_threads(&part.program, &part.pins);
    let shared = threads.shared_operators().into_iter();
    shared
        .filter_map(|id| part.operator_ids[id.0 as usize])
        .collect()
}

/// Why there is no plan.
pub fn refused(program: &Program, choice: &PlanOptions<'_>) -> String {
    match planner::plan(program, choice) {
        Ok(plan) => panic!("there is one:\n{}", plan.display(program)),
        Err(errors) => {
            let errors: Vec<_> = errors.iter().map(|error| error.text(program)).collect();
            errors.join("\n")
        }
    }
}

/// The names of the operators of each PE.
pub fn pes(program: &Program, plan: &Plan) -> Vec<String> {
    let names = |pe: &graph::PePlan| {
        let names = pe.operators.iter();
        let names: Vec<_> = names
            .map(|id| &*program.operators[id.0 as usize].name)
            .collect();
        names.join(" ")
    };
    plan.pes.iter().map(names).collect()
}
