//! Barriers of parking: the side that works pays nothing, the side that goes to sleep pays for
//! both.
//!
//! Whoever goes to sleep says so in a flag and looks a last time for work; whoever makes work looks
//! at the flag afterwards. Each side stores, then loads what the other stores, so there has to be a
//! full barrier between the two on both sides, or both loads may miss both stores and nobody wakes
//! the sleeper:
//!
//! ```text
//!   works                          goes to sleep
//!     store index                    store flag
//!     light()                        heavy()
//!     load flag: wake?               load index: work after all?
//! ```
//! With `membarrier(2)` the sleeper's heavy barrier is executed on the other side's processor too,
//! wherever that is between its store and its load, and the light one only holds the compiler back.
//! Where the system call is not to be had, both are fences.

use crate::sync::{Ordering, fence};

/// Which barriers the two sides of a ring use; both sides the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryBarrier {
    /// Fences on both sides.
    Fence = 0,
    /// `membarrier`, between threads of this process.
    Process = 1,
    /// `membarrier`, between processes that have registered for it.
    #[cfg(not(any(loom, miri)))]
    Global = 2,
}

impl MemoryBarrier {
    /// From a segment's label.
    #[cfg(not(any(loom, miri)))]
    pub(crate) fn from_number(number: u32) -> Option<MemoryBarrier> {
        let all = [
            MemoryBarrier::Fence,
            MemoryBarrier::Process,
            MemoryBarrier::Global,
        ];
        all.into_iter().find(|barrier| *barrier as u32 == number)
    }

    /// The cheapest for threads of this process.
    pub(crate) fn within_process() -> MemoryBarrier {
        MemoryBarrier::Process.or_fence()
    }

    /// The cheapest for threads of several processes.
    #[cfg(not(any(loom, miri)))]
    pub(crate) fn between_processes() -> MemoryBarrier {
        MemoryBarrier::Global.or_fence()
    }

    /// Whether both sides have to execute a fence.
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

    /// Between a store and a load, on the side that works.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            MemoryBarrier::Fence => fence(Ordering::SeqCst),
            // Pairs with `heavy` of the other side.
            _ => std::sync::atomic::compiler_fence(Ordering::SeqCst),
        }
    }
}

#[cfg(not(any(loom, miri)))]
impl MemoryBarrier {
    /// Makes this process take part. `false`: the system does not have it, or does not allow it.
    pub(crate) fn register(self) -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        let command = match self {
            MemoryBarrier::Fence => return true,
            MemoryBarrier::Process => MembarrierCommand::RegisterPrivateExpedited,
            MemoryBarrier::Global => MembarrierCommand::RegisterGlobalExpedited,
        };
        membarrier(command).is_ok()
    }

    /// Between a store and a load, on the side that goes to sleep. `false`: it could not be had,
    /// and the side must not sleep.
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

/// Neither loom nor Miri knows of `membarrier`: fences.
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
