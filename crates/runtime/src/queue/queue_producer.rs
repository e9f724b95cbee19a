//! The producer of a queue: threads submit items to it, which it copies into the ring or spills.

use std::sync::Arc;

use eval::Fault;
use graph::PortIndex;
use ring::Writer;
use ring::frame::frame_bytes;
use transport::Idler;
use tuple::{EventTime, Layout, TupleBuf, TupleRef};

use super::queue_consumer::QueueConsumer;
use super::queue_state::{QueueState, RoomWait};
use super::spill::{SpillTuple, SpilledItem};
use crate::abi::{FrameForm, FrameGrant};
use crate::edge::frame_kind;
use crate::inserted::inserted_operator::{InsertedOperator, InsertedSource};
use crate::inserted::inserted_outlet::InsertedOutlet;

/// Bytes of a tuple below which it is copied into the ring rather than handed over with its buffer.
const OWNED_BYTES_MIN: usize = 4096;

/// The producer of a queue that waits when it is full, or drops its newest tuple.
pub(crate) struct QueueProducer {
    state: Arc<QueueState>,
    writer: Writer,
    consumer: Option<QueueConsumer>,
    /// Whether a tuple is dropped instead of waiting for room.
    drops_newest: bool,
    /// Number of items that may be sent in all: those taken when last looked at, plus the queue's
    /// size.
    limit: u64,
    /// Bytes of a tuple's frame, if all tuples have the same length.
    frame_bytes: Option<u64>,
    /// Whether an item was spilled and perhaps not taken yet: then all that follow are spilled too.
    is_spilling: bool,
    /// Whether the tuple before was large, so that its buffer might have been taken. A tuple that
    /// is handed over is spilled, and so is what follows: worth it for many large ones, not for one
    /// among small ones.
    was_large: bool,
    is_final_sent: bool,
    idle: Option<Idler>,
}

impl QueueProducer {
    pub fn new(
        queue_state: Arc<QueueState>,
        writer: Writer,
        consumer: QueueConsumer,
    ) -> QueueProducer {
        QueueProducer {
            limit: queue_state.counters.items_max(),
            frame_bytes: None,
            state: queue_state,
            writer,
            consumer: Some(consumer),
            drops_newest: false,
            is_spilling: false,
            was_large: false,
            is_final_sent: false,
            idle: None,
        }
    }

    /// Drops tuples that come while the queue is full.
    pub fn with_drop_newest(mut self) -> QueueProducer {
        self.drops_newest = true;
        self
    }

    /// Gives all tuples frames of this layout's size, so that compiled code may write them itself.
    pub fn with_fixed_frames(mut self, layout: &Layout) -> QueueProducer {
        let bytes = layout.size as usize;
        let fits = layout.is_fixed && bytes <= self.writer.payload_bytes_max();
        self.frame_bytes = fits.then_some(frame_bytes(bytes) as u64);
        self
    }
}

