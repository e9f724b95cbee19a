//! Parking: a thread sleeps until one of several ends has work. Nothing is allocated after the
//! first few times.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::{Error, Waitable, Wakeup};

/// Ends that one thread sleeps on, by index.
pub trait WaitSet {
    /// Number of ends in the set.
    fn count(&self) -> usize;

    /// The end at this index.
    fn waitable(&self, at: usize) -> &dyn Waitable;

    /// The end at this index, mutable.
    fn waitable_mut(&mut self, at: usize) -> &mut dyn Waitable;
}

impl<const N: usize> WaitSet for [&mut dyn Waitable; N] {
    fn count(&self) -> usize {
        N
    }

    fn waitable(&self, at: usize) -> &dyn Waitable {
        &*self[at]
    }

    fn waitable_mut(&mut self, at: usize) -> &mut dyn Waitable {
        &mut *self[at]
    }
}

/// Descriptors for which room is reserved; most threads sleep on fewer.
const POLL_FDS_CAPACITY: usize = 16;

/// Wakeup and lists with which a thread sleeps; the lists are reused.
#[derive(Debug)]
pub(crate) struct Parker {
    pub wakeup: Wakeup,
    // The lists are empty between two sleeps.
    readable: Vec<BorrowedFd<'static>>,
    writable: Vec<BorrowedFd<'static>>,
    poll_fds: Vec<PollFd<'static>>,
}

impl Parker {
    pub fn new(wakeup: Wakeup) -> Parker {
        Parker {
            wakeup,
            readable: Vec::with_capacity(POLL_FDS_CAPACITY),
            writable: Vec::with_capacity(POLL_FDS_CAPACITY),
            poll_fds: Vec::with_capacity(POLL_FDS_CAPACITY),
        }
    }

    /// Arms the ends and sleeps, if all of them agree, until one has work, the wakeup is used, or
    /// the time `at_most` is over.
    ///
    /// # Errors
    /// The index of the end that cannot be waited for, and why.
    pub fn park(
        &mut self,
        ends: &mut (impl WaitSet + ?Sized),
        at_most: Option<Duration>,
    ) -> Result<(), (usize, Error)> {
        let mut armed = 0;
        let mut outcome = Ok(true);
        while armed < ends.count() && matches!(outcome, Ok(true)) {
            outcome = ends
                .waitable_mut(armed)
                .arm()
                .map_err(|error| (armed, error));
            armed += 1;
        }
        if let Ok(true) = outcome {
            let slept = self.poll(ends, at_most);
            outcome = slept.map(|()| true).map_err(|error| (0, error));
        }
        (0..armed).for_each(|at| ends.waitable_mut(at).disarm());
        outcome.map(drop)
    }

    fn poll(
        &mut self,
        ends: &(impl WaitSet + ?Sized),
        at_most: Option<Duration>,
    ) -> Result<(), Error> {
        let mut readable: Vec<BorrowedFd<'_>> = std::mem::take(&mut self.readable);
        let mut writable: Vec<BorrowedFd<'_>> = std::mem::take(&mut self.writable);
        let mut polled: Vec<PollFd<'_>> = std::mem::take(&mut self.poll_fds);
        for at in 0..ends.count() {
            ends.waitable(at).poll_fds(&mut readable, &mut writable);
        }
        polled.push(PollFd::new(&self.wakeup, PollFlags::IN));
        for &fd in &readable {
            polled.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
        for &fd in &writable {
            polled.push(PollFd::from_borrowed_fd(fd, PollFlags::OUT));
        }
        // Times longer than the system can count mean for ever.
        let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
        let outcome = poll(&mut polled, timeout.as_ref());
        let has_rung = !polled[0].revents().is_empty();
        self.readable = recycle_vec(readable);
        self.writable = recycle_vec(writable);
        self.poll_fds = recycle_vec(polled);
        if has_rung {
            self.wakeup.clear();
        }
        match outcome {
            // Without memory for the call, the sleep was too short, which does no harm.
            Ok(_) | Err(Errno::INTR | Errno::NOMEM) => Ok(()),
            Err(error) => Err(Error::system("wait for the ends of edges", error)),
        }
    }
}

/// Empties a vector and turns it into one for items of another lifetime. The library reuses the
/// memory.
fn recycle_vec<A, B>(mut items: Vec<A>) -> Vec<B> {
    items.clear();
    items.into_iter().filter_map(|_| None).collect()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn an_emptied_vector_keeps_its_memory() {
        let wakeup = Wakeup::new().unwrap();
        let mut items = Vec::with_capacity(10);
        items.push(wakeup.as_fd());
        let at = items.as_ptr().addr();
        let empty: Vec<BorrowedFd<'static>> = recycle_vec(items);
        assert!(empty.is_empty());
        assert_eq!((empty.as_ptr().addr(), empty.capacity()), (at, 10));
    }
}
