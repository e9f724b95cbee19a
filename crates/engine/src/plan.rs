//! Which processes, threads and media a program gets.

use graph::{Plan, PlanTextError, Program};
use planner::{MediumCapabilities, PlanOptions};
use transport::media;

use crate::Error;

/// The plan of a program.
///
/// # Errors
/// If what the choice or the program asks for cannot be had.
pub fn plan(program: &Program, choice: &PlanOptions<'_>) -> Result<Plan, Error> {
    planner::plan(program, choice).map_err(|errors| Error::plan(program, &errors))
}

/// Reads a plan that somebody has written, with the media that there are.
///
/// # Errors
/// The first thing that is wrong, with its place.
pub fn parse_plan(text: &str, program: &Program) -> Result<Plan, PlanTextError> {
    let media = media();
    planner::parse_plan_with_media(text, program, &|name| planner::check_medium(name, &media))
}

/// What a plan does otherwise than its program asks, a line each.
pub fn plan_notes(program: &Program, choice: &PlanOptions<'_>, plan: &Plan) -> Vec<String> {
    let notes = planner::notes(program, choice, plan).into_iter();
    notes.map(|note| note.text(program)).collect()
}

/// The media that a choice has, the fastest first.
pub fn media() -> Vec<MediumCapabilities<'static>> {
    let facts = |(rank, medium): (u32, &&'static dyn transport::Medium)| {
        let caps = medium.caps();
        MediumCapabilities {
            name: medium.name(),
            crosses_processes: caps.crosses_processes,
            crosses_hosts: caps.crosses_hosts,
            is_one_to_many: caps.is_one_to_many,
            batches: caps.is_batching,
            receivers_max: caps.receivers_max,
            is_for_tests: caps.is_for_tests,
            rank,
        }
    };
    (0..).zip(media::all()).map(facts).collect()
}

/// The names of those that cross processes and are not for tests only.
pub(crate) fn crossing_media() -> impl Iterator<Item = &'static str> {
    let all = media().into_iter();
    let all = all.filter(|medium| medium.crosses_processes && !medium.is_for_tests);
    all.map(|medium| medium.name)
}

/// The cores that this process may run on; 0 if the system does not say.
pub fn usable_core_count() -> u32 {
    std::thread::available_parallelism().map_or(0, |count| count.get() as u32)
}

/// Deals cores out to the PEs of a plan: with more cores than PEs each gets several, with fewer
/// some share one.
pub fn pin_pes(plan: &mut Plan, cores: &[u32]) {
    let count = plan.pes.len();
    if cores.is_empty() {
        return;
    }
    for (number, pe) in plan.pes.iter_mut().enumerate() {
        let own = cores.iter().skip(number % cores.len());
        pe.cores = own.step_by(count).copied().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dealt(pes: usize, cores: &[u32]) -> Vec<Vec<u32>> {
        let mut plan = Plan {
            pes: vec![graph::PePlan::default(); pes],
            crossings: Vec::new(),
        };
        pin_pes(&mut plan, cores);
        plan.pes.into_iter().map(|pe| pe.cores).collect()
    }

    #[test]
    fn cores_are_dealt_out() {
        assert_eq!(dealt(1, &[0, 3]), [vec![0, 3]]);
        assert_eq!(dealt(2, &[0, 3]), [vec![0], vec![3]]);
        assert_eq!(dealt(3, &[0, 3]), [vec![0], vec![3], vec![0]]);
        assert_eq!(dealt(2, &[0, 1, 2]), [vec![0, 2], vec![1]]);
        assert_eq!(dealt(2, &[]), [Vec::<u32>::new(), Vec::new()]);
    }
}
