//! Watching jobs from outside: each PE copies its counters into a file, and whoever looks reads it.
//!
//! ```text
//!   PE process                                         thalweg top
//!     operators, links, queues                           samples() -> JobSample
//!        | read now and then by its "sampler" thread          ^
//!        v                                                    |
//!     memory file  -------- opened as /proc/PID/fd/N ----> ring::counters::View
//! ```
//! The file is in no folder, so nothing of it is left when its process has ended, in whatever way,
//! and there is nothing to set up. Its legend says whose it is. Operators are never asked anything:
//! what they count anyway is copied. A PE that cannot have a file runs without.

mod counters_files;
mod job_sample;
mod latency;
mod metadata;
mod sampler;

pub use job_sample::{
    CrossingSample, JobSample, MarkerSample, OperatorSample, PeSample, QueueSample, SenderSample,
    sample_jobs,
};
pub use latency::LatencySample;

pub(crate) use metadata::JobMetadata;
pub(crate) use sampler::Sampler;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, which all processes of a host share.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock begins when the host does.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
