//! The state that both sides of a queue share: how far each is, and how each is woken.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval::{Fault, FaultKind};
use graph::PeThreadId;
use transport::{Idler, Wakeup};

use super::consumer_wakeup::ConsumerWakeup;
use super::spill::SpillQueue;
use crate::BuildContext;
use crate::blocking::before_sleep;
use crate::blocking::pe_thread::{self, NO_THREAD};
use crate::blocking::pool_thread;
use crate::blocking::region_pool::RegionWaker;
use crate::blocking::stop_signal::StopSignal;
use crate::blocking::thread_samples;
use crate::blocking::thread_waits::{PendingItems, ThreadActivity, ThreadWaits};
use crate::counters::queue_counters::QueueCounters;
use crate::edge::idle_policy::IdlePolicy;

/// State that producer and consumer share.
#[derive(Debug)]
pub(crate) struct QueueState {
    pub counters: Arc<QueueCounters>,
    pub spill: SpillQueue,
    pub idle_policy: Arc<IdlePolicy>,
    /// Requested if the consumer's thread has to end.
    interrupt: StopSignal,
    waits: Arc<ThreadWaits>,
    /// Number of the consumer's thread; [`NO_THREAD`] before it has begun.
    consumer: AtomicU32,
    /// How the consumer is told of an item.
    consumer_wakeup: OnceLock<ConsumerWakeup>,
    /// Whether the consumer has ended, and no item is taken any more.
    is_closed: AtomicBool,
    /// Wakeup of the producer; one thread at a time sends.
    producer_wakeup: OnceLock<Wakeup>,
    /// Number of taken items at which the sleeping producer is woken; [`AWAKE`] while it runs.
    wake_producer_at: AtomicU64,
}

/// Result of the producer's wait for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoomWait {
    /// The queue has room, or never will because the consumer waits for the producer.
    HasRoom,
    /// The consumer has ended, and no item is taken any more.
    ConsumerEnded,
}

const AWAKE: u64 = u64::MAX;

/// Longest sleep of a producer: 10 ms. The consumer looks without a barrier whether a producer
/// sleeps, and may miss it once.
const SLEEP_MAX: Duration = Duration::from_millis(10);

impl QueueState {
    pub fn new(build: &BuildContext<'_>, items_max: u64, interrupt: StopSignal) -> Arc<QueueState> {
        let counters = QueueCounters::new(build.operator.name.clone(), items_max, &build.inputs[0]);
        Arc::new(QueueState {
            counters: Arc::new(counters),
            spill: SpillQueue::default(),
            idle_policy: build.crossing_resources.idle_policy.clone(),
            interrupt,
            waits: build.room_notifier.0.clone(),
            consumer: AtomicU32::new(NO_THREAD.0),
            consumer_wakeup: OnceLock::new(),
            is_closed: AtomicBool::new(false),
            producer_wakeup: OnceLock::new(),
            wake_producer_at: AtomicU64::new(AWAKE),
        })
    }
}

/// Calls of the producer.
impl QueueState {
    /// Whether there is no room for another item.
    pub fn is_full(&self) -> bool {
        self.counters.sent_and_kept() - self.counters.taken() >= self.counters.items_max()
    }

    /// Waits until there is room for an item, or there never will be. A thread of the pool runs the
    /// consumer itself instead, unless another thread does.
    ///
    /// # Errors
    /// The system has no descriptor to sleep on.
    #[cold]
    pub fn wait_for_room(&self, idle: &mut Option<Idler>) -> Result<RoomWait, Fault> {
        self.counters.record_full();
        while pool_thread::run_region_of(self.consumer()) {
            if let Some(ended) = self.wait_result() {
                return Ok(ended);
            }
        }
        let idle = match idle {
            Some(idle) => idle,
            none => none.insert(self.idle_policy.new_idle()?),
        };
        idle.reset();
        let wakeup = self
            .producer_wakeup
            .get_or_init(|| idle.wakeup().clone())
            .clone();
        let Some(thread) = pe_thread::current() else {
            return Ok(RoomWait::HasRoom);
        };
        before_sleep::flush();
        self.counters.begin_wait();
        thread_samples::set_waiting(true);
        let doing = ThreadActivity::WaitsForQueue(self.consumer(), wakeup);
        let slot = self
            .waits
            .while_waiting(thread, doing, || self.poll_for_room(thread, idle));
        thread_samples::set_waiting(false);
        self.counters.end_wait();
        slot
    }

    fn poll_for_room(&self, thread: PeThreadId, idle: &mut Idler) -> Result<RoomWait, Fault> {
        let mut looks_around = true;
        loop {
            if let Some(ended) = self.wait_result() {
                return Ok(ended);
            }
            if looks_around && !self.waits.can_progress(self.consumer(), thread) {
                return Ok(RoomWait::HasRoom);
            }
            looks_around = !idle.spin_or_yield();
            if looks_around {
                self.sleep(idle)?;
            }
        }
    }

