//! The consumer of a queue: its thread takes items and submits them.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::{PeThreadId, PortIndex};
use ring::Reader;
use ring::frame::{Frame, FrameBatch};
use transport::fragment::WHOLE;
use transport::{Idler, monotonic_ns};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::queue_state::{QueueState, park};
use super::spill::SpilledItem;
use crate::abi::FrameForm;
use crate::blocking::region_pool::RegionWaker;
use crate::blocking::{before_sleep, thread_samples};
use crate::edge::frame_kind;
use crate::inserted::inserted_operator::{BatchEnd, InsertedSource, PooledSource};
use crate::inserted::inserted_outlet::InsertedOutlet;

/// The source that a queue's thread runs.
pub(crate) struct QueueConsumer {
    /// Reader of the ring; `None` if every item is spilled.
    reader: Option<Reader>,
    delivery: QueueDelivery,
    /// Buffer of the spilled tuple that was taken last, to be used again.
    spare_buf: TupleBuf,
    polls: u32,
    /// Whether the pool's threads leave it alone until an item comes.
    is_idle: bool,
}

/// The result of a turn of the queue's thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QueuePoll {
    Nothing,
    Items,
    End,
}

/// Bytes of a batch below which items are counted exactly before they are taken: there is no stream
/// to disturb.
const EXACT_COUNT_BYTES_MAX: usize = 1024;

/// Number of polls of larger batches of which one is counted.
const POLLS_PER_COUNT: u32 = 16;

/// Number of items after which a thread of a pool gives the consumer back, at the end of a poll: as
/// many as a queue holds by default.
const POOLED_ITEMS_MAX: u64 = 1000;

impl QueueConsumer {
    /// A consumer that submits items one by one.
    pub fn new(queue_state: Arc<QueueState>, reader: Option<Reader>) -> QueueConsumer {
        let delivery = QueueDelivery {
            state: queue_state,
            takes_batches: false,
            batch_bytes: 0,
        };
        QueueConsumer {
            reader,
            delivery,
            spare_buf: TupleBuf::default(),
            polls: 0,
            is_idle: false,
        }
    }

    /// Submits whole batches where there is code for that, of at most `batch_bytes`; no frame is
    /// larger.
    pub fn with_batches(mut self, batch_bytes: usize) -> QueueConsumer {
        self.delivery.takes_batches = true;
        self.delivery.batch_bytes = batch_bytes;
        self
    }
}

impl InsertedSource for QueueConsumer {
    fn run(&mut self, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        let queue_state = self.delivery.state.clone();
        let mut idle = queue_state.open_consumer()?;
        let mut idle_since_ns = None;
        loop {
            if queue_state.is_interrupted() {
                out.abandon(PortIndex(0));
                return Ok(());
            }
            match self.turn(out)? {
                QueuePoll::End => return Ok(()),
                QueuePoll::Items => {
                    if let Some(since) = idle_since_ns.take() {
                        thread_samples::set_waiting(false);
                        queue_state.counters.record_idle(monotonic_ns() - since);
                    }
                    idle.reset();
                    continue;
                }
                QueuePoll::Nothing => {}
            }
            if idle_since_ns.is_none() {
                idle_since_ns = Some(monotonic_ns());
                thread_samples::set_waiting(true);
                queue_state.wake_missed_producer();
                before_sleep::flush();
            }
            let has_spun = match queue_state.has_room_waiters() {
                true => queue_state.while_idle(|| idle.spin_or_yield()),
                false => idle.spin_or_yield(),
            };
            if !has_spun {
                queue_state.while_idle(|| self.park(&mut idle))?;
            }
        }
    }

    fn as_pooled(&mut self) -> Option<&mut dyn PooledSource> {
        Some(self)
    }
}

impl PooledSource for QueueConsumer {
    fn open(&mut self, thread: PeThreadId, waker: RegionWaker) {
        self.delivery.state.open_pooled_consumer(thread, waker);
    }

    fn run_batch(&mut self, out: &mut dyn InsertedOutlet) -> Result<BatchEnd, Fault> {
        self.disarm();
        let queue_state = self.delivery.state.clone();
        if std::mem::take(&mut self.is_idle) {
            queue_state.set_pooled_idle(false);
        }
        let begin = queue_state.counters.taken();
        while queue_state.counters.taken() - begin < POOLED_ITEMS_MAX {
            if queue_state.is_interrupted() {
                out.abandon(PortIndex(0));
                return Ok(BatchEnd::Ended);
            }
            match self.turn(out)? {
                QueuePoll::End => return Ok(BatchEnd::Ended),
                QueuePoll::Items => {}
                QueuePoll::Nothing => {
                    queue_state.wake_missed_producer();
                    before_sleep::flush_once();
                    if !self.arm() {
                        return Ok(BatchEnd::More);
                    }
                    self.is_idle = true;
                    queue_state.set_pooled_idle(true);
                    return Ok(BatchEnd::Idle);
                }
            }
        }
        Ok(BatchEnd::More)
    }
}

impl QueueConsumer {
    fn turn(&mut self, out: &mut dyn InsertedOutlet) -> Result<QueuePoll, Fault> {
        let found = self.take_from_ring(out)?;
        if found != QueuePoll::Nothing || self.delivery.state.spill.len() == 0 {
            return Ok(found);
        }
        // Frames that were committed before the first spilled item come first, and can be seen now.
        match self.take_from_ring(out)? {
            QueuePoll::Nothing => self.take_spilled(out),
            found => Ok(found),
        }
    }

