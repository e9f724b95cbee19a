//! From the logical graph to the physical plan: which operators share a process, and how streams get
//! from one to another.
//!
//! ```text
//!   Program + Choice --fuse--> PEs --route--> crossings --derive--> edges, regions --cut--> Parts
//! ```
//!
//! A [`Choice`] is what the user and the machine say; nothing is measured or looked up here. What
//! follows from the PEs and crossings (edges, regions, what is shared) is worked out by
//! [`Plan::derive`]; [`cut`] makes the program of each process.

mod choice;
mod cut;
mod error;
mod fuse;
mod inserted;
mod route;

use graph::{Flow, Homes, Pe, Plan, Program};

pub use choice::{Choice, Fuse, MediumFacts, Transport};
pub use cut::{Part, cut};
pub use error::PlanError;

/// The plan of a program.
///
/// # Errors
/// What the choice or the program asks for and cannot be had.
pub fn plan(program: &Program, choice: &Choice<'_>) -> Result<Plan, Vec<PlanError>> {
    if program.operators.is_empty() {
        return Ok(Plan::default());
    }
    let flow = Flow::new(program);
    let pes = match choice.fuse {
        Fuse::All => fuse::all(program),
        Fuse::None => fuse::none(program, &flow),
    };
    let pe = |operators| Pe {
        operators,
        ..Pe::default()
    };
    let mut plan = Plan {
        pes: pes.into_iter().map(pe).collect(),
        crossings: Vec::new(),
    };
    let homes = Homes::new(&plan, program.operators.len());
    plan.crossings = route::crossings(program, choice, &flow, &homes)?;
    plan.derive(program);
    Ok(plan)
}