    /// The result of a wait for room, if it is over.
    fn wait_result(&self) -> Option<RoomWait> {
        if !self.is_full() {
            return Some(RoomWait::HasRoom);
        }
        let has_ended = self.is_closed.load(Ordering::Acquire) || self.idle_policy.has_failed();
        has_ended.then_some(RoomWait::ConsumerEnded)
    }

    /// Sleeps until a quarter of the queue is free.
    fn sleep(&self, idle: &mut Idler) -> Result<(), Fault> {
        let items_max = self.counters.items_max();
        let wake_at = self.counters.sent_and_kept() + (items_max / 4).max(1);
        // The queue may have been made larger just now.
        let wake_at = wake_at.saturating_sub(items_max);
        self.wake_producer_at.store(wake_at, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let slept = if self.is_full() {
            park(idle, Some(SLEEP_MAX))
        } else {
            Ok(())
        };
        self.wake_producer_at.store(AWAKE, Ordering::Relaxed);
        slept
    }

    fn consumer(&self) -> PeThreadId {
        PeThreadId(self.consumer.load(Ordering::Relaxed))
    }

    /// Wakes the consumer, which sleeps although there is a frame in the ring.
    #[cold]
    pub fn wake_consumer(&self) {
        if let Some(wakeup) = self.consumer_wakeup.get() {
            wakeup.wake();
        }
    }
}

impl PendingItems for QueueState {
    fn has_items(&self) -> bool {
        self.counters.sent_and_kept() > self.counters.taken()
    }
}

/// Calls of the consumer.
impl QueueState {
    /// Runs `wait`, in which the consumer's thread waits for items.
    pub fn while_idle<T>(self: &Arc<Self>, wait: impl FnOnce() -> T) -> T {
        self.waits.while_idle(self.consumer(), self.clone(), wait)
    }

    /// Whether somebody waits for room, which the consumer might make if it had items.
    pub fn has_room_waiters(&self) -> bool {
        self.waits.has_bounds() && self.waits.has_room_waiters()
    }

    /// Notes that the pool's threads leave the consumer alone until an item comes, or no longer.
    pub fn set_pooled_idle(self: &Arc<Self>, is_idle: bool) {
        if self.waits.has_bounds() {
            let items = is_idle.then(|| self.clone() as Arc<dyn PendingItems>);
            self.waits.set_idle(self.consumer(), items);
        }
    }

    /// Opens the consumer's side, on its thread.
    ///
    /// # Errors
    /// The system has no descriptor to sleep on.
    pub fn open_consumer(&self) -> Result<Idler, Fault> {
        let idle = self.idle_policy.new_idle()?;
        let wakeup = ConsumerWakeup::Thread(idle.wakeup().clone());
        let wakeup = self.consumer_wakeup.get_or_init(|| wakeup).clone();
        self.interrupt.on_request(move || wakeup.wake());
        if let Some(thread) = pe_thread::current() {
            self.consumer.store(thread.0, Ordering::Relaxed);
        }
        Ok(idle)
    }

    /// Opens the consumer's side for a pool, before any thread runs: `thread` is the thread of the
    /// plan that the threads of the pool take the part of.
    pub fn open_pooled_consumer(&self, thread: PeThreadId, waker: RegionWaker) {
        self.consumer.store(thread.0, Ordering::Relaxed);
        // The consumer is opened once, by a pool or by its thread.
        let _ = self.consumer_wakeup.set(ConsumerWakeup::Pooled(waker));
    }

    /// Announces that the consumer takes no more items until it is woken. `false`: there is one.
    pub fn arm_spill(&self) -> bool {
        let wakeup = self.consumer_wakeup.get();
        wakeup.is_some_and(|wakeup| self.spill.arm(wakeup))
    }

    /// Whether the consumer has to end before the final marker.
    pub fn is_interrupted(&self) -> bool {
        self.idle_policy.has_failed() || self.interrupt.is_requested()
    }

    /// Closes the consumer's side: no item is taken any more.
    pub fn close_consumer(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.wake_producer();
    }

    /// Counts items that the consumer begins to process, and wakes the producer if it is time.
    #[inline]
    pub fn count_taken(&self, items: u64) {
        let taken = self.counters.count_taken(items);
        if taken >= self.wake_producer_at.load(Ordering::Relaxed) {
            self.wake_producer();
        }
    }

    /// Wakes a producer whose sleep the consumer has missed; called before the consumer sleeps.
    pub fn wake_missed_producer(&self) {
        fence(Ordering::SeqCst);
        if self.wake_producer_at.load(Ordering::Relaxed) != AWAKE {
            self.wake_producer();
        }
    }

    #[cold]
    fn wake_producer(&self) {
        self.wake_producer_at.store(AWAKE, Ordering::Relaxed);
        if let Some(wakeup) = self.producer_wakeup.get() {
            wakeup.wake();
        }
    }
}

/// Sleeps until the thread is woken, or `at_most` is over.
pub(crate) fn park(idle: &mut Idler, at_most: Option<Duration>) -> Result<(), Fault> {
    let slept = idle.sleep(at_most);
    slept.map_err(|error| Fault::new(FaultKind::System, error.to_string()))
}
