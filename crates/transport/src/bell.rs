//! A bell: wakes a thread that is parked on the ends of edges, for whatever is not their business.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

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
        insist(|| rustix::io::write(&self.0, &1u64.to_ne_bytes()));
    }

    /// Makes it silent again; whether it had rung.
    pub fn silence(&self) -> bool {
        // There is nothing to read if it was silent.
        insist(|| rustix::io::read(&self.0, &mut [0; 8]))
    }
}

/// How often a call is made that must not be lost.
const ATTEMPTS: usize = 100;

/// Makes a call that wakes somebody, or takes note of having been woken, until it succeeds, finds the
/// descriptor full or empty, or has failed often: a wake-up that is lost may be the last one. Whether
/// it succeeded.
pub(crate) fn insist<T>(mut call: impl FnMut() -> Result<T, Errno>) -> bool {
    for _ in 0..ATTEMPTS {
        match call() {
            Ok(_) => return true,
            Err(Errno::AGAIN | Errno::PIPE) => return false,
            Err(_) => {}
        }
    }
    false
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_once_is_tried_again() {
        for error in [Errno::INTR, Errno::NOBUFS, Errno::IO] {
            let mut calls = [Err(error), Ok(())].into_iter();
            assert!(insist(|| calls.next().unwrap()), "{error}");
        }
        let mut calls = 0;
        let full = || {
            calls += 1;
            Err::<(), _>(Errno::AGAIN)
        };
        assert!(!insist(full));
        assert_eq!(calls, 1);
        assert!(!insist(|| Err::<(), _>(Errno::BADF)), "it ends");
    }
}
