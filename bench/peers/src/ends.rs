//! The two ends of a peer, and the loops that every peer is driven by.
//!
//! ```text
//!   throughput    flood ==there==> drain
//!   latency       ping  ==there==> echo
//!                       <==back===
//! ```
//! Message `n` is as many words as its size has, each of them `n`. A sender writes all of them, a
//! receiver reads and adds up all of them, and what they add up to is checked: nobody can leave out
//! work that the others do.

use std::hint::{black_box, spin_loop};
use std::time::Instant;

use crate::{Failure, Sink};

/// A sending end.
pub trait Sends {
    /// Sends messages from number `next` on, none from `end` on, as many as are sent best with one
    /// call; how many, 0 if there is no room now.
    ///
    /// # Errors
    /// The peer fails.
    fn send(&mut self, next: u64, end: u64) -> Result<u64, Failure>;

    /// Gets out what is held back; `false`: some of it is still here, call again.
    ///
    /// # Errors
    /// The peer fails.
    fn flush(&mut self) -> Result<bool, Failure> {
        Ok(true)
    }
}

/// A receiving end.
pub trait Receives {
    /// Takes what has come.
    ///
    /// # Errors
    /// The peer fails.
    fn receive(&mut self, sink: &mut Sink) -> Result<(), Failure>;
}

/// Sends so many messages.
///
/// # Errors
/// The peer fails.
pub fn flood(sender: &mut impl Sends, messages: u64) -> Result<(), Failure> {
    let (mut next, mut patience) = (0, Patience::default());
    while next < messages {
        match sender.send(next, messages)? {
            0 => patience.wait(),
            sent => next += sent,
        }
    }
    flush(sender)
}

/// Takes so many messages.
///
/// # Errors
/// The peer fails.
pub fn drain(receiver: &mut impl Receives, messages: u64) -> Result<Sink, Failure> {
    let (mut sink, mut patience) = (Sink::default(), Patience::default());
    while sink.count < messages {
        let before = sink.count;
        receiver.receive(&mut sink)?;
        if sink.count == before {
            patience.wait();
        }
    }
    Ok(sink)
}

/// Sends so many messages, each when the one before has come back; nanoseconds of one way, which is
/// half of there and back. The first tenth is for warming up.
///
/// # Errors
/// The peer fails.
pub fn ping(
    sender: &mut impl Sends,
    receiver: &mut impl Receives,
    trips: u64,
) -> Result<Vec<u64>, Failure> {
    let (mut times, mut sink) = (Vec::with_capacity(trips as usize), Sink::default());
    let warm_up = trips / 10;
    for trip in 0..warm_up + trips {
        let start = Instant::now();
        send_one(sender, trip)?;
        take_one(receiver, &mut sink)?;
        if trip >= warm_up {
            times.push(start.elapsed().as_nanos() as u64 / 2);
        }
    }
    Ok(times)
}

/// The other side of [`ping`].
///
/// # Errors
/// The peer fails.
pub fn echo(
    receiver: &mut impl Receives,
    sender: &mut impl Sends,
    trips: u64,
) -> Result<(), Failure> {
    let mut sink = Sink::default();
    for trip in 0..trips / 10 + trips {
        take_one(receiver, &mut sink)?;
        send_one(sender, trip)?;
    }
    Ok(())
}

fn send_one(sender: &mut impl Sends, number: u64) -> Result<(), Failure> {
    let mut patience = Patience::default();
    while sender.send(number, number + 1)? == 0 {
        patience.wait();
    }
    flush(sender)
}

fn take_one(receiver: &mut impl Receives, sink: &mut Sink) -> Result<(), Failure> {
    let (before, mut patience) = (sink.count, Patience::default());
    loop {
        receiver.receive(sink)?;
        if sink.count > before {
            return Ok(());
        }
        patience.wait();
    }
}

fn flush(sender: &mut impl Sends) -> Result<(), Failure> {
    let mut patience = Patience::default();
    while !sender.flush()? {
        patience.wait();
    }
    Ok(())
}

/// Writes message `number` into its room.
#[inline]
pub fn fill(room: &mut [u8], number: u64) {
    let words = room.as_chunks_mut::<8>().0;
    words
        .iter_mut()
        .for_each(|word| *word = number.to_ne_bytes());
}

/// Reads a message: what its words add up to.
#[inline]
pub fn add_up(message: &[u8]) -> i64 {
    let words = black_box(message).as_chunks::<8>().0.iter();
    words.fold(0, |sum: i64, word| {
        sum.wrapping_add(i64::from_ne_bytes(*word))
    })
}

/// The same for a message of words.
#[inline]
pub fn add_up_words(message: &[u64]) -> i64 {
    let words = black_box(message).iter();
    words.fold(0, |sum: i64, word| sum.wrapping_add(*word as i64))
}

/// Spins; gives way now and then, should the other side be without a core.
#[derive(Default)]
struct Patience(u32);

/// Spins between two times of giving way.
const SPINS: u32 = 10_000;

impl Patience {
    #[inline]
    fn wait(&mut self) {
        self.0 += 1;
        match self.0.is_multiple_of(SPINS) {
            true => std::thread::yield_now(),
            false => spin_loop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        for words in [1_usize, 8, 33, 2048] {
            let mut room = vec![0xff; words * 8];
            fill(&mut room, 7);
            assert_eq!(add_up(&room), 7 * words as i64);
            assert_eq!(add_up_words(&vec![7; words]), 7 * words as i64);
        }
    }
}
