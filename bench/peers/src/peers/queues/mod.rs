//! Queues that hand over one item at a time, by value: what they have in common.
//!
//! # Settings
//! A queue holds 512 KB, 16 messages at least. Messages of 8, 16, 32, 64, 128 and 256 bytes are items,
//! moved into the queue and out of it. Others are boxes: the sender fills a box, the queue moves its pointer, and
//! a second queue of the same kind brings the box back, so that nothing is allocated and nothing is
//! copied. Both sides try and spin, each on a core of its own; nobody sleeps in a blocking call.

#[cfg(feature = "crossbeam")]
pub mod crossbeam;
mod std_channel;

use crate::ends::{Receives, Sends, add_up_words};
use crate::{Failure, Sink, Task, threads};

pub use std_channel::SYNC_CHANNEL;

/// A kind of queue.
trait Queue {
    /// The end that items are put into.
    type Into<T: Send>: Send;
    /// The end that they come out of.
    type OutOf<T: Send>: Send;

    /// A queue for so many items.
    fn make<T: Send>(capacity: usize) -> (Self::Into<T>, Self::OutOf<T>);

    /// Puts an item in, or hands it back if the queue is full.
    fn push<T: Send>(into: &mut Self::Into<T>, item: T) -> Result<(), T>;

    /// Takes an item out, if there is one.
    fn pop<T: Send>(out_of: &mut Self::OutOf<T>) -> Option<T>;
}

type Large = Box<[u64]>;

/// Does a task with a kind of queue.
fn run<Q: Queue>(task: &Task) -> Result<String, Failure> {
    match task.words() {
        1 => threads::run(task, by_value::<Q, 1>),
        2 => threads::run(task, by_value::<Q, 2>),
        4 => threads::run(task, by_value::<Q, 4>),
        8 => threads::run(task, by_value::<Q, 8>),
        16 => threads::run(task, by_value::<Q, 16>),
        32 => threads::run(task, by_value::<Q, 32>),
        _ => threads::run(task, by_box::<Q>),
    }
}

/// Items that are tried to be moved with one call.
const TOGETHER: u64 = 64;

struct ValueSender<Q: Queue, const WORDS: usize>(Q::Into<[u64; WORDS]>);

struct ValueReceiver<Q: Queue, const WORDS: usize>(Q::OutOf<[u64; WORDS]>);

type ByValue<Q, const WORDS: usize> = (ValueSender<Q, WORDS>, ValueReceiver<Q, WORDS>);

fn by_value<Q: Queue, const WORDS: usize>(task: &Task) -> Result<ByValue<Q, WORDS>, Failure> {
    let (into, out_of) = Q::make(task.capacity());
    Ok((ValueSender(into), ValueReceiver(out_of)))
}

impl<Q: Queue, const WORDS: usize> Sends for ValueSender<Q, WORDS> {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure> {
        let numbers = next..end.min(next + TOGETHER);
        let sent = numbers.take_while(|number| Q::push(&mut self.0, [*number; WORDS]).is_ok());
        Ok(sent.count() as u64)
    }
}

impl<Q: Queue, const WORDS: usize> Receives for ValueReceiver<Q, WORDS> {
    #[inline]
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        for _ in 0..TOGETHER {
            let Some(message) = Q::pop(&mut self.0) else {
                break;
            };
            sink.take(add_up_words(&message));
        }
        Ok(())
    }
}

struct BoxSender<Q: Queue> {
    full: Q::Into<Large>,
    empty: Q::OutOf<Large>,
}

struct BoxReceiver<Q: Queue> {
    full: Q::OutOf<Large>,
    empty: Q::Into<Large>,
}

type ByBox<Q> = (BoxSender<Q>, BoxReceiver<Q>);

fn by_box<Q: Queue>(task: &Task) -> Result<ByBox<Q>, Failure> {
    let boxes = task.capacity();
    let (full, out_of_full) = Q::make(boxes);
    let (mut empty, out_of_empty) = Q::make::<Large>(boxes);
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

impl<Q: Queue> Sends for BoxSender<Q> {
    #[inline]
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure> {
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

impl<Q: Queue> Receives for BoxReceiver<Q> {
    #[inline]
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure> {
        while let Some(message) = Q::pop(&mut self.full) {
            sink.take(add_up_words(&message));
            let put = Q::push(&mut self.empty, message);
            put.map_err(|_| "there are as many boxes as the queue holds")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the kind, messages come in their order and a full queue takes no more.
    pub fn keeps_order_and_bounds<Q: Queue>() {
        let task = Task {
            question: crate::Question::Throughput,
            bytes: 64,
            messages: 0,
            scratch: String::new(),
        };
        let (mut sender, mut receiver) = by_value::<Q, 8>(&task).unwrap();
        fills_and_empties(&task, &mut sender, &mut receiver);
        let (mut sender, mut receiver) = by_box::<Q>(&task).unwrap();
        fills_and_empties(&task, &mut sender, &mut receiver);
    }

    fn fills_and_empties(task: &Task, sender: &mut impl Sends, receiver: &mut impl Receives) {
        let capacity = task.capacity() as u64;
        let mut sent = 0;
        while let more @ 1.. = sender.send(sent, 2 * capacity).unwrap() {
            sent += more;
        }
        assert_eq!(sent, capacity);
        let mut sink = Sink::default();
        while sink.count < sent {
            receiver.receive(&mut sink).unwrap();
        }
        let line = sink.arrivals().line();
        assert!(crate::received::rate(&line, sent, 8).is_ok(), "{line}");
    }
}
