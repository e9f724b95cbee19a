//! Profiles of running jobs: samples of threads and counts of streams become a
//! [`planner::Profile`].
//!
//! ```text
//!   each PE:   threads --samples--> SampleCounts --\
//!              counters -each 0.1 s-> StreamRates --> PeProfiler.finish -> Profile
//!   launcher:  Profile of each PE --> ProfileCollector.profile -> Profile of the job
//! ```
//! Nothing is taken from the tuple path: threads are interrupted some hundred times in a second of
//! their processor time, and counters are read that are kept anyway
//! ([decision 24](../../../../docs/decisions/0024-profile-and-optimiser.md)).

mod collector;
mod pe_profile;
mod profiler;
mod sample_counts;
mod stream_rates;

pub use collector::{ProfileCollector, ProfileRequest};
pub(crate) use pe_profile::{PartNames, machine};
pub(crate) use profiler::PeProfiler;
