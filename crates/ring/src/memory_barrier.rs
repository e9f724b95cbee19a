//! Memory barriers around a sleep: the working side pays nothing, the side that goes to sleep pays
//! for both.
//!
//! A thread that goes to sleep announces it in a flag and looks a last time for work; a thread that
//! makes work looks at the flag afterwards. Each side stores, then loads the other's store, so both
//! sides need a full barrier between the two. Otherwise both loads may miss both stores, and the
//! sleeper is not woken:
//!
//! ```text
//!   working side                   side that goes to sleep
//!     store index                    store flag
//!     light()                        heavy()
//!     load flag: wake?               load index: work after all?
//! ```
//! With `membarrier(2)` the sleeper's heavy barrier is executed on the other side's processor too,
//! wherever that is between its store and its load, and the light one only restrains the compiler.
//! Without the system call both are fences.

use crate::sync::{Ordering, fence};

/// Kind of barriers that the two sides of a ring use; both sides use one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryBarrier {
    /// Fences on both sides.
    Fence = 0,
    /// `membarrier` between threads of this process.
    Process = 1,
    /// `membarrier` between processes that have registered for it.
    #[cfg(not(any(loom, miri)))]
    Global = 2,
}

impl MemoryBarrier {
    /// The kind with this number in a segment's header.
    #[cfg(not(any(loom, miri)))]
    pub(crate) fn from_number(number: u32) -> Option<MemoryBarrier> {
        let all = [
            MemoryBarrier::Fence,
            MemoryBarrier::Process,
            MemoryBarrier::Global,
        ];
        all.into_iter().find(|barrier| *barrier as u32 == number)
    }

    /// The cheapest kind for threads of this process.
    pub(crate) fn within_process() -> MemoryBarrier {
        MemoryBarrier::Process.or_fence()
    }

    /// The cheapest kind for threads of several processes.
    #[cfg(not(any(loom, miri)))]
    pub(crate) fn between_processes() -> MemoryBarrier {
        MemoryBarrier::Global.or_fence()
    }

    /// Whether both sides must execute a fence.
    #[cfg(not(loom))]
    pub(crate) fn is_fence(self) -> bool {
        self == MemoryBarrier::Fence
    }

    fn or_fence(self) -> MemoryBarrier {
        if self.register() {
            self
        } else {
            MemoryBarrier::Fence
        }
    }

    /// Barrier between a store and a load, on the working side.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            MemoryBarrier::Fence => fence(Ordering::SeqCst),
            // Pairs with `heavy` on the other side.
            _ => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        }
    }
}

#[cfg(not(any(loom, miri)))]
impl MemoryBarrier {
    /// Registers this process. `false`: the system does not have this kind, or does not allow it.
    pub(crate) fn register(self) -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        let command = match self {
            MemoryBarrier::Fence => return true,
            MemoryBarrier::Process => MembarrierCommand::RegisterPrivateExpedited,
            MemoryBarrier::Global => MembarrierCommand::RegisterGlobalExpedited,
        };
        membarrier(command).is_ok()
    }

    /// Barrier between a store and a load, on the side that goes to sleep. `false`: the system
    /// refused it, and the side must not sleep.
    #[must_use]
    pub(crate) fn heavy(self) -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        let command = match self {
            MemoryBarrier::Fence => {
                fence(Ordering::SeqCst);
                return true;
            }
            MemoryBarrier::Process => MembarrierCommand::PrivateExpedited,
            MemoryBarrier::Global => MembarrierCommand::GlobalExpedited,
        };
        membarrier(command).is_ok()
    }
}

/// Loom and Miri do not know `membarrier`: both barriers are fences.
#[cfg(any(loom, miri))]
impl MemoryBarrier {
    pub(crate) fn register(self) -> bool {
        self == MemoryBarrier::Fence
    }

    #[must_use]
    pub(crate) fn heavy(self) -> bool {
        fence(Ordering::SeqCst);
        true
    }
}
