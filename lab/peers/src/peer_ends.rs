//! The two ends of a peer, and the loops that drive every peer.
//!
//! ```text
//!   throughput    send_all       ==forward==>  receive_all
//!   latency       send_and_await ==forward==>  send_back
//!                                <==return===
//! ```
//! Message `n` is as many words as its size has, each of them `n`. A sender writes all words, a
//! receiver reads and adds up all words, and the sum is checked. So no contender can leave out work
//! that the others do.

use std::hint::black_box;
use std::time::Instant;

use control::SpinBackoff;

use crate::{BoxError, ControlSink};

/// The sending end of a peer.
pub trait PeerSend {
    /// Sends messages from number `next` on, all below `end`, as many as one call sends best.
    /// Returns how many it sent: 0 if there is no room.
    ///
    /// # Errors
    /// The peer fails.
    fn send(&mut self, next: u64, end: u64) -> Result<u64, BoxError>;

    /// Sends what is held back; `false` if some of it is still held back, and the call has to be
    /// repeated.
    ///
    /// # Errors
    /// The peer fails.
    fn flush(&mut self) -> Result<bool, BoxError> {
        Ok(true)
    }
}

/// The receiving end of a peer.
pub trait PeerReceive {
    /// Adds the messages that have arrived to `sink`.
    ///
    /// # Errors
    /// The peer fails.
    fn receive(&mut self, sink: &mut ControlSink) -> Result<(), BoxError>;
}

/// Sends `messages` messages as fast as the peer takes them.
///
/// # Errors
/// The peer fails.
pub fn send_all(sender: &mut impl PeerSend, messages: u64) -> Result<(), BoxError> {
    let (mut next, mut backoff) = (0, PeerBackoff::default());
    while next < messages {
        match sender.send(next, messages)? {
            0 => backoff.wait(),
            sent => next += sent,
        }
    }
    flush_all(sender)
}

/// Receives `messages` messages as fast as they come.
///
/// # Errors
/// The peer fails.
pub fn receive_all(
    receiver: &mut impl PeerReceive,
    messages: u64,
) -> Result<ControlSink, BoxError> {
    let (mut sink, mut backoff) = (ControlSink::default(), PeerBackoff::default());
    while sink.count < messages {
        let before = sink.count;
        receiver.receive(&mut sink)?;
        if sink.count == before {
            backoff.wait();
        }
    }
    Ok(sink)
}

/// Sends `trips` messages, each when the one before has come back. Returns the nanoseconds of one
/// way, half of a round trip, for each. A tenth more are sent first to warm up.
///
/// # Errors
/// The peer fails.
pub fn send_and_await(
    sender: &mut impl PeerSend,
    receiver: &mut impl PeerReceive,
    trips: u64,
) -> Result<Vec<u64>, BoxError> {
    let (mut times, mut sink) = (Vec::with_capacity(trips as usize), ControlSink::default());
    let warm_up = trips / 10;
    for trip in 0..warm_up + trips {
        let start = Instant::now();
        send_one(sender, trip)?;
        receive_one(receiver, &mut sink)?;
        if trip >= warm_up {
            times.push(start.elapsed().as_nanos() as u64 / 2);
        }
    }
    Ok(times)
}

/// The other side of [`send_and_await`].
///
/// # Errors
/// The peer fails.
pub fn send_back(
    receiver: &mut impl PeerReceive,
    sender: &mut impl PeerSend,
    trips: u64,
) -> Result<(), BoxError> {
    let mut sink = ControlSink::default();
    for trip in 0..trips / 10 + trips {
        receive_one(receiver, &mut sink)?;
        send_one(sender, trip)?;
    }
    Ok(())
}

fn send_one(sender: &mut impl PeerSend, number: u64) -> Result<(), BoxError> {
    let mut backoff = PeerBackoff::default();
    while sender.send(number, number + 1)? == 0 {
        backoff.wait();
    }
    flush_all(sender)
}

fn receive_one(receiver: &mut impl PeerReceive, sink: &mut ControlSink) -> Result<(), BoxError> {
    let (before, mut backoff) = (sink.count, PeerBackoff::default());
    loop {
        receiver.receive(sink)?;
        if sink.count > before {
            return Ok(());
        }
        backoff.wait();
    }
}

fn flush_all(sender: &mut impl PeerSend) -> Result<(), BoxError> {
    let mut backoff = PeerBackoff::default();
    while !sender.flush()? {
        backoff.wait();
    }
    Ok(())
}

/// Writes message number `number` into `room`.
#[inline]
pub fn fill(room: &mut [u8], number: u64) {
    let words = room.as_chunks_mut::<8>().0;
    words
        .iter_mut()
        .for_each(|word| *word = number.to_ne_bytes());
}

/// Reads a message of bytes; the sum of its words.
#[inline]
pub fn sum_words_of_bytes(message: &[u8]) -> i64 {
    let words = black_box(message).as_chunks::<8>().0.iter();
    words.fold(0, |sum: i64, word| {
        sum.wrapping_add(i64::from_ne_bytes(*word))
    })
}

/// Reads a message of words; their sum.
#[inline]
pub fn sum_words(message: &[u64]) -> i64 {
    let words = black_box(message).iter();
    words.fold(0, |sum: i64, word| sum.wrapping_add(*word as i64))
}

/// The backoff of peers: a yield in 10,000 spins.
type PeerBackoff = SpinBackoff<10_000>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for words in [1_usize, 8, 33, 2048] {
            let mut room = vec![0xff; words * 8];
            fill(&mut room, 7);
            assert_eq!(sum_words_of_bytes(&room), 7 * words as i64);
            assert_eq!(sum_words(&vec![7; words]), 7 * words as i64);
        }
    }
}
