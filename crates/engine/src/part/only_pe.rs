//! The only PE of a job: what its plan makes of the program, with the ends of its rings.

use graph::{PeId, Plan, Program};
use planner::PlanOptions;

use super::crossings::Crossings;
use super::wiring::PartOptions;
use crate::error::Error;

/// The program of a plan's only PE, and what else wiring it takes. A plan without PEs has a program
/// without operators.
///
/// # Errors
/// [`Error::Program`] if a ring cannot be opened.
pub fn cut_only_pe(program: &Program, plan: &Plan) -> Result<(Program, PartOptions), Error> {
    let mut options = PartOptions::default();
    let [only] = &plan.pes[..] else {
        assert!(plan.pes.is_empty(), "the plan has more PEs than one");
        return Ok((program.clone(), options));
    };
    let part = planner::cut(program, plan, PeId(0));
    options.cores = only.cores.clone();
    options.pins = part.pins.clone();
    // No other process reaches the rings of a single PE: they need no secret.
    let rings = Crossings::new(plan, program, [0; 16], &[]);
    let opened = rings.open_rings(&part, PeId(0), &mut options.crossing_ends);
    opened.map_err(Error::Program)?;
    Ok((part.program, options))
}

/// The program of a PE that has all operators, by the default plan, and what else wiring it takes.
///
/// # Errors
/// [`Error::Plan`], or [`Error::Program`] if a ring cannot be opened.
pub fn fuse_all(program: &Program) -> Result<(Program, PartOptions), Error> {
    let plan = planner::plan(program, &PlanOptions::default());
    let plan = plan.map_err(|errors| Error::plan(program, &errors))?;
    cut_only_pe(program, &plan)
}
