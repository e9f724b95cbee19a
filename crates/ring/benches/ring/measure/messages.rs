//! The messages of the benches: written and read in full, and counted.

use control::{CoreWindows, median};

use super::bare::Take;
use super::race;

/// Number of windows in a turn.
const TURN_WINDOWS: usize = 64;

/// How many windows count at least ...
const WINDOWS: usize = 16;

/// ... and how often it is tried, on a busy machine.
const TRIES: usize = 100;

/// How many messages of this size a turn has.
pub const fn count<const N: usize>() -> u64 {
    CoreWindows::message_count(N, TURN_WINDOWS)
}

/// Million messages a second in the middle of some windows in which both sides ran, and that all
/// messages were right.
pub fn rate<const N: usize>(mut turn: impl FnMut(&mut Filling<N>, &mut Taking<N>)) -> f64 {
    let mut rates = Vec::new();
    for _ in 0..TRIES {
        let (mut filling, mut taking) = (Filling::new(), Taking::new());
        turn(&mut filling, &mut taking);
        let expected: u64 = (0..count::<N>()).map(message_sum::<N>).sum();
        assert_eq!(taking.sum, expected, "every word of every message");
        rates.append(&mut taking.windows.rates(&filling.windows));
        if rates.len() >= WINDOWS {
            return median(rates.into_iter()) / 1e6;
        }
    }
    f64::NAN
}

/// Runs two sides at once.
pub fn race2(write: impl FnOnce() + Send, read: impl FnOnce() + Send) {
    race(vec![Box::new(write), Box::new(read)]);
}

/// Writes messages: their number, then always the same.
pub struct Filling<const N: usize> {
    source: [u8; N],
    windows: CoreWindows,
}

impl<const N: usize> Filling<N> {
    fn new() -> Filling<N> {
        Filling {
            source: std::array::from_fn(|at| u8::from(at % 8 == 0)),
            windows: CoreWindows::new(N, TURN_WINDOWS),
        }
    }

    /// The message of this number.
    #[inline(always)]
    pub fn fill(&mut self, room: &mut [u8], seq: u64) {
        room.copy_from_slice(&self.source);
        room[..8].copy_from_slice(&seq.to_ne_bytes());
        self.windows.reached(seq);
    }
}

fn message_sum<const N: usize>(seq: u64) -> u64 {
    seq + (N as u64 / 8 - 1)
}

/// A reader that adds up all words of all messages.
pub struct Taking<const N: usize> {
    sum: u64,
    windows: CoreWindows,
}

impl<const N: usize> Taking<N> {
    /// Counters that have seen no message yet.
    pub fn new() -> Taking<N> {
        Taking {
            sum: 0,
            windows: CoreWindows::new(N, TURN_WINDOWS),
        }
    }
}

impl<const N: usize> Take<N> for Taking<N> {
    #[inline(always)]
    fn message(&mut self, message: &[u8; N]) {
        let words = message.as_chunks::<8>().0.iter();
        self.sum += words.map(|word| u64::from_ne_bytes(*word)).sum::<u64>();
    }

    #[inline(always)]
    fn batch(&mut self, taken: u64) {
        self.windows.reached(taken);
    }
}
