//! The sending end of an edge over `rdma`, and its task at the IO thread.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;

use super::mode::{ModeSender, ModeTargets, lock, try_lock};
use crate::media::tcp_edge::io_thread::{IoTask, NextTurn, Registration};
use crate::media::tcp_edge::stream_end::LINGER_TIMEOUT;
use crate::{EdgeCounters, Error, SendingEnd, Waitable, Wakeup};

/// Time between two turns of the IO thread that attends to an end: 1 ms.
const RETRY: Duration = Duration::from_millis(1);

/// Pause after which the IO thread comes back to a batch when the sending thread is at work.
const BUSY_RETRY: Duration = Duration::from_micros(50);

/// Turns without a commit, and with nothing on its way, after which the IO thread stops attending.
/// A stream of some ten tuples a second keeps it, so few commits have to call it.
const QUIET_TURNS: u32 = 64;

/// Watch of a descriptor that ends with its first event. Once a provider has told of an event its
/// descriptor stays readable until the node is asked whether a thread may sleep.
const ONE_EVENT: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);

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

/// Part of a sending end that the IO thread attends to: requests of receivers, and what waits while
/// the sending thread is elsewhere, be it here or in the provider.
struct RdmaSenderTask<T> {
    targets: Arc<Mutex<T>>,
    registration: Registration,
    /// Descriptors of each node: of its completions, which the sending thread sleeps on, and of its
    /// events. The IO thread watches both while it does not attend: what a provider has kept back
    /// can go out, and a connection that is idle can end, when the first is readable.
    fds: Vec<[OwnedFd; 2]>,
    /// By node, whether the sending thread sleeps on its descriptor.
    sound_nodes: AtomicU64,
    wakeup: Wakeup,
    /// Pause after a turn in which the sending thread had the lock.
    busy_retry: Duration,
    is_armed: AtomicBool,
    /// Whether the IO thread comes by itself, each [`RETRY`].
    is_attended: AtomicBool,
    turns: Mutex<TurnCount>,
    /// Time at which the IO thread gives a dropped end up.
    closed_at: Mutex<Option<Instant>>,
}

impl<S: ModeSender<Targets: 'static>> RdmaSender<S> {
    pub(super) fn new(sender: S, counters: Arc<EdgeCounters>) -> Result<RdmaSender<S>, Error> {
        let registration = Registration::reserve()?;
        let wakeup = Wakeup::new();
        let wakeup = wakeup.map_err(|error| Error::system("make an event descriptor", error))?;
        let targets = sender.targets().clone();
        let fds = {
            let targets = lock(&targets);
            let own = |[one, two]: [BorrowedFd<'_>; 2]| {
                Ok([one.try_clone_to_owned()?, two.try_clone_to_owned()?])
            };
            let fds: std::io::Result<Vec<_>> = targets.wait_fds()?.into_iter().map(own).collect();
            fds.map_err(|error| Error::system("duplicate a descriptor", error))?
        };
        for fd in fds.iter().flatten() {
            let watch = registration.watch_fd(fd, ONE_EVENT);
            watch.map_err(|error| Error::system("watch a descriptor", error))?;
        }
        let busy_retry = match lock(&targets).is_batching() {
            true => BUSY_RETRY,
            false => RETRY,
        };
        let task = Arc::new(RdmaSenderTask {
            targets,
            registration,
            fds,
            sound_nodes: AtomicU64::new(u64::MAX),
            wakeup,
            busy_retry,
            is_armed: AtomicBool::new(false),
            is_attended: AtomicBool::new(true),
            turns: Mutex::default(),
            closed_at: Mutex::new(None),
        });
        report_level(&counters, task.targets.clone());
        lock(&task.targets).attach(registration);
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

/// Has the counters read what the receivers have not released, and count who is refused.
fn report_level<T: ModeTargets + 'static>(counters: &Arc<EdgeCounters>, targets: Arc<Mutex<T>>) {
    lock(&targets).count_refusals_in(counters.clone());
    counters.set_refresh(move |counters| {
        let (receiver, bytes) = lock(&targets).slowest().unwrap_or_default();
        counters.queued_bytes.store(bytes, Ordering::Relaxed);
        let slowest = &counters.slowest_receiver;
        slowest.store(receiver, Ordering::Relaxed);
    });
}

/// The IO thread's turns at one end.
#[derive(Default)]
struct TurnCount {
    /// Count of commits as of the last turn.
    committed: u64,
    /// Turns in a row without a commit, in which nothing waited, here or in the provider.
    quiet: u32,
}

