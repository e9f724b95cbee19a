//! A wakeup: ends the sleep of a thread that is parked on the ends of edges, for reasons other than
//! frames and room.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

/// Wakes one parked thread. Cheap to clone; every clone wakes the same thread.
///
/// # Example
/// ```
/// use thalweg_transport::Wakeup;
///
/// let wakeup = Wakeup::new()?;
/// wakeup.clone().wake();
/// assert!(wakeup.clear(), "it was used");
/// assert!(!wakeup.clear());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Wakeup(Arc<OwnedFd>);

impl Wakeup {
    /// A wakeup that was not used yet.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new() -> io::Result<Wakeup> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Wakeup(Arc::new(fd)))
    }

    /// Wakes the thread, or keeps it from falling asleep the next time.
    pub fn wake(&self) {
        // A counter that is full wakes already.
        retry_wakeup_call(|| rustix::io::write(&self.0, &1u64.to_ne_bytes()));
    }

    /// Resets the wakeup. `true`: it was used since the last reset.
    pub fn clear(&self) -> bool {
        // There is nothing to read if it was not used.
        retry_wakeup_call(|| rustix::io::read(&self.0, &mut [0; 8]))
    }
}

/// Most tries of a call that must not be lost: a lost wakeup may be the last one.
const WAKE_ATTEMPTS_MAX: usize = 100;

/// Makes a call that sends or takes a wakeup, until it succeeds, finds the descriptor full or
/// empty, or has failed [`WAKE_ATTEMPTS_MAX`] times. `true`: it succeeded.
pub(crate) fn retry_wakeup_call<T>(mut call: impl FnMut() -> Result<T, Errno>) -> bool {
    for _ in 0..WAKE_ATTEMPTS_MAX {
        match call() {
            Ok(_) => return true,
            Err(Errno::AGAIN | Errno::PIPE) => return false,
            Err(_) => {}
        }
    }
    false
}

impl AsFd for Wakeup {
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
            assert!(retry_wakeup_call(|| calls.next().unwrap()), "{error}");
        }
        let mut calls = 0;
        let full = || {
            calls += 1;
            Err::<(), _>(Errno::AGAIN)
        };
        assert!(!retry_wakeup_call(full));
        assert_eq!(calls, 1);
        assert!(!retry_wakeup_call(|| Err::<(), _>(Errno::BADF)), "it ends");
    }
}
