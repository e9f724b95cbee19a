//! One descriptor in place of those of all rails: a thread that wakes asks the system about each
//! descriptor that it slept on, which a lone frame would wait for.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;

use crate::Error;

/// A descriptor that is readable while one of several is.
pub(super) struct RailWaitSet {
    epoll: OwnedFd,
}

impl RailWaitSet {
    /// A set of no descriptors.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub(super) fn new() -> Result<RailWaitSet, Error> {
        let epoll = epoll::create(CreateFlags::CLOEXEC);
        let epoll = epoll.map_err(|errno| failed(errno.into()))?;
        Ok(RailWaitSet { epoll })
    }

    /// Adds a descriptor, until it is closed. One that is there already stays.
    ///
    /// # Errors
    /// The system has no memory left.
    pub(super) fn add(&self, fd: BorrowedFd<'_>) -> Result<(), Error> {
        match epoll::add(&self.epoll, fd, EventData::new_u64(0), EventFlags::IN) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(failed(errno.into())),
        }
    }
}

impl AsFd for RailWaitSet {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::system("watch the descriptors of rails", error)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    fn is_readable(set: &RailWaitSet) -> bool {
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut [PollFd::new(set, PollFlags::IN)], Some(&at_once)).unwrap() > 0
    }

    #[test]
    fn a_set_is_readable_while_one_of_its_descriptors_is() {
        let set = RailWaitSet::new().unwrap();
        let pairs = [UnixStream::pair().unwrap(), UnixStream::pair().unwrap()];
        for (near, _) in &pairs {
            set.add(near.as_fd()).unwrap();
            set.add(near.as_fd()).unwrap();
        }
        assert!(!is_readable(&set));
        let [(first, mut peer), (_near, mut other)] = pairs;
        peer.write_all(b"a").unwrap();
        assert!(is_readable(&set));
        drop(first);
        assert!(
            !is_readable(&set),
            "a closed descriptor is none of the set's"
        );
        other.write_all(b"a").unwrap();
        assert!(is_readable(&set));
    }
}
