//! Rates of rings between two threads, beside a bare one and rtrb.
//!
//! ```text
//!   processor 0                        processor 1
//!   copies a message in ---- ring ---> adds up all its words, in place
//! ```
//! `cargo bench -p thalweg-ring --bench one_to_one`. Million messages a second, and in parentheses
//! the ratio to the bare ring in the same turn; medians of turns that alternate.

mod measure;

use std::os::fd::AsFd;

use measure::bare::{Bare, Message, Take};
use measure::windows::{self, Windows};
use measure::{RING_BYTES, median, print_machine, race, turns};
use rtrb::RingBuffer;
use thalweg_ring::{Reader, Shape, Writer, join, private, shared};

/// Messages that rtrb's users take at once.
const CHUNK: usize = 32;

/// How many windows a turn has at least ...
const WINDOWS: usize = 16;

/// ... and how often it is tried, on a busy machine.
const TRIES: usize = 100;

const SHAPE: Shape = Shape {
    bytes: RING_BYTES,
    readers: 1,
};

fn main() {
    print_machine();
    println!(
        "{:>6} {:>8} {:>15} {:>15} {:>15} {:>15}",
        "bytes", "bare", "rtrb chunks", "rtrb one", "private", "shared"
    );
    row::<64>();
    row::<256>();
    row::<1024>();
    row::<4096>();
    row::<16384>();
}

fn row<const N: usize>() {
    let only = std::env::args().nth(1).unwrap_or_default();
    if only.parse().is_ok_and(|bytes: usize| bytes != N) {
        return;
    }
    let rows = turns(&mut [
        &mut bare::<N>,
        &mut rtrb_chunks::<N>,
        &mut rtrb_one::<N>,
        &mut in_private::<N>,
        &mut in_shared::<N>,
    ]);
    print!("{N:>6} {:>8.1}", rows[0].0);
    for (rate, ratio) in &rows[1..] {
        print!(" {rate:>8.1} ({ratio:.2})");
    }
    println!();
}

/// How many messages of this size a turn has.
const fn count<const N: usize>() -> u64 {
    Windows::turn_count(N)
}

/// Million messages a second in the middle of some windows in which both sides ran, and that all
/// messages were right.
fn rate<const N: usize>(mut turn: impl FnMut(&mut Filling<N>, &mut Taking<N>)) -> f64 {
    let mut rates = Vec::new();
    for _ in 0..TRIES {
        let (mut filling, mut taking) = (Filling::new(), Taking::new());
        turn(&mut filling, &mut taking);
        let expected: u64 = (0..count::<N>()).map(message_sum::<N>).sum();
        assert_eq!(taking.sum, expected, "every word of every message");
        rates.append(&mut windows::rates(&filling.windows, &taking.windows));
        if rates.len() >= WINDOWS {
            return median(rates) / 1e6;
        }
    }
    f64::NAN
}

/// Runs two sides at once.
fn race2(write: impl FnOnce() + Send, read: impl FnOnce() + Send) {
    race(vec![Box::new(write), Box::new(read)]);
}

/// Writes messages: their number, then always the same.
struct Filling<const N: usize> {
    source: [u8; N],
    windows: Windows,
}

impl<const N: usize> Filling<N> {
    fn new() -> Filling<N> {
        Filling {
            source: std::array::from_fn(|at| u8::from(at % 8 == 0)),
            windows: Windows::new(N),
        }
    }

    #[inline(always)]
    fn fill(&mut self, room: &mut [u8], seq: u64) {
        room.copy_from_slice(&self.source);
        room[..8].copy_from_slice(&seq.to_ne_bytes());
        self.windows.reached(seq);
    }
}

fn message_sum<const N: usize>(seq: u64) -> u64 {
    seq + (N as u64 / 8 - 1)
}

/// Adds up all words of all messages.
struct Taking<const N: usize> {
    sum: u64,
    windows: Windows,
}

impl<const N: usize> Taking<N> {
    fn new() -> Taking<N> {
        Taking {
            sum: 0,
            windows: Windows::new(N),
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

fn bare<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let ring = Bare::<N>::new();
        let write = || ring.write(count::<N>(), |slot, seq| filling.fill(slot, seq));
        race2(write, || ring.read(count::<N>(), taking));
    })
}

fn in_private<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (writer, mut readers) = private(SHAPE).expect("memory");
        in_ring::<N>(writer, readers.remove(0), filling, taking);
    })
}

/// As between two processes: each end has a mapping of its own.
fn in_shared<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (writer, fd) = shared(SHAPE).expect("memory");
        let reader = join(fd.as_fd(), 0).expect("a ring");
        in_ring::<N>(writer, reader, filling, taking);
    })
}

fn in_ring<const N: usize>(
    mut writer: Writer,
    mut reader: Reader,
    filling: &mut Filling<N>,
    taking: &mut Taking<N>,
) {
    let write = || {
        for seq in 0..count::<N>() {
            let room = loop {
                if let Some(room) = writer.claim(N) {
                    break room;
                }
            };
            filling.fill(room, seq);
            writer.commit(1, 0, N);
            // As a medium does.
            assert_eq!(writer.sleeping_readers(), 0);
        }
    };
    let read = || {
        let mut taken = 0;
        while taken < count::<N>() {
            for frame in reader.poll() {
                if let Ok(message) = frame.bytes.try_into() {
                    taking.message(message);
                    taken += 1;
                }
            }
            reader.release();
            taking.batch(taken);
            assert!(!reader.is_writer_sleeping());
        }
    };
    race2(write, read);
}

fn rtrb_one<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (mut producer, mut consumer) = RingBuffer::<Message<N>>::new(RING_BYTES / N);
        let write = || {
            for seq in 0..count::<N>() {
                let mut message = Message([0; N]);
                filling.fill(&mut message.0, seq);
                while producer.is_full() {}
                assert!(producer.push(message).is_ok());
            }
        };
        let read = || {
            for taken in 1..=count::<N>() {
                let message = loop {
                    if let Ok(message) = consumer.pop() {
                        break message;
                    }
                };
                taking.message(&message.0);
                taking.batch(taken);
            }
        };
        race2(write, read);
    })
}

fn rtrb_chunks<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (mut producer, mut consumer) = RingBuffer::<Message<N>>::new(RING_BYTES / N);
        let write = || {
            let mut seq = 0;
            while seq < count::<N>() {
                let Ok(chunk) = producer.write_chunk_uninit(CHUNK) else {
                    continue;
                };
                let messages = (seq..).map(|seq| {
                    let mut message = Message([0; N]);
                    filling.fill(&mut message.0, seq);
                    message
                });
                seq += chunk.fill_from_iter(messages) as u64;
            }
        };
        let read = || {
            let mut taken = 0;
            while taken < count::<N>() {
                let Ok(chunk) = consumer.read_chunk(CHUNK) else {
                    continue;
                };
                let (first, second) = chunk.as_slices();
                let messages = first.iter().chain(second);
                messages.for_each(|message| taking.message(&message.0));
                chunk.commit_all();
                taken += CHUNK as u64;
                taking.batch(taken);
            }
        };
        race2(write, read);
    })
}
