//! The producer of a queue that drops its oldest tuple when it is full.

use std::sync::Arc;

use eval::Fault;
use graph::PortIndex;
use transport::Idler;
use tuple::{EventTime, TupleBuf, TupleRef};

use super::queue_consumer::QueueConsumer;
use super::queue_state::{QueueState, RoomWait};
use super::spill::{DropOutcome, SpillTuple, SpilledItem};
use crate::edge::frame_kind;
use crate::inserted::inserted_operator::{InsertedOperator, InsertedSource};
use crate::inserted::inserted_outlet::InsertedOutlet;

/// The producer's side; every item is spilled.
pub(crate) struct DropFirstProducer {
    state: Arc<QueueState>,
    consumer: Option<QueueConsumer>,
    is_final_sent: bool,
    idle: Option<Idler>,
}

impl DropFirstProducer {
    pub fn new(queue_state: Arc<QueueState>, consumer: QueueConsumer) -> DropFirstProducer {
        DropFirstProducer {
            state: queue_state,
            consumer: Some(consumer),
            is_final_sent: false,
            idle: None,
        }
    }

    /// Sends an item that is never dropped while the consumer runs.
    fn send_undropped(&mut self, item: SpilledItem) -> Result<(), Fault> {
        if self.state.is_full()
            && self.state.wait_for_room(&mut self.idle)? == RoomWait::ConsumerEnded
        {
            return Ok(());
        }
        self.state.counters.count_sent();
        self.state.spill.push_item(item);
        Ok(())
    }
}

impl DropFirstProducer {
    fn send_tuple(&mut self, tuple: SpillTuple<'_>) -> Result<(), Fault> {
        let counters = &self.state.counters;
        let len_max = usize::try_from(counters.items_max()).unwrap_or(usize::MAX);
        match self.state.spill.push_dropping_oldest(tuple, len_max) {
            DropOutcome::Nothing => counters.count_sent(),
            DropOutcome::Oldest => {
                counters.count_replaced();
                counters.record_full();
            }
            DropOutcome::Newest => counters.count_dropped(),
        }
        Ok(())
    }
}

impl InsertedOperator for DropFirstProducer {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_tuple(SpillTuple::Borrowed(tuple))
    }

    fn process_owned(
        &mut self,
        _: PortIndex,
        tuple: &mut TupleBuf,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_tuple(SpillTuple::Owned(tuple))
    }

    fn process_window_marker(
        &mut self,
        _: PortIndex,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_undropped(SpilledItem::Marker(frame_kind::WINDOW))
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.send_undropped(SpilledItem::Watermark(at))
    }

    fn process_final_marker(
        &mut self,
        _: PortIndex,
        _: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.is_final_sent = true;
        self.send_undropped(SpilledItem::Marker(frame_kind::FINAL))
    }

    /// Ends the queue without a final marker, if the streams that feed it are abandoned.
    fn finish(&mut self, _: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        if self.is_final_sent {
            return Ok(());
        }
        self.send_undropped(SpilledItem::Marker(frame_kind::ABANDONED))
    }

    fn take_source(&mut self) -> Option<Box<dyn InsertedSource>> {
        let consumer: Box<dyn InsertedSource> = Box::new(self.consumer.take()?);
        Some(consumer)
    }
}
