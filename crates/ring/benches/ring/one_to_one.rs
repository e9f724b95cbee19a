//! Rates of rings between two threads, beside a bare one and rtrb.
//!
//! ```text
//!   processor 0                        processor 1
//!   copies a message in ---- ring ---> adds up all its words, in place
//! ```
//! `cargo bench -p thalweg-ring -- one_to_one`. Million messages a second, and in parentheses
//! the ratio to the bare ring in the same turn; medians of turns that alternate.

use std::os::fd::AsFd;

use rtrb::RingBuffer;
use thalweg_ring::{Reader, RingShape, Writer, join_ring, private_ring, shared_ring};

use crate::measure::bare::{Bare, Message, Take};
use crate::measure::messages::{Filling, Taking, count, race2, rate};
use crate::measure::{RING_BYTES, turns};

/// Messages that rtrb's users take at once.
const CHUNK: usize = 32;

const SHAPE: RingShape = RingShape {
    bytes: RING_BYTES,
    readers: 1,
};

/// Prints the rates of one writer and one reader as a table.
pub fn run() {
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

fn bare<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let ring = Bare::<N>::new();
        let write = || ring.write(count::<N>(), |slot, seq| filling.fill(slot, seq));
        race2(write, || ring.read(count::<N>(), taking));
    })
}

fn in_private<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (writer, mut readers) = private_ring(SHAPE).expect("memory");
        in_ring::<N>(writer, readers.remove(0), filling, taking);
    })
}

/// Ends with a mapping each, like those of two processes.
fn in_shared<const N: usize>() -> f64 {
    rate::<N>(|filling, taking| {
        let (writer, fd) = shared_ring(SHAPE).expect("memory");
        let reader = join_ring(fd.as_fd(), 0).expect("a ring");
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
            assert_eq!(writer.take_sleeping_readers(), 0);
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
            assert!(!reader.take_sleeping_writer());
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
