//! Whether the calling thread waits, as its samples tell it.

use std::cell::RefCell;
use std::sync::Arc;

use sampling::CpuSamples;

thread_local! {
    /// The samples of the calling thread; `None` on threads that run no operators.
    static CURRENT: RefCell<Option<Arc<CpuSamples>>> = const { RefCell::new(None) };
}

/// Gives the calling thread its samples, or takes them back.
pub(crate) fn set_current(samples: Option<Arc<CpuSamples>>) {
    CURRENT.set(samples);
}

/// Says whether the calling thread waits for other threads: then the time is no operator's.
pub(crate) fn set_waiting(waits: bool) {
    CURRENT.with_borrow(|samples| {
        if let Some(samples) = samples {
            samples.running.set_waiting(waits);
        }
    });
}
