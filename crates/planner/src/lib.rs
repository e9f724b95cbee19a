//! From the logical graph to the physical plan: which operators share a process, and how streams
//! get from one to another.
//!
//! ```text
//!   Program + Choice --fuse--> PEs --route--> crossings --thread--> queues
//!                    --derive--> edges, regions --cut--> Parts
//! ```
//!
//! A [`PlanOptions`] is what the user and the machine say; nothing is measured or looked up here.
//! What follows from PEs, crossings and queues (edges, regions, what is shared) is worked out by
//! [`Plan::derive`]; [`cut`] makes the program of each process.

mod contradiction;
mod cut;
mod error;
mod fuse;
mod inserted;
mod medium;
mod placement;
mod placement_fusion;
mod plan_note;
mod plan_options;
mod route;
mod thread;

use graph::{OperatorId, PePlan, Plan, Program, StreamConsumers};

pub use contradiction::in_config;
pub use cut::{PeProgram, cut};
pub use error::PlanError;
pub use medium::check_medium;
pub use plan_note::{PlanNote, notes};
pub use plan_options::{
    FusionPolicy, MediumCapabilities, PlanOptions, ThreadingPolicy, TransportPolicy,
};
pub use thread::SPLITTER;

/// The plan of a program.
///
/// # Errors
/// What the choice or the program asks for and cannot be had.
pub fn plan(program: &Program, options: &PlanOptions<'_>) -> Result<Plan, Vec<PlanError>> {
    if program.operators.is_empty() {
        return Ok(Plan::default());
    }
    let stream_consumers = StreamConsumers::new(program);
    let mut plan = match options.fusion {
        FusionPolicy::All => fused(fuse::all(program)),
        FusionPolicy::None => fused(fuse::none(program, &stream_consumers)),
        FusionPolicy::Spl => fused(placement_fusion::by_placement(program, &stream_consumers)?),
        FusionPolicy::Text(plan) => {
            let checked = plan.check_partial(program);
            checked.map_err(|fault| vec![PlanError::new(fault.message)])?;
            plan.clone()
        }
    };
    plan.add_missing_crossings(program, options.codec);
    route::route(program, options, &stream_consumers, &mut plan)?;
    thread::add(program, options, &stream_consumers, &mut plan);
    plan.derive(program);
    debug_assert_eq!(plan.check(program), Ok(()));
    Ok(plan)
}

fn fused(pes: Vec<Vec<OperatorId>>) -> Plan {
    let pes = pes.into_iter().map(|operators| PePlan {
        operators,
        ..PePlan::default()
    });
    Plan {
        pes: pes.collect(),
        crossings: Vec::new(),
    }
}
