//! The system benchmark: SPL programs whose sinks measure, each beside a raw control in the same
//! run.
//!
//! ```text
//!   throughput, latency, ...      which programs, on which paths, at which sizes
//!        |            |
//!      job      control_process   a process each: `thalweg run`, or the same bytes by hand
//!        \            /
//!     control::RunArrivals        what their sinks print
//!            |
//!       paired_runs               by turns, medians, the median of neighbours' ratios
//!            |
//!      measure::Outcome
//! ```
//! Both contenders run in processes of their own, fill and read every byte, and print the same
//! line. The sums in the lines have to agree, so neither can save work that the other does.

mod adapt;
mod bench;
mod calibrate;
mod control_process;
mod fanout;
mod fused;
mod host_bench;
mod job;
mod latency;
mod nexmark;
mod paired_runs;
mod path;
mod plans;
mod schema;
mod throughput;
mod vwap;

pub use ::nexmark::{GeneratorOptions, write_events, write_folder as write_event_folder};
pub use adapt::adapt;
pub use bench::{BenchSession, BenchSettings, commit};
pub use calibrate::{CalibratedHosts, CalibrationOptions, CalibrationResult, calibrate};
pub use control::{Error, median};
pub use control_process::serve_control;
pub use fanout::{FanoutOptions, fanout};
pub use fused::{CHAIN_SIZES, chain, expressions, operators};
pub use host_bench::{HOSTS_PATHS, RAILS_SIZES, hosts, rails};
pub use latency::{RoundTripOptions, latency};
pub use nexmark::{
    NEXMARK_QUERIES, NexmarkFigure, NexmarkOptions, PROGRAMS as NEXMARK_PROGRAMS, ProgramFiles,
    nexmark,
};
pub use paired_runs::RunLength;
pub use path::{CodecKind, NamedPath, StreamPath};
pub use plans::{OPTIMISED_PLAN, PLANS_BENCH, PREDICTIONS_BENCH, PlansOptions, plans};
pub use schema::PayloadSchema;
pub use throughput::{ThroughputOptions, throughput, throughput_plan, throughput_program};
pub use vwap::{VwapOptions, VwapPlan, vwap};
