//! From the program to the physical plan: the operators that share a process, the threads of each
//! process, and the way of each stream from one operator to another.
//!
//! ```text
//!   Program + PlanOptions --fusion--> PEs --route--> crossings --threaded_ports--> queues
//!                         --derived--> receivers, merges, edges
//!                         --cut--> the program of each PE --pe_threads--> its threads
//! ```
//!
//! [`PlanOptions`] holds all that the user and the machine have to say; nothing is measured or
//! looked up here: a [`Calibration`] is handed in, and so are [`HostFabrics`]. [`derive()`] works
//! out everything that follows from PEs, crossings and queues; [`cut()`] makes the program of each
//! process, and [`pe_threads()`] its threads.
//!
//! Every loop, of the whole program or of a PE's part, is found by [`find_loops`].

mod auto_medium;
mod calibration;
mod choice;
mod completion;
mod core_choice;
mod cost_model;
mod cut;
mod derived;
mod fusion;
mod hosts;
mod live_settings;
mod measurement_text;
mod optimiser;
mod order;
mod pe_threads;
mod plan_note;
mod profile;
mod program_threads;
mod route;
mod schema_bytes;
mod streams;
mod thread_comments;
mod threaded_ports;

pub use calibration::{
    Calibration, CostFit, MediumCost, MediumReach, default_calibration_file, processor_name,
};
pub use choice::{
    FusionPolicy, HostFabrics, MediumCapabilities, Optimisation, PlanError, PlanGoal, PlanHost,
    PlanOptions, SharedFabric, ThreadingPolicy, TransportPolicy, check_medium, own_medium_name,
    streams_medium_names,
};
use completion::{complete, plan_of_pes};
pub use core_choice::choose_cores;
pub use cost_model::{
    Bottleneck, LoadBasis, OperatorLoad, PlanPrediction, PredictedThread, ProgramLoads, StreamLoad,
    predict,
};
pub use cut::{PeProgram, ProgramCuts, cut};
pub use derived::{
    PlanFault, add_missing_crossings, check, check_partial, derive, parse_plan,
    parse_plan_with_media, receivers,
};
pub use fusion::in_config;
use graph::{Plan, Program};
pub use live_settings::with_live_settings;
pub use measurement_text::MeasurementError;
pub use optimiser::{
    CandidateKind, OptimalityGap, OptimisedPlan, PlanExplanation, optimality_gap, optimise,
    rate_text,
};
pub use order::{PlanOrder, order};
pub use pe_threads::pe_threads;
pub use plan_note::{PlanNote, notes};
pub use profile::{
    CrossingProfile, OperatorProfile, Profile, ProfileMergeError, QueueProfile, StreamProfile,
    ThreadProfile,
};
pub use program_threads::{ProgramThread, program_threads};
pub use schema_bytes::tuple_bytes;
pub use streams::{DisjointSets, GraphEdge, StreamConsumers, closing_edges, find_loops};
pub use thread_comments::thread_comments;
pub use threaded_ports::SPLITTER;

/// Makes the plan of a program, complete and derived. A program without operators has a plan
/// without PEs.
///
/// Operators are fused first, then streams between PEs get crossings and media, then input ports
/// get queues; each step keeps what a plan's text ([`FusionPolicy::Text`]) has decided.
///
/// # Errors
/// Everything that the options or the program ask for and that cannot be had: placements that
/// contradict each other, media that do not exist or do not reach the receivers, a text that does
/// not fit the program. [`PlanError::text`] gives a sentence with the places in the source.
pub fn plan(program: &Program, options: &PlanOptions<'_>) -> Result<Plan, Vec<PlanError>> {
    if program.operators.is_empty() {
        return Ok(Plan::default());
    }
    let stream_consumers = StreamConsumers::new(program);
    let plan = match &options.fusion {
        FusionPolicy::All => plan_of_pes(fusion::all(program)),
        FusionPolicy::None => plan_of_pes(fusion::none(program, &stream_consumers)),
        FusionPolicy::Spl => plan_of_pes(fusion::by_placement(program, &stream_consumers)?),
        FusionPolicy::Text(plan) => {
            let checked = check_partial(plan, program);
            checked.map_err(|fault| vec![PlanError::new(fault.message)])?;
            (*plan).clone()
        }
        FusionPolicy::Cola(optimisation) => {
            return optimise(program, options, optimisation).map(|optimised| optimised.plan);
        }
    };
    complete(program, options, &stream_consumers, plan)
}