    fn take_from_ring(&mut self, out: &mut dyn InsertedOutlet) -> Result<QueuePoll, Fault> {
        let Some(reader) = &mut self.reader else {
            return Ok(QueuePoll::Nothing);
        };
        let mut batch = reader.poll();
        if batch.is_empty() {
            return Ok(QueuePoll::Nothing);
        }
        self.polls = self.polls.wrapping_add(1);
        let counters = &self.delivery.state.counters;
        let is_small = batch.bytes().len() < EXACT_COUNT_BYTES_MAX;
        if is_small || self.polls.is_multiple_of(POLLS_PER_COUNT) {
            counters.record_items(counters.items());
        }
        let before = counters.taken();
        let found = self.delivery.deliver(&mut batch, out)?;
        reader.release();
        if !is_small {
            let counters = &self.delivery.state.counters;
            counters.record_items(counters.taken() - before);
        }
        Ok(found)
    }

    fn take_spilled(&mut self, out: &mut dyn InsertedOutlet) -> Result<QueuePoll, Fault> {
        let queue_state = &self.delivery.state;
        queue_state
            .counters
            .record_items(queue_state.counters.items());
        let Some(item) = queue_state.spill.pop(std::mem::take(&mut self.spare_buf)) else {
            return Ok(QueuePoll::Nothing);
        };
        queue_state.count_taken(1);
        match item {
            SpilledItem::Marker(kind) => deliver_marker(kind, out),
            SpilledItem::Watermark(at) => {
                out.submit_watermark(PortIndex(0), at)?;
                Ok(QueuePoll::Items)
            }
            SpilledItem::Tuple(buf) => {
                self.spare_buf = buf;
                out.submit_owned(PortIndex(0), &mut self.spare_buf)?;
                Ok(QueuePoll::Items)
            }
        }
    }

    fn park(&mut self, idle: &mut Idler) -> Result<(), Fault> {
        let parked = if self.arm() { park(idle, None) } else { Ok(()) };
        self.disarm();
        parked
    }

    /// Announces that no item is taken until the consumer is woken. `false`: there is one.
    fn arm(&mut self) -> bool {
        let reader = self.reader.as_mut();
        reader.is_none_or(Reader::arm) && self.delivery.state.arm_spill()
    }

    fn disarm(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.disarm();
        }
    }
}

impl Drop for QueueConsumer {
    /// Tells producers that no item is taken any more.
    fn drop(&mut self) {
        self.delivery.state.close_consumer();
    }
}

/// Parts of the consumer without its ring, which batches borrow.
struct QueueDelivery {
    state: Arc<QueueState>,
    /// Whether operators downstream may have code for batches.
    takes_batches: bool,
    /// Most bytes of a batch, at least those of a frame. Taken items are counted after each batch.
    batch_bytes: usize,
}

impl QueueDelivery {
    fn deliver(
        &mut self,
        batch: &mut FrameBatch<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<QueuePoll, Fault> {
        loop {
            self.deliver_batch(batch, out)?;
            let Some(frame) = batch.next() else {
                return Ok(QueuePoll::Items);
            };
            self.state.count_taken(1);
            if frame.kind == frame_kind::TUPLE {
                let tuple = TupleRef::from_bytes(frame.bytes);
                out.submit(PortIndex(0), tuple.map_err(invalid_tuple)?)?;
            } else if frame.kind == frame_kind::WATERMARK {
                let at = frame_kind::decode_watermark(frame.bytes);
                at.map_or(Ok(()), |at| out.submit_watermark(PortIndex(0), at))?;
            } else if deliver_marker(frame.kind, out)? == QueuePoll::End {
                return Ok(QueuePoll::End);
            }
        }
    }

    /// Submits tuples that compiled code takes in one call, if there is such code.
    #[inline]
    fn deliver_batch(
        &mut self,
        batch: &mut FrameBatch<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        if !self.takes_batches {
            return Ok(());
        }
        loop {
            // Code for batches stops before a frame where the batch is cut.
            let mut few = batch.prefix(self.batch_bytes);
            let bytes = few.bytes().len();
            let taken =
                out.submit_batch(PortIndex(0), &mut few, frame_kind::TUPLE, FrameForm::Flat)?;
            batch.advance(bytes - few.bytes().len());
            if taken == 0 {
                break;
            }
            self.state.count_taken(taken);
        }
        // The next frame is of another kind, or there is no code for batches.
        let mut next = *batch;
        let is_whole = |frame: Frame<'_>| frame.kind == frame_kind::TUPLE && frame.flags == WHOLE;
        self.takes_batches = !next.next().is_some_and(is_whole);
        Ok(())
    }
}

/// Submits a marker, or ends the stream.
fn deliver_marker(kind: u8, out: &mut dyn InsertedOutlet) -> Result<QueuePoll, Fault> {
    match kind {
        frame_kind::WINDOW => out.submit_punctuation(PortIndex(0), Punctuation::Window)?,
        frame_kind::ABANDONED => {
            out.abandon(PortIndex(0));
            return Ok(QueuePoll::End);
        }
        // The final marker follows when the thread has ended.
        _ => return Ok(QueuePoll::End),
    }
    Ok(QueuePoll::Items)
}

#[cold]
fn invalid_tuple(error: tuple::layout::LayoutError) -> Fault {
    Fault::new(FaultKind::Limit, format!("in a queue {error}"))
}
