//! The receiving end of plain TCP: reads into one buffer and polls frames in place.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ring::frame::{FrameBatch, PAD};

use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::media::tcp_edge::receive_buffer::{ReadOutcome, ReceiveBuffer};
use crate::media::tcp_edge::receiver_connection::ConnectionPair;
use crate::media::tcp_edge::release_progress::{CreditReporter, ReleaseProgress};
use crate::media::tcp_edge::stream_end::{END_OF_STREAM, StreamEnd};
use crate::{Error, ReceivingEnd, Waitable};

/// The receiving end of an edge over plain TCP.
pub(super) struct TcpReceiver {
    task: Arc<TcpReceiverTask>,
    buffer: ReceiveBuffer,
    name: Arc<str>,
    released: u64,
    /// How the stream has ended, once it has; frames before the end are polled first.
    stream_end: Option<StreamEnd>,
}

/// Part of a receiving end that the IO thread attends to: it reports credit, so that the receiving
/// thread need not.
pub(super) struct TcpReceiverTask {
    connections: ConnectionPair,
    registration: Registration,
    release_progress: ReleaseProgress,
    credit_reporter: Mutex<CreditReporter>,
    is_closed: AtomicBool,
}

impl TcpReceiverTask {
    /// A task that reports to a sender whose ring has `ring_bytes` bytes.
    pub(super) fn new(
        pair: ConnectionPair,
        registration: Registration,
        ring_bytes: u64,
    ) -> TcpReceiverTask {
        TcpReceiverTask {
            connections: pair,
            registration,
            release_progress: ReleaseProgress::new(registration, ring_bytes / 8),
            credit_reporter: Mutex::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    fn release(&self, position: u64) {
        if self.release_progress.release(position) {
            self.release_progress
                .report(&mut self.lock_credit_reporter(), &self.connections.credit);
        }
    }

    fn lock_credit_reporter(&self) -> MutexGuard<'_, CreditReporter> {
        self.credit_reporter
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        if !self.is_closed.swap(true, Ordering::AcqRel) {
            self.release_progress
                .close(&mut self.lock_credit_reporter(), &self.connections.credit);
            self.registration.request_turn();
        }
    }
}

impl IoTask for TcpReceiverTask {
    fn turn(&self, now: Instant) -> NextTurn {
        if self.is_closed.load(Ordering::Acquire) {
            return NextTurn::Unregister;
        }
        let mut reporter = self.lock_credit_reporter();
        let due =
            self.release_progress
                .report_periodically(&mut reporter, &self.connections.credit, now);
        NextTurn::OnEvent.or_at(due)
    }
}

impl TcpReceiver {
    pub(super) fn new(
        task: Arc<TcpReceiverTask>,
        buffer: ReceiveBuffer,
        name: Arc<str>,
    ) -> TcpReceiver {
        TcpReceiver {
            task,
            buffer,
            name,
            released: 0,
            stream_end: None,
        }
    }

    /// Reads received bytes, and finds the whole frames among them.
    fn read(&mut self) {
        if self.stream_end.is_some() {
            return;
        }
        if let ReadOutcome::Closed(why) = self.buffer.read(&self.task.connections.frames) {
            self.stream_end = Some(StreamEnd::Lost(why));
        }
        self.find_frames();
    }

    #[inline]
    fn find_frames(&mut self) {
        loop {
            match self.buffer.peek_header() {
                Ok(Some(header)) => {
                    if !self.buffer.take_frame(header) {
                        return;
                    }
                    if header.kind == PAD && header.flags == END_OF_STREAM {
                        self.stream_end = Some(StreamEnd::goodbye());
                        return;
                    }
                }
                Ok(None) => return,
                Err(why) => {
                    let why = format!("{}: the sender broke the stream off: {why}", self.name);
                    self.stream_end = Some(StreamEnd::Refused(why));
                    return;
                }
            }
        }
    }

    /// Reports the end of the stream, once every frame before it was polled.
    fn check_end(&self) -> Result<(), Error> {
        let Some(end) = self
            .stream_end
            .as_ref()
            .filter(|_| !self.buffer.has_frames())
        else {
            return Ok(());
        };
        self.task.close();
        Err(end.to_error())
    }
}

impl ReceivingEnd for TcpReceiver {
    fn poll(&mut self) -> Result<FrameBatch<'_>, Error> {
        self.read();
        self.check_end()?;
        Ok(self.buffer.poll())
    }

    fn release(&mut self) {
        let released = self.buffer.release();
        if released > 0 {
            self.released += released as u64;
            self.task.release(self.released);
        }
    }
}

impl Waitable for TcpReceiver {
    fn arm(&mut self) -> Result<bool, Error> {
        self.read();
        Ok(self.stream_end.is_none() && !self.buffer.has_frames())
    }

    fn disarm(&mut self) {}

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.task.connections.frames.as_fd());
    }
}

impl Drop for TcpReceiver {
    fn drop(&mut self) {
        self.task.close();
    }
}
