//! What both sides of a queue share: how far each is, and who is to be woken.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use graph::{Fault, FaultKind};
use transport::{Bell, Idle};

use super::queued::Queued;
use super::spill::Spill;
use crate::Build;
use crate::crossing::{Pacing, quiet};
use crate::stop::Stop;
use crate::wait::{Doing, ThreadId, Waits};

/// Shared by both sides.
#[derive(Debug)]
pub(super) struct Hall {
    pub queued: Arc<Queued>,
    pub spill: Spill,
    pub pacing: Arc<Pacing>,
    /// Raised if the queue's thread has to end.
    interrupt: Stop,
    waits: Arc<Waits>,
    /// The queue's thread; [`ThreadId::MAX`]: it has not begun.
    taker: AtomicU32,
    /// What wakes it.
    taker_bell: OnceLock<Bell>,
    /// The queue's thread has ended: nothing is taken any more.
    is_closed: AtomicBool,
    /// What wakes whoever sends, one thread at a time.
    sender_bell: OnceLock<Bell>,
    /// He sleeps until so many items are taken; [`AWAKE`]: he does not.
    wake_at: AtomicU64,
}

/// What whoever sends may do with his item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// There is room, or there will never be because the queue's thread waits for the sender.
    Given,
    /// Nobody takes anything any more.
    Gone,
}

const AWAKE: u64 = u64::MAX;

/// Longest sleep of whoever sends. The queue's thread looks without a barrier whether somebody
/// sleeps, and may miss it for once.
const NAP: Duration = Duration::from_millis(10);

impl Hall {
    pub fn new(build: &Build<'_>, items_max: u64, interrupt: Stop) -> Arc<Hall> {
        let queued = Queued::new(build.operator.name.clone(), items_max, &build.inputs[0]);
        Arc::new(Hall {
            queued: Arc::new(queued),
            spill: Spill::default(),
            pacing: build.borders.pacing.clone(),
            interrupt,
            waits: build.room.0.clone(),
            taker: AtomicU32::new(ThreadId::MAX),
            taker_bell: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            sender_bell: OnceLock::new(),
            wake_at: AtomicU64::new(AWAKE),
        })
    }
}

/// For whoever sends.
impl Hall {
    /// Whether there is no room for another item.
    pub fn is_full(&self) -> bool {
        self.queued.limit() - self.queued.taken() >= self.queued.items_max
    }

    /// Waits until there is room for an item, or there never will be.
    #[cold]
    pub fn wait(&self, idle: &mut Option<Idle>) -> Result<Slot, Fault> {
        let idle = match idle {
            Some(idle) => idle,
            none => none.insert(self.pacing.idle()?),
        };
        idle.worked();
        let bell = self.sender_bell.get_or_init(|| idle.bell().clone()).clone();
        self.queued.is_seen_full();
        let Some(thread) = quiet::thread() else {
            return Ok(Slot::Given);
        };
        quiet::flush();
        self.queued.blocks();
        let doing = Doing::Queue(self.taker(), bell);
        let slot = self
            .waits
            .while_doing(thread, doing, || self.wait_in(thread, idle));
        self.queued.goes_on();
        slot
    }

    fn wait_in(&self, thread: ThreadId, idle: &mut Idle) -> Result<Slot, Fault> {
        let mut looks_around = true;
        loop {
            if !self.is_full() {
                return Ok(Slot::Given);
            }
            if self.is_closed.load(Ordering::Acquire) || self.pacing.has_failed() {
                return Ok(Slot::Gone);
            }
            if looks_around && !self.waits.can_go_on(self.taker(), thread) {
                return Ok(Slot::Given);
            }
            looks_around = !idle.pass();
            if looks_around {
                self.sleep(idle)?;
            }
        }
    }

    /// Until a good part of the queue is free.
    fn sleep(&self, idle: &mut Idle) -> Result<(), Fault> {
        let items_max = self.queued.items_max;
        let wake_at = self.queued.limit() - items_max + (items_max / 4).max(1);
        self.wake_at.store(wake_at, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let slept = if self.is_full() {
            park(idle, Some(NAP))
        } else {
            Ok(())
        };
        self.wake_at.store(AWAKE, Ordering::Relaxed);
        slept
    }

    fn taker(&self) -> ThreadId {
        self.taker.load(Ordering::Relaxed)
    }

    /// There is something in the ring, and the queue's thread sleeps.
    #[cold]
    pub fn wake_taker(&self) {
        if let Some(bell) = self.taker_bell.get() {
            bell.ring();
        }
    }
}

/// For the queue's thread.
impl Hall {
    /// It begins.
    pub fn opens(&self) -> Result<Idle, Fault> {
        let idle = self.pacing.idle()?;
        let bell = self.taker_bell.get_or_init(|| idle.bell().clone()).clone();
        self.interrupt.wake(move || bell.ring());
        if let Some(thread) = quiet::thread() {
            self.taker.store(thread, Ordering::Relaxed);
        }
        Ok(idle)
    }

    /// Whether it has to end.
    pub fn is_interrupted(&self) -> bool {
        self.pacing.has_failed() || self.interrupt.is_requested()
    }

    /// It has ended.
    pub fn closes(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.wake_sender();
    }

    /// It begins to process items.
    #[inline]
    pub fn takes(&self, items: u64) {
        let taken = self.queued.takes(items);
        if taken >= self.wake_at.load(Ordering::Relaxed) {
            self.wake_sender();
        }
    }

    /// It has nothing to do: nobody may sleep because it has missed that he does.
    pub fn rests(&self) {
        fence(Ordering::SeqCst);
        if self.wake_at.load(Ordering::Relaxed) != AWAKE {
            self.wake_sender();
        }
    }

    #[cold]
    fn wake_sender(&self) {
        self.wake_at.store(AWAKE, Ordering::Relaxed);
        if let Some(bell) = self.sender_bell.get() {
            bell.ring();
        }
    }
}

/// Sleeps until a bell rings.
pub(super) fn park(idle: &mut Idle, at_most: Option<Duration>) -> Result<(), Fault> {
    let slept = idle.nap(at_most);
    slept.map_err(|error| Fault::new(FaultKind::System, error.to_string()))
}
