//! The sending end of an edge over `rdma`, and its task at the IO thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fabric::RdmaNode;
use rustix::event::epoll::EventFlags;

use super::mode::{ModeSender, ModeTargets};
use super::write_sender::lock;
use super::write_targets::refused;
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::media::tcp_edge::stream_end::LINGER_TIMEOUT;
use crate::{EdgeCounters, Error, SendingEnd, Waitable, Wakeup};

/// Time between two looks of the IO thread at what waits to be sent: 1 ms.
const RETRY: Duration = Duration::from_millis(1);

/// The sending end of an edge over `rdma`.
pub(super) struct RdmaSender<S: ModeSender> {
    sender: S,
    task: Arc<RdmaSenderTask<S::Targets>>,
    counters: Arc<EdgeCounters>,
    /// Payload bytes of the last claim that found no room.
    blocked_claim_bytes: usize,
    frames: u64,
    bytes: u64,
}

/// Part of a sending end that the IO thread attends to: requests of receivers, credit, and what
/// waits while the sending thread is elsewhere.
struct RdmaSenderTask<T> {
    targets: Arc<Mutex<T>>,
    registration: Registration,
    /// Descriptors of the node that the IO thread watches.
    watched: [OwnedFd; 2],
    wakeup: Wakeup,
    is_armed: AtomicBool,
    /// Whether a turn was asked for that has not come yet.
    is_called: AtomicBool,
    /// Time at which the IO thread gives a dropped end up.
    closed_at: Mutex<Option<Instant>>,
}

impl<S: ModeSender<Targets: 'static>> RdmaSender<S> {
    pub(super) fn new(sender: S, counters: Arc<EdgeCounters>) -> Result<RdmaSender<S>, Error> {
        let registration = Registration::reserve()?;
        let wakeup = Wakeup::new();
        let wakeup = wakeup.map_err(|error| Error::system("make an event descriptor", error))?;
        let targets = sender.targets().clone();
        let watched = {
            let mut targets = lock(&targets);
            let fds = targets.node_mut().wait_fds().map_err(refused)?;
            let [one, two] = fds.map(|fd| fd.try_clone_to_owned());
            let no_fd = |error| Error::system("duplicate a descriptor", error);
            [one.map_err(no_fd)?, two.map_err(no_fd)?]
        };
        for fd in &watched {
            let watch = registration.watch_fd(fd, EventFlags::IN);
            watch.map_err(|error| Error::system("watch a descriptor", error))?;
        }
        let task = Arc::new(RdmaSenderTask {
            targets,
            registration,
            watched,
            wakeup,
            is_armed: AtomicBool::new(false),
            is_called: AtomicBool::new(false),
            closed_at: Mutex::new(None),
        });
        registration.add_task(task.clone());
        Ok(RdmaSender {
            sender,
            task,
            counters,
            blocked_claim_bytes: 0,
            frames: 0,
            bytes: 0,
        })
    }
}

impl<T> RdmaSenderTask<T> {
    /// Asks for a turn, once until it comes.
    fn call(&self) {
        if !self.is_called.swap(true, Ordering::AcqRel) {
            self.registration.request_turn();
        }
    }
}

impl<T: ModeTargets> IoTask for RdmaSenderTask<T> {
    fn turn(&self, now: Instant) -> NextTurn {
        let mut targets = lock(&self.targets);
        let progress = targets.progress();
        let (is_done, waits) = (targets.is_done(), targets.waits());
        self.is_called.store(false, Ordering::Release);
        let may_sleep = targets.node_mut().may_sleep();
        // A thread announces its sleep before it looks for room a last time, behind the same lock.
        let is_armed = self.is_armed.load(Ordering::Acquire);
        if is_armed && (targets.take_news() || progress.is_err()) {
            self.wakeup.wake();
        }
        drop(targets);
        let closed_at = self.closed_at.lock().unwrap_or_else(|e| e.into_inner());
        let next = match may_sleep {
            Ok(false) => NextTurn::At(now),
            // Not every provider tells by a descriptor of each step of a connection, or of room.
            _ if waits || is_armed => NextTurn::At(now + RETRY),
            _ => NextTurn::OnEvent,
        };
        let Some(closed_at) = *closed_at else {
            return next;
        };
        if progress.is_err() || is_done || now >= closed_at + LINGER_TIMEOUT {
            for fd in &self.watched {
                self.registration.unwatch_fd(fd);
            }
            return NextTurn::Unregister;
        }
        next.or_at(Some(closed_at + LINGER_TIMEOUT))
    }
}

impl<S: ModeSender> SendingEnd for RdmaSender<S> {
    fn payload_bytes_max(&self) -> usize {
        self.sender.payload_bytes_max()
    }

    fn claim(&mut self, len: usize) -> Result<Option<&mut [u8]>, Error> {
        if !self.sender.try_claim(len)? {
            self.blocked_claim_bytes = len;
            self.counters.block();
            return Ok(None);
        }
        self.blocked_claim_bytes = 0;
        self.counters.unblock();
        Ok(Some(self.sender.claimed()))
    }

    fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        if self.sender.commit(kind, flags, len) {
            self.task.call();
        }
        self.frames += 1;
        self.bytes += ring::frame::frame_bytes(len) as u64;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.sender.progress()
    }

    fn is_drained(&mut self) -> Result<bool, Error> {
        self.sender.progress()?;
        Ok(self.sender.is_drained())
    }

    fn queued_bytes(&self) -> usize {
        self.sender.queued_bytes()
    }

    fn lost_receivers(&self) -> &[u32] {
        self.sender.lost_receivers()
    }

    fn counters(&self) -> Option<Arc<EdgeCounters>> {
        Some(self.counters.clone())
    }
}

impl<S: ModeSender> Waitable for RdmaSender<S> {
    fn arm(&mut self) -> Result<bool, Error> {
        self.task.wakeup.clear();
        self.task.is_armed.store(true, Ordering::Release);
        // The next claim reports an error, if there is one.
        let has_room = self.sender.try_claim(self.blocked_claim_bytes);
        self.sender.forget_claim();
        if has_room.unwrap_or(true) {
            self.task.is_armed.store(false, Ordering::Release);
            return Ok(false);
        }
        self.task.registration.request_turn();
        Ok(true)
    }

    fn disarm(&mut self) {
        self.task.is_armed.store(false, Ordering::Release);
    }

    fn poll_fds<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.task.wakeup.as_fd());
    }
}

impl<S: ModeSender> Drop for RdmaSender<S> {
    /// Hands the rest to the IO thread, which goes on for [`LINGER_TIMEOUT`].
    fn drop(&mut self) {
        self.sender.forget_claim();
        let mut closed_at = self
            .task
            .closed_at
            .lock()
            .unwrap_or_else(|e| e.into_inner());
        *closed_at = Some(Instant::now());
        drop(closed_at);
        self.task.registration.request_turn();
    }
}
