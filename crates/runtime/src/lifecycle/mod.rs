//! The life of a PE: its threads start, run their sources and timers, and end in order.

mod elastic_level;
pub(crate) mod pe;
pub(crate) mod plan_control;
mod pool_level;
mod pooled_region;
mod region_runner;
pub(crate) mod thread_cores;
pub(crate) mod thread_launch;
mod thread_pool;
pub(crate) mod thread_runner;
pub(crate) mod timer_queue;

/// Makes this process ready to sample threads: see [`crate::PeOptions::samples_per_second`]. To be
/// called before media are loaded from libraries, which may take back handlers of signals.
///
/// # Errors
/// Something else in the process handles SIGPROF.
pub fn prepare_sampling() -> std::io::Result<()> {
    sampling::install()
}
