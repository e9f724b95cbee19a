//! A bell: wakes a thread that is parked on the ends of edges, for whatever is not their business.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};

/// Wakes one parked thread. Cheap to clone; whoever holds a clone may ring it.
#[derive(Clone, Debug)]
pub struct Bell(Arc<OwnedFd>);

impl Bell {
    /// A silent bell.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new() -> io::Result<Bell> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Bell(Arc::new(fd)))
    }

    /// Wakes the thread, or keeps it from falling asleep the next time.
    pub fn ring(&self) {
        // A counter that is full already rings.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// Makes it silent again; whether it had rung.
    pub fn silence(&self) -> bool {
        // There is nothing to read if it was silent.
        rustix::io::read(&self.0, &mut [0; 8]).is_ok()
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
