//! Launching a compiled program by its plan: in this process, or in a process for each PE.

use graph::{PeId, Plan, Program};

use crate::compilation::Compilation;
use crate::error::Error;
use crate::job::{Job, LaunchOptions, check_hosts};
use crate::part::{Crossings, PartOptions};
use crate::{launcher, local};

/// Runs a compiled program by its plan: in this process if there is one PE without a host, else in
/// a process for each PE.
///
/// Returns as soon as the job is on its way; [`Job::join`] waits for its end. The processes of a
/// job compile the sources that `compilation` has recorded, not the files as they are now. If one
/// of the processes fails or dies, the others are ended. All of them end with this process, even by
/// SIGKILL.
///
/// # Example
/// ```
/// # const HELLO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hello/Hello.spl");
/// use std::time::Duration;
/// use thalweg_engine::{CompileRequest, LaunchOptions, PlanOptions, compile, plan, run};
///
/// # let request = CompileRequest {
/// #     file: HELLO.into(),
/// #     submission_values: Some(Vec::new()),
/// #     ..CompileRequest::default()
/// # };
/// let compilation = compile(&request)?;
/// let program = compilation.program.as_ref().expect("the program has no errors");
/// let plan = plan(program, &PlanOptions::default())?;
/// let mut job = run(&compilation, program, &plan, &LaunchOptions::default())?;
/// while !job.wait(Some(Duration::from_secs(1))) {
///     println!("{:?}", job.source_counts());
/// }
/// job.join()?;
/// # Ok::<(), thalweg_engine::Error>(())
/// ```
///
/// # Errors
/// [`Error::Plan`] if a host of the plan is not described, [`Error::DataDirectory`],
/// [`Error::Codegen`], [`Error::Program`] if an operator cannot be set up in this process,
/// [`Error::System`]. What cannot be set up in other processes is an error of [`Job::join`].
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
            let part = planner::cut(program, plan, PeId(0));
            let mut part_options = PartOptions {
                cores: only.cores.clone(),
                pins: part.pins.clone(),
                ..PartOptions::default()
            };
            // No other process reaches the rings of a single PE: they need no secret.
            let rings = Crossings::new(plan, program, [0; 16], &[]);
            let opened = rings.open_rings(&part, PeId(0), &mut part_options.crossing_ends);
            opened.map_err(Error::Program)?;
            local::launch_part(&part.program, launch, part_options)
        }
        _ => launcher::launch(compilation, program, plan, launch),
    }
}
