//! Delay: submits its input later, with unchanged distances in time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval::{Fault, StateMemory};
use graph::{
    InPortModel, OperatorModel, OutPortModel, ParamModel, PortIndex, PunctuationOutputMode,
};
use runtime::{
    BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet, PendingItems, RoomNotifier,
    Source, StopSignal, about_to_sleep,
};
use tuple::{EventTime, Punctuation, TupleBuf, TupleRef};

use crate::verify_params::verify_seconds;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Delay",
    doc: "Sends tuples and markers on after a delay, with the distances in time that they came \
          with, from a thread of its own.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "delay",
            ty: "float64",
            mandatory: true,
            doc: "Seconds.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "bufferSize",
            ty: "uint32",
            doc: "How many tuples may wait; when full, the sender waits. Default: 1000.",
            ..ParamModel::DEFAULT
        },
    ],
    has_own_thread: true,
    verify: Some(|operator| verify_seconds(operator, &["delay"])),
    ..OperatorModel::DEFAULT
};

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    let interrupt = build.use_own_thread();
    let delay = build.number("delay")?.unwrap_or_default().max(0.0);
    let delay = Duration::try_from_secs_f64(delay).unwrap_or(DELAY_MAX);
    let limit = build.integer("bufferSize")?.unwrap_or(1000).max(1);
    let queue = Arc::new(DelayQueue::default());
    let interrupted = Arc::downgrade(&queue);
    interrupt.on_request(move || {
        if let Some(queue) = interrupted.upgrade() {
            queue.set_ended();
        }
    });
    Ok(Box::new(Delay {
        delay: delay.min(DELAY_MAX),
        limit: usize::try_from(limit).unwrap_or(usize::MAX),
        sender: Some(DelaySender {
            queue: queue.clone(),
            room: build.set_bounded(),
            stop: build.stop_signal(),
            memory: build.state_memory(),
        }),
        queue,
        memory: build.state_memory(),
    }))
}

/// Longer delays are cut to this: a hundred years.
const DELAY_MAX: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The side that receives.
struct Delay {
    delay: Duration,
    limit: usize,
    queue: Arc<DelayQueue>,
    sender: Option<DelaySender>,
    /// Counts of the waiting tuples, which are changed while the queue is locked.
    memory: Arc<StateMemory>,
}

/// The side that sends, on its own thread.
struct DelaySender {
    queue: Arc<DelayQueue>,
    room: RoomNotifier,
    stop: StopSignal,
    memory: Arc<StateMemory>,
}

#[derive(Debug, Default)]
struct DelayQueue {
    state: Mutex<DelayQueueState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct DelayQueueState {
    items: VecDeque<(Instant, DelayedItem)>,
    /// Whether the input has ended, so that no items follow.
    has_ended: bool,
    /// Whether a final marker ended the input; otherwise the output is abandoned.
    is_final: bool,
    /// Buffers of submitted tuples, to be used again.
    spare: Vec<TupleBuf>,
}

#[derive(Debug)]
enum DelayedItem {
    Tuple(TupleBuf),
    Window,
    Watermark(EventTime),
}

impl DelayQueue {
    fn lock(&self) -> MutexGuard<'_, DelayQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that no items follow.
    fn set_ended(&self) {
        self.lock().has_ended = true;
        self.changed.notify_one();
    }

    /// Waits for the first item. Returns when it is due; `None` at the end.
    fn next_due(self: &Arc<Self>, room: &RoomNotifier) -> Option<Instant> {
        if let Some(found) = self.lock().first_due() {
            return found;
        }
        about_to_sleep();
        room.while_idle(self.clone(), || {
            let mut waiting = self.lock();
            loop {
                if let Some(found) = waiting.first_due() {
                    return found;
                }
                let woken = self.changed.wait(waiting);
                waiting = woken.unwrap_or_else(PoisonError::into_inner);
            }
        })
    }
}

impl PendingItems for DelayQueue {
    fn has_items(&self) -> bool {
        self.lock().first_due().is_some()
    }
}

impl DelayQueueState {
    /// When the first item is due, `Some(None)` at the end; `None`: an item may still come.
    fn first_due(&self) -> Option<Option<Instant>> {
        match self.items.front() {
            Some((due, _)) => Some(Some(*due)),
            None => self.has_ended.then_some(None),
        }
    }
}

impl Delay {
    fn enqueue(&mut self, item: DelayedItem) {
        self.enqueue_in(&mut self.queue.lock(), item);
    }

    fn enqueue_in(&self, waiting: &mut DelayQueueState, item: DelayedItem) {
        let due = Instant::now() + self.delay;
        waiting.items.push_back((due, item));
        self.queue.changed.notify_one();
    }
}

impl Operator for Delay {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let mut waiting = self.queue.lock();
        self.memory.add(state_bytes(tuple))?;
        let mut copy = waiting.spare.pop().unwrap_or_default();
        copy.copy_from(tuple);
        self.enqueue_in(&mut waiting, DelayedItem::Tuple(copy));
        Ok(())
    }

    fn has_room(
        &mut self,
        _: PortIndex,
        _: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        Ok(self.queue.lock().items.len() < self.limit)
    }

    fn process_window_marker(&mut self, _: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.enqueue(DelayedItem::Window);
        Ok(())
    }

    fn process_watermark(&mut self, at: EventTime, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.enqueue(DelayedItem::Watermark(at));
        Ok(())
    }

    fn process_final_marker(&mut self, _: PortIndex, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.queue.lock().is_final = true;
        Ok(())
    }

    /// Without a final marker: the streams that feed it are abandoned.
    fn finish(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.queue.set_ended();
        Ok(())
    }

    fn take_source(&mut self) -> Option<Box<dyn Source>> {
        let sender = self.sender.take()?;
        Some(Box::new(sender))
    }
}

impl DelaySender {
    /// Takes the first item out of the queue.
    fn pop(&self) -> Option<(Instant, DelayedItem)> {
        let mut waiting = self.queue.lock();
        let item = waiting.items.pop_front();
        if let Some((_, DelayedItem::Tuple(tuple))) = &item {
            self.memory.remove(state_bytes(tuple.as_ref()));
        }
        item
    }
}

/// Bytes of a waiting tuple that are counted as state.
fn state_bytes(tuple: TupleRef<'_>) -> usize {
    size_of::<(Instant, DelayedItem)>() + tuple.bytes().len()
}

impl Source for DelaySender {
    /// After a shutdown what still waits is sent at once: it was accepted.
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        while let Some(due) = self.queue.next_due(&self.room) {
            self.stop.sleep_until(due);
            let item = self.pop();
            self.room.notify();
            match item {
                Some((_, DelayedItem::Tuple(mut tuple))) => {
                    out.submit_owned(PortIndex(0), &mut tuple)?;
                    self.queue.lock().spare.push(tuple);
                }
                Some((_, DelayedItem::Window)) => {
                    out.submit_punctuation(PortIndex(0), Punctuation::Window)?
                }
                Some((_, DelayedItem::Watermark(at))) => out.submit_watermark(PortIndex(0), at)?,
                None => {}
            }
        }
        if !self.queue.lock().is_final {
            out.abandon(PortIndex(0));
        }
        Ok(())
    }
}
