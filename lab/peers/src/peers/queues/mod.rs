//! Queues that hand over one item at a time, by value, and their common settings.
//!
//! # Settings
//! A queue holds 512 KB, at least 16 messages. Messages of 8, 16, 32, 64, 128 and 256 bytes are
//! items, moved into the queue and out of it. Messages of other sizes are boxes: the sender fills a
//! box, the queue moves its pointer, and a second queue of the same kind returns the box, so no
//! call allocates or copies. Both sides try and spin, each on a core of its own; no thread sleeps
//! in a blocking call.

#[cfg(feature = "crossbeam")]
pub mod crossbeam;
mod std_channel;

pub use std_channel::SYNC_CHANNEL;

use crate::peer_ends::{PeerReceive, PeerSend, sum_words};
use crate::{BoxError, ControlSink, PeerTask, peer_threads};

/// A kind of bounded queue.
trait ItemQueue {
    /// End that items are pushed into.
    type PushEnd<T: Send>: Send;
    /// End that items are popped from.
    type PopEnd<T: Send>: Send;

    /// A queue of `capacity` items.
    fn new_queue<T: Send>(capacity: usize) -> (Self::PushEnd<T>, Self::PopEnd<T>);

    /// Pushes an item, or returns it if the queue is full.
    fn push<T: Send>(into: &mut Self::PushEnd<T>, item: T) -> Result<(), T>;

    /// Pops an item, if there is one.
    fn pop<T: Send>(out_of: &mut Self::PopEnd<T>) -> Option<T>;
}

type BoxedWords = Box<[u64]>;

/// Does a task with a kind of queue; the lines of its output.
fn run_queue<Q: ItemQueue>(task: &PeerTask) -> Result<String, BoxError> {
    match task.words() {
        1 => peer_threads::run(task, by_value::<Q, 1>),
        2 => peer_threads::run(task, by_value::<Q, 2>),
        4 => peer_threads::run(task, by_value::<Q, 4>),
        8 => peer_threads::run(task, by_value::<Q, 8>),
        16 => peer_threads::run(task, by_value::<Q, 16>),
        32 => peer_threads::run(task, by_value::<Q, 32>),
        _ => peer_threads::run(task, by_box::<Q>),
    }
}

/// Items that one call moves at most.
const ITEMS_PER_CALL_MAX: u64 = 64;

struct ValueSender<Q: ItemQueue, const WORDS: usize>(Q::PushEnd<[u64; WORDS]>);

struct ValueReceiver<Q: ItemQueue, const WORDS: usize>(Q::PopEnd<[u64; WORDS]>);

type ValueEnds<Q, const WORDS: usize> = (ValueSender<Q, WORDS>, ValueReceiver<Q, WORDS>);

fn by_value<Q: ItemQueue, const WORDS: usize>(
    task: &PeerTask,
) -> Result<ValueEnds<Q, WORDS>, BoxError> {
    let (into, out_of) = Q::new_queue(task.queue_messages());
    Ok((ValueSender(into), ValueReceiver(out_of)))
}

impl<Q: ItemQueue, const WORDS: usize> PeerSend for ValueSender<Q, WORDS> {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, BoxError> {
        let numbers = next..end.min(next + ITEMS_PER_CALL_MAX);
        let sent = numbers.take_while(|number| Q::push(&mut self.0, [*number; WORDS]).is_ok());
        Ok(sent.count() as u64)
    }
}

impl<Q: ItemQueue, const WORDS: usize> PeerReceive for ValueReceiver<Q, WORDS> {
    #[inline]
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        for _ in 0..ITEMS_PER_CALL_MAX {
            let Some(message) = Q::pop(&mut self.0) else {
                break;
            };
            sink.add(sum_words(&message));
        }
        Ok(())
    }
}

struct BoxSender<Q: ItemQueue> {
    full: Q::PushEnd<BoxedWords>,
    empty: Q::PopEnd<BoxedWords>,
}

struct BoxReceiver<Q: ItemQueue> {
    full: Q::PopEnd<BoxedWords>,
    empty: Q::PushEnd<BoxedWords>,
}

type BoxEnds<Q> = (BoxSender<Q>, BoxReceiver<Q>);

fn by_box<Q: ItemQueue>(task: &PeerTask) -> Result<BoxEnds<Q>, BoxError> {
    let boxes = task.queue_messages();
    let (full, out_of_full) = Q::new_queue(boxes);
    let (mut empty, out_of_empty) = Q::new_queue::<BoxedWords>(boxes);
    for _ in 0..boxes {
        let put = Q::push(&mut empty, vec![0; task.words()].into());
        put.map_err(|_| "a queue holds less than it was made for")?;
    }
    let sender = BoxSender {
        full,
        empty: out_of_empty,
    };
    let receiver = BoxReceiver {
        full: out_of_full,
        empty,
    };
    Ok((sender, receiver))
}

impl<Q: ItemQueue> PeerSend for BoxSender<Q> {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, BoxError> {
        for number in next..end {
            let Some(mut message) = Q::pop(&mut self.empty) else {
                return Ok(number - next);
            };
            message.fill(number);
            let put = Q::push(&mut self.full, message);
            put.map_err(|_| "there are as many boxes as the queue holds")?;
        }
        Ok(end - next)
    }
}

impl<Q: ItemQueue> PeerReceive for BoxReceiver<Q> {
    #[inline]
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError> {
        while let Some(message) = Q::pop(&mut self.full) {
            sink.add(sum_words(&message));
            let put = Q::push(&mut self.empty, message);
            put.map_err(|_| "there are as many boxes as the queue holds")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages arrive in order and a full queue accepts none, for every kind of queue.
    pub fn keeps_order_and_bounds<Q: ItemQueue>() {
        let task = PeerTask {
            question: crate::PeerQuestion::Throughput,
            bytes: 64,
            messages: 0,
            scratch: String::new(),
        };
        let (mut sender, mut receiver) = by_value::<Q, 8>(&task).unwrap();
        fills_and_empties(&task, &mut sender, &mut receiver);
        let (mut sender, mut receiver) = by_box::<Q>(&task).unwrap();
        fills_and_empties(&task, &mut sender, &mut receiver);
    }

    fn fills_and_empties(
        task: &PeerTask,
        sender: &mut impl PeerSend,
        receiver: &mut impl PeerReceive,
    ) {
        let capacity = task.queue_messages() as u64;
        let mut sent = 0;
        while let more @ 1.. = sender.send(sent, 2 * capacity).unwrap() {
            sent += more;
        }
        assert_eq!(sent, capacity);
        let mut sink = ControlSink::default();
        while sink.count < sent {
            receiver.receive(&mut sink).unwrap();
        }
        let line = sink.to_arrivals().to_line();
        assert!(
            crate::turn_output::parse_rate(&line, sent, 8).is_ok(),
            "{line}"
        );
    }
}