impl InsertedOperator for QueueProducer {
    #[inline]
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        if self.is_full() && !self.wait_for_room(self.drops_newest)? {
            return Ok(());
        }
        let bytes = tuple.bytes();
        if self.is_spilling() {
            self.state.spill.push_tuple(SpillTuple::Borrowed(tuple));
        } else if let Some(room) = self.writer.claim(bytes.len()) {
            room.copy_from_slice(bytes);
            self.commit(frame_kind::TUPLE, bytes.len());
        } else {
            self.is_spilling = true;
            self.state.spill.push_tuple(SpillTuple::Borrowed(tuple));
        }
        self.count_sent();
        Ok(())
    }

    fn process_owned(
        &mut self,
        port: PortIndex,
        tuple: &mut TupleBuf,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        let is_large = self.frame_bytes.is_none() && tuple.len() >= OWNED_BYTES_MIN;
        let is_run = std::mem::replace(&mut self.was_large, is_large) && is_large;
        if !is_run && !self.is_spilling() {
            return self.process(port, tuple.as_ref(), out);
        }
        if self.is_full() && !self.wait_for_room(self.drops_newest)? {
            return Ok(());
        }
        self.is_spilling = true;
        self.state.spill.push_tuple(SpillTuple::Owned(tuple));
        self.count_sent();
        Ok(())
    }

    fn process_window_marker(
        &mut self,
        _: PortIndex,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_marker(frame_kind::WINDOW)
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_undropped(
            SpilledItem::Watermark(at),
            frame_kind::WATERMARK,
            &frame_kind::encode_watermark(at),
        )
    }

    fn process_final_marker(
        &mut self,
        _: PortIndex,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.is_final_sent = true;
        self.send_marker(frame_kind::FINAL)
    }

    /// Ends the queue without a final marker, if the streams that feed it are abandoned.
    fn finish(&mut self, _: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        if self.is_final_sent {
            return Ok(());
        }
        self.send_marker(frame_kind::ABANDONED)
    }

    fn frame_grant(&mut self) -> Option<FrameGrant> {
        self.frame_bytes?;
        Some(FrameGrant {
            grant: self.writer.grant()?,
            kind: frame_kind::TUPLE,
            form: FrameForm::Flat,
            written_count: self.state.counters.sent_address(),
        })
    }

    fn batch_forms(&self) -> Vec<Option<FrameForm>> {
        vec![Some(FrameForm::Flat)]
    }

    fn wake_reader(&mut self) {
        if self.writer.take_sleeping_readers() != 0 {
            self.state.wake_consumer();
        }
    }

    fn take_source(&mut self) -> Option<Box<dyn InsertedSource>> {
        let consumer: Box<dyn InsertedSource> = Box::new(self.consumer.take()?);
        Some(consumer)
    }
}

impl QueueProducer {
    /// Whether there is room for an item, perhaps after a wait. `false`: the item is dropped.
    #[cold]
    fn wait_for_room(&mut self, drops: bool) -> Result<bool, Fault> {
        self.limit = self.state.counters.taken() + self.state.counters.items_max();
        if !self.is_full() {
            return Ok(true);
        }
        if drops {
            self.state.counters.record_full();
            self.state.counters.count_dropped();
            return Ok(false);
        }
        let slot = self.state.wait_for_room(&mut self.idle)?;
        self.limit = self.state.counters.taken() + self.state.counters.items_max();
        Ok(slot == RoomWait::HasRoom)
    }

    /// Sends a marker of a kind.
    fn send_marker(&mut self, kind: u8) -> Result<(), Fault> {
        self.send_undropped(SpilledItem::Marker(kind), kind, &[])
    }

    /// Sends an item that is never dropped while the consumer runs: as a frame, or spilled.
    fn send_undropped(&mut self, item: SpilledItem, kind: u8, payload: &[u8]) -> Result<(), Fault> {
        if self.is_full() && !self.wait_for_room(false)? {
            return Ok(());
        }
        if !self.is_spilling()
            && let Some(room) = self.writer.claim(payload.len())
        {
            room.copy_from_slice(payload);
            self.commit(kind, payload.len());
        } else {
            self.is_spilling = true;
            self.state.spill.push_item(item);
        }
        self.count_sent();
        Ok(())
    }

    #[inline]
    fn is_spilling(&mut self) -> bool {
        self.is_spilling = self.is_spilling && self.state.spill.len() > 0;
        self.is_spilling
    }

    #[inline]
    fn commit(&mut self, kind: u8, len: usize) {
        self.writer.commit(kind, 0, len);
        self.wake_reader();
    }

    #[inline]
    fn count_sent(&mut self) {
        self.state.counters.count_sent();
        if let Some(bytes) = self.frame_bytes {
            // Compiled code goes on where the last commit ends, but not beyond the queue's size.
            let left = self.limit.saturating_sub(self.state.counters.sent());
            self.writer.cap_grant(left.saturating_mul(bytes));
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.state.counters.sent() >= self.limit
    }
}
