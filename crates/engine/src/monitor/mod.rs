//! Monitoring of jobs by other processes: each PE copies its counters into a file, which `thalweg
//! top` reads.
//!
//! ```text
//!   PE process                                         thalweg top
//!     operators, crossings, queues                  sample_jobs() -> JobSample
//!        | read twice a second by the "sampler" thread        ^
//!        v                                                    |
//!     memory file  -------- opened as /proc/PID/fd/N ----> ring::counters::CountersReader
//! ```
//! The file is in no folder, so nothing of it is left when its process has ended, and nothing has
//! to be set up. Metadata in the file names the job, the PE and the meaning of each slot. Operators
//! are never asked anything: only counters that they keep anyway are copied, and which call of a
//! library does not return. A PE that cannot have a file runs without.
//!
//! The sampler thread also answers `thalweg tap`, which asks for tuples of a stream
//! ([`tap_words`]), and `thalweg plan apply`, which brings another plan ([`plan_words`]).

mod counters_files;
mod job_sample;
mod latency;
mod library_calls;
mod metadata;
mod plan_change;
mod plan_server;
mod plan_words;
mod process_life;
mod sampler;
mod stream_tap;
mod tap_server;
mod tap_words;

pub use job_sample::{
    CrossingSample, JobSample, LibraryCallSample, MarkerSample, OperatorSample, PeSample,
    QueueSample, RailSample, SenderSample, sample_jobs,
};
pub use latency::LatencySample;
pub(crate) use metadata::JobMetadata;
pub use plan_change::apply_plan;
pub(crate) use plan_server::RunningPlan;
pub(crate) use sampler::Sampler;
pub use stream_tap::{StreamTap, TapText};