impl TurnCount {
    /// Counts a turn. Returns whether there was a commit since the last one, all of which is
    /// posted.
    fn count(&mut self, targets: &impl ModeTargets) -> bool {
        let committed = targets.committed();
        let is_new = committed != std::mem::replace(&mut self.committed, committed);
        let is_waiting = targets.waits();
        // Some of what is posted may wait in the provider, which sends it when it is called.
        self.quiet = match is_new || is_waiting || targets.is_on_way() {
            true => 0,
            false => self.quiet + 1,
        };
        is_new && !is_waiting
    }
}

impl<T> RdmaSenderTask<T> {
    /// Has the IO thread attend to this end until it is quiet.
    fn attend(&self) {
        if !self.is_attended.load(Ordering::Acquire) {
            self.is_attended.store(true, Ordering::Release);
            self.registration.request_turn();
        }
    }

    fn fds(&self) -> impl Iterator<Item = &OwnedFd> {
        self.fds.iter().flatten()
    }
}

impl<T: ModeTargets> RdmaSenderTask<T> {
    /// Notes which nodes the sending thread may sleep on, if it is any other than before.
    fn note_sound_nodes(&self) {
        if self.fds.len() < 2 {
            return;
        }
        let targets = lock(&self.targets);
        let sound = (0..self.fds.len()).filter(|node| targets.is_sound(*node));
        let sound = sound.fold(0, |all, node| all | 1 << node);
        self.sound_nodes.store(sound, Ordering::Relaxed);
    }
}

impl<T: ModeTargets> IoTask for RdmaSenderTask<T> {
    fn turn(&self, now: Instant) -> NextTurn {
        // A sending thread that has the lock does what this turn would do, but for a batch.
        let Some(mut targets) = try_lock(&self.targets) else {
            return NextTurn::At(now + self.busy_retry);
        };
        // A thread announces its sleep before it looks for room a last time, behind the same lock.
        let is_armed = self.is_armed.load(Ordering::Acquire);
        let closed_at = *self.closed_at.lock().unwrap_or_else(|e| e.into_inner());
        let mut turns = self.turns.lock().unwrap_or_else(|e| e.into_inner());
        if turns.count(&*targets) && !is_armed && closed_at.is_none() {
            // The sending thread was here since the last turn, and may be at once again.
            return NextTurn::At(now + RETRY).or_at(targets.next_turn_at(now));
        }
        let progress = targets.progress();
        let retry = NextTurn::At(now + RETRY).or_at(targets.next_turn_at(now));
        if is_armed && (targets.take_news() || progress.is_err()) {
            self.wakeup.wake();
        }
        if let Some(closed_at) = closed_at {
            let is_over = progress.is_err() || targets.is_done();
            if is_over || now >= closed_at + LINGER_TIMEOUT {
                for fd in self.fds() {
                    self.registration.unwatch_fd(fd);
                }
                return NextTurn::Unregister;
            }
            return retry;
        }
        // A connection may have broken in this turn.
        if turns.quiet < QUIET_TURNS || targets.waits() {
            return retry;
        }
        // Behind the lock: a commit that comes next finds that it has to call.
        self.is_attended.store(false, Ordering::Release);
        match targets.may_sleep() {
            Ok(false) => NextTurn::At(now),
            _ => {
                // The descriptors of a failed node may stay readable.
                let nodes = self.fds.iter().enumerate();
                let sound = nodes.filter(|(node, _)| targets.is_sound(*node));
                for fd in sound.flat_map(|(_, fds)| fds) {
                    self.registration.change_watch(fd, ONE_EVENT);
                }
                NextTurn::OnEvent
            }
        }
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
        let needs_turn = self.sender.commit(kind, flags, len);
        self.task.attend();
        if needs_turn {
            self.task.registration.request_turn();
        }
        self.frames += 1;
        self.bytes += ring::frame::frame_bytes(len) as u64;
        self.counters.frames.store(self.frames, Ordering::Relaxed);
        self.counters.bytes.store(self.bytes, Ordering::Relaxed);
    }

    fn flush(&mut self) -> Result<bool, Error> {
        self.sender.flush()
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
        let may_sleep = self.sender.may_sleep(self.blocked_claim_bytes);
        let is_asleep = *may_sleep.as_ref().unwrap_or(&false);
        self.task.note_sound_nodes();
        self.task.is_armed.store(is_asleep, Ordering::Release);
        if is_asleep {
            self.task.attend();
        }
        may_sleep
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
        let sound_nodes = self.task.sound_nodes.load(Ordering::Relaxed);
        let sound = self.task.fds.iter().enumerate();
        let sound = sound.filter(|(node, _)| sound_nodes & (1 << node) != 0);
        readable.extend(sound.map(|(_, [completions, _])| completions.as_fd()));
    }
}

impl<S: ModeSender> Drop for RdmaSender<S> {
    /// Hands the rest to the IO thread, which goes on for [`LINGER_TIMEOUT`].
    fn drop(&mut self) {
        self.sender.forget_claim();
        // They do not keep the node.
        self.counters.freeze();
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
