//! A pair of sockets with which threads and processes wake each other.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::PATIENCE;

/// One end of a pair.
pub struct WakeupSocket(UnixStream);

impl WakeupSocket {
    /// Over one end of a pair of sockets.
    pub fn new(stream: UnixStream) -> WakeupSocket {
        stream.set_nonblocking(true).expect("a socket");
        WakeupSocket(stream)
    }

    /// The writer's ends, and the readers'.
    pub fn pairs(readers: u32) -> (Vec<WakeupSocket>, Vec<WakeupSocket>) {
        let pairs = (0..readers).map(|_| UnixStream::pair().expect("sockets"));
        pairs
            .map(|(a, b)| (WakeupSocket::new(a), WakeupSocket::new(b)))
            .unzip()
    }

    /// Gives up the socket, to pass it to another process.
    pub fn into_stream(self) -> UnixStream {
        self.0
    }

    /// Wakes the thread that waits at the other end.
    pub fn wake(&self) {
        match (&self.0).write(&[1]) {
            Ok(_) => {}
            // Enough to wake it has been written already; or it has ended.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Waits until one of them rings.
    pub fn wait(bells: &[WakeupSocket]) {
        let fds = bells
            .iter()
            .map(|bell| PollFd::from_borrowed_fd(bell.0.as_fd(), PollFlags::IN));
        let mut fds: Vec<_> = fds.collect();
        let patience = Timespec::try_from(PATIENCE).expect("seconds");
        let rung = poll(&mut fds, Some(&patience)).expect("poll");
        assert!(rung > 0, "a wake-up was lost");
        for bell in bells {
            match (&bell.0).read(&mut [0; 4096]) {
                Ok(0) => panic!("the other end is gone"),
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
}
