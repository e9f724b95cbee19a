//! How the loops of a PE idle, and what ends their waits: a failure of the PE.

use std::sync::atomic::{AtomicBool, Ordering};

use eval::{Fault, FaultKind};
use transport::{IdleStrategy, Idler};

use crate::blocking::stop_signal::StopSignal;

/// Shared by all loops of a PE.
#[derive(Debug)]
pub(crate) struct IdlePolicy {
    strategy: IdleStrategy,
    /// There are more cores than loops. Written while wiring, before any thread runs.
    may_spin: AtomicBool,
    /// Raised when something in the PE has failed.
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

    /// There are so many loops, and so many cores for them.
    pub fn set_loop_count(&self, loops: usize, cores: usize) {
        self.may_spin.store(loops < cores, Ordering::Relaxed);
    }

    /// Something in the PE has failed.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.failed.is_requested()
    }

    /// The idling of one loop; a failure of the PE wakes it.
    pub fn new_idle(&self) -> Result<Idler, Fault> {
        let idle = Idler::new(self.strategy, self.may_spin.load(Ordering::Relaxed));
        let idle = idle.map_err(|error| {
            let message = format!("cannot make a descriptor to sleep on: {error}");
            Fault::new(FaultKind::System, message)
        })?;
        let bell = idle.wakeup().clone();
        self.failed.on_request(move || bell.wake());
        Ok(idle)
    }
}
