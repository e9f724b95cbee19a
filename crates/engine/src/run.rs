//! Launching a compiled program by its plan: in this process, or in a process for each PE.

use graph::{Plan, Program};

use crate::compilation::Compilation;
use crate::error::Error;
use crate::job::{Job, LaunchOptions, check_hosts};
use crate::part::{Crossings, PartOptions};
use crate::{launcher, local};

/// Runs a compiled program as its plan says: here if there is one PE, else in a process for each.
///
/// # Errors
/// What cannot be set up here: a parameter out of range, a file that cannot be opened, ... What
/// other processes cannot set up is said when the job ends.
pub fn run(
    compilation: &Compilation,
    program: &Program,
    plan: &Plan,
    launch: &LaunchOptions,
) -> Result<Job, Error> {
    check_hosts(plan, &launch.hosts)?;
    match &plan.pes[..] {
        [] => local::launch_part(program, launch, PartOptions::default()),
        [only] if only.host.is_none() => {
            let part = planner::cut(program, plan, 0);
            let mut part_options = PartOptions {
                cores: only.cores.clone(),
                pins: part.pins.clone(),
                ..PartOptions::default()
            };
            // Nobody from outside comes to its rings: there is no secret.
            let rings = Crossings::new(plan, program, [0; 16], &[]);
            let within = rings.open_rings(&part, 0, &mut part_options.crossing_ends);
            within.map_err(Error::Program)?;
            local::launch_part(&part.program, launch, part_options)
        }
        _ => launcher::launch(compilation, program, plan, launch),
    }
}
