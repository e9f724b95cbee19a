//! Samples of the instructions that threads run, by the clocks of their processor time.
//!
//! ```text
//!   thread: RunningOperator.set(3) ... code ... signal: (instruction, 3) -> CpuSamples
//!                                                 ^                             |
//!                       CpuTimer: each period of processor time                drain
//! ```
//! The kernel signals a thread (SIGPROF) each time its own clock of processor time has advanced by
//! a period, so a thread that sleeps is never interrupted. The handler notes which instruction was
//! about to run and which operator the thread says it runs; what these mean is for the caller to
//! find out, on another thread and later.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use thalweg_sampling::{CpuSamples, CpuTimer, RunningOperator};
//!
//! let samples = Arc::new(CpuSamples::default());
//! samples.running.set(7);
//! let mut timer = CpuTimer::start(250)?;
//! timer.record_in(Some(samples.clone()));
//! let mut seen = Vec::new();
//! while seen.is_empty() {
//!     samples.drain(|sample| seen.push(sample));
//! }
//! drop(timer);
//! assert_eq!(RunningOperator::operator(seen[0].running), Some(7));
//! # Ok::<(), std::io::Error>(())
//! ```

#![warn(missing_docs)]
#![expect(
    unsafe_code,
    reason = "timers of threads and handlers of signals are kept in this crate"
)]

mod cpu_samples;
mod cpu_timer;
mod running_operator;
mod signal_handler;

pub use cpu_samples::{CpuSample, CpuSamples};
pub use cpu_timer::{CpuTimer, SAMPLES_PER_SECOND_MAX};
pub use running_operator::RunningOperator;
pub use signal_handler::install;
