//! Samples of the calling thread: those of the region that it runs.
//!
//! A thread of a pool runs one region after the other, and one within another; each has its own
//! samples. Nothing here does anything on a thread that is not sampled.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use sampling::{CpuSamples, CpuTimer};

thread_local! {
    /// The timer of the calling thread, and the samples that it records; `None` if it has none.
    static SAMPLED: RefCell<Option<SampledThread>> = const { RefCell::new(None) };
}

struct SampledThread {
    timer: CpuTimer,
    samples: Option<Arc<CpuSamples>>,
}

/// Begins to sample the calling thread.
///
/// # Errors
/// The system has no more timers.
pub(crate) fn begin(per_second: u32) -> io::Result<()> {
    SAMPLED.set(Some(SampledThread {
        timer: CpuTimer::start(per_second)?,
        samples: None,
    }));
    Ok(())
}

/// Ends the sampling of the calling thread.
pub(crate) fn end() {
    SAMPLED.set(None);
}

/// Gives the thread the samples of the region that it runs from now on. Returns those before, for
/// [`leave`].
pub(crate) fn enter(samples: &Arc<CpuSamples>) -> Option<Arc<CpuSamples>> {
    SAMPLED.with_borrow_mut(|thread| match thread {
        Some(thread) => thread.record(Some(samples.clone())),
        None => None,
    })
}

/// Gives the thread its samples back, when the region that it ran has been left.
pub(crate) fn leave(before: Option<Arc<CpuSamples>>) {
    SAMPLED.with_borrow_mut(|thread| {
        if let Some(thread) = thread {
            thread.record(before);
        }
    });
}

/// Says whether the calling thread waits for other threads: then the time is no operator's.
pub(crate) fn set_waiting(waits: bool) {
    SAMPLED.with_borrow(|thread| {
        let samples = thread.as_ref().and_then(|thread| thread.samples.as_ref());
        if let Some(samples) = samples {
            samples.running.set_waiting(waits);
        }
    });
}

impl SampledThread {
    fn record(&mut self, samples: Option<Arc<CpuSamples>>) -> Option<Arc<CpuSamples>> {
        self.timer.record_in(samples.clone());
        std::mem::replace(&mut self.samples, samples)
    }
}
