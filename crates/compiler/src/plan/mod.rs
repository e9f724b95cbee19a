//! From the logical graph to the physical plan: which operators share a process, and how streams get
//! from one to another.
//!
//! ```text
//!   Program + Choice --fuse--> PEs --route--> crossings --thread--> queues
//!                    --derive--> edges, regions --cut--> Parts
//! ```
//!
//! A [`Choice`] is what the user and the machine say; nothing is measured or looked up here. What
//! follows from PEs, crossings and queues (edges, regions, what is shared) is worked out by
//! [`Plan::derive`]; [`cut`] makes the program of each process.

mod choice;
mod contradiction;
mod cut;
mod error;
mod fuse;
mod inserted;
mod medium;
mod note;
mod placement;
mod route;
mod spl;
mod thread;

use graph::{Flow, OperatorId, Pe, Plan, Program};

pub use choice::{Choice, Fuse, MediumFacts, Threading, Transport};
pub(crate) use contradiction::in_config;
pub use cut::{Part, cut};
pub use error::PlanError;
pub use medium::check_medium;
pub use note::{PlanNote, notes};
pub(crate) use thread::SPLITTER;

/// The plan of a program.
///
/// # Errors
/// What the choice or the program asks for and cannot be had.
pub fn plan(program: &Program, choice: &Choice<'_>) -> Result<Plan, Vec<PlanError>> {
    if program.operators.is_empty() {
        return Ok(Plan::default());
    }
    let flow = Flow::new(program);
    let mut plan = match choice.fuse {
        Fuse::All => fused(fuse::all(program)),
        Fuse::None => fused(fuse::none(program, &flow)),
        Fuse::Spl => fused(spl::by_placement(program, &flow)?),
        Fuse::Text(plan) => {
            let checked = plan.check_given(program);
            checked.map_err(|fault| vec![PlanError::new(fault.message)])?;
            plan.clone()
        }
    };
    plan.complete(program, choice.codec);
    route::route(program, choice, &flow, &mut plan)?;
    thread::add(program, choice, &flow, &mut plan);
    plan.derive(program);
    debug_assert_eq!(plan.check(program), Ok(()));
    Ok(plan)
}

fn fused(pes: Vec<Vec<OperatorId>>) -> Plan {
    let pes = pes.into_iter().map(|operators| Pe {
        operators,
        ..Pe::default()
    });
    Plan {
        pes: pes.collect(),
        crossings: Vec::new(),
    }
}
