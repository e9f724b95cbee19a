//! Watching jobs from outside: each PE writes its counters into a file, and whoever looks reads it.
//!
//! ```text
//!   PE process                                         thalweg top
//!     operators, links, queues                           samples() -> JobSample
//!        | read now and then by its "sampler" thread          ^
//!        v                                                    |
//!     <folder>/<job>/pe0.counters  -------mapped------->  ring::counters::View
//!     <folder>/<job>/job.json      who the job is
//! ```
//! The folder of a job is named after its launcher's process and when that began, so a folder that
//! nobody owns any more is known for sure; the next job removes it. Operators are never asked
//! anything: what they count anyway is copied. A job that cannot have a folder runs without.

mod folder;
mod latency;
mod legend;
mod process;
mod sampler;
mod watch;

pub use folder::runtime_folder;
pub use latency::LatencySample;
pub use watch::{
    EndSample, JobSample, LinkSample, MarksSample, OperatorSample, PeSample, QueueSample, samples,
};

pub(crate) use folder::JobFolder;
pub(crate) use sampler::{Place, Sampler};

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock, which all processes of a host share.
pub(crate) fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock begins when the host does.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
