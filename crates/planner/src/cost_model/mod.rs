//! The cost model: what a plan of a program can carry, predicted from measurements.
//!
//! ```text
//!   Profile, static estimate ──> ProgramLoads ─┐
//!   Calibration, defaults ─────> CrossingCosts ┴─> LoadGraph ── + PlanSketch ──> ThreadLoads
//!                                                                  ──> PlanPrediction
//! ```
//! All loads are nanoseconds of processor time for one tuple of the program's sources, whichever of
//! them submits it. A thread uses at most one core, and a host has so many:
//!
//! ```text
//!   throughput = min over threads of 1 / load, min over hosts of cores / sum of loads
//! ```
//! `docs/optimiser.md` has the formulas with their sources, and what the model does not know.

mod crossing_cost;
mod host_cores;
mod load_graph;
mod origin_bits;
mod plan_latency;
mod plan_prediction;
mod plan_sketch;
mod program_loads;
mod static_estimate;
mod thread_loads;

pub(crate) use load_graph::{LoadGraph, StreamCosts};
pub(crate) use plan_latency::latency_ns;
pub use plan_prediction::{Bottleneck, PlanPrediction, PredictedThread, predict};
pub(crate) use plan_prediction::{PlanModel, bottleneck_ns};
pub(crate) use plan_sketch::PlanSketch;
pub use program_loads::{LoadBasis, OperatorLoad, ProgramLoads, StreamLoad};
pub(crate) use thread_loads::{ThreadLoads, ThreadShares};
