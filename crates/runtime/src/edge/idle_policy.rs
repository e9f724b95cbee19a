//! Idling: how the loops of a PE wait for work, and how a failure of the PE ends their waits.

use std::sync::atomic::{AtomicBool, Ordering};

use eval::{Fault, FaultKind};
use transport::{IdleStrategy, Idler};

use crate::blocking::stop_signal::StopSignal;

/// Policy of idling that all loops of a PE share.
#[derive(Debug)]
pub(crate) struct IdlePolicy {
    strategy: IdleStrategy,
    /// Whether loops may spin, because there are more cores than loops. Written while wiring,
    /// before any thread runs.
    may_spin: AtomicBool,
    /// Requested when an operator or thread of the PE has failed.
    failed: StopSignal,
}

impl IdlePolicy {
    pub fn new(strategy: IdleStrategy, failed: StopSignal) -> IdlePolicy {
        IdlePolicy {
            strategy,
            may_spin: AtomicBool::new(false),
            failed,
        }
    }

    /// Sets the number of loops, and of cores for them, before any loop begins.
    pub fn set_loop_count(&self, loops: usize, cores: usize) {
        self.may_spin.store(loops < cores, Ordering::Relaxed);
    }

    /// Whether an operator or thread of the PE has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed.is_requested()
    }

    /// The idling of one loop; a failure of the PE wakes it.
    ///
    /// # Errors
    /// The system has no descriptor left to sleep on.
    pub fn new_idle(&self) -> Result<Idler, Fault> {
        let idle = Idler::new(self.strategy, self.may_spin.load(Ordering::Relaxed));
        let idle = idle.map_err(|error| {
            let message = format!("cannot make a descriptor to sleep on: {error}");
            Fault::new(FaultKind::System, message)
        })?;
        let wakeup = idle.wakeup().clone();
        self.failed.on_request(move || wakeup.wake());
        Ok(idle)
    }
}
