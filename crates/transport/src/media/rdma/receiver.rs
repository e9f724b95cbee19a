//! The receiving end of an edge over `rdma`.

use std::os::fd::BorrowedFd;
use std::thread;
use std::time::{Duration, Instant};

use ring::frame::FrameBatch;

use super::mode::ModeReceiver;
use crate::{Error, ReceivingEnd, Waitable};

/// Longest time that a new end waits for its connection: a second, of which a connection between
/// two hosts takes a small part.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Time between two looks at a connection that is being made: 0.1 ms.
const CONNECT_RETRY: Duration = Duration::from_micros(100);

/// The receiving end of an edge over `rdma`.
pub(super) struct RdmaReceiver<R> {
    receiver: R,
}

impl<R: ModeReceiver> RdmaReceiver<R> {
    /// Takes over a receiver that has asked for its connection, and waits until the sender's IO
    /// thread has answered, at most [`CONNECT_TIMEOUT`]: the request and the answer get no further
    /// without this side, and a sender cannot tell a receiver that is gone before from a late one.
    /// Later polls go on with a connection that is not made by then.
    ///
    /// # Errors
    /// The provider has failed. A sender that is gone is told by the first poll.
    pub(super) fn new(mut receiver: R) -> Result<RdmaReceiver<R>, Error> {
        let deadline = Instant::now() + CONNECT_TIMEOUT;
        while receiver.is_connecting() && Instant::now() < deadline {
            thread::sleep(CONNECT_RETRY);
            receiver.progress()?;
        }
        Ok(RdmaReceiver { receiver })
    }
}

impl<R: ModeReceiver> ReceivingEnd for RdmaReceiver<R> {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.receiver.poll()
    }

    fn release(&mut self) {
        self.receiver.release();
    }
}

impl<R: ModeReceiver> Waitable for RdmaReceiver<R> {
    /// Looks for frames behind the question whether a thread may sleep: to answer it, a provider
    /// may place what has come, of which its descriptors do not tell any more.
    fn arm(&mut self) -> Result<bool, Error> {
        self.receiver.progress()?;
        let may_sleep = self.receiver.may_sleep()?;
        Ok(may_sleep && !self.receiver.owes_credit() && !self.receiver.has_news()?)
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        self.receiver.list_wait_fds(readable);
    }
}
