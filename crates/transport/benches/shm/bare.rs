//! The controls: what two cores can do with nothing in between.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::child::{Failure, Outcome};
use crate::lanes::{RING_BYTES, add_up};
use crate::pin;

/// A word alone on its pair of cache lines.
#[repr(align(128))]
#[derive(Default)]
pub struct Line(pub AtomicU64);

/// Messages between two stores of the index.
const BATCH: u64 = 64;

/// Bytes of a block that changes hands.
const BLOCK: usize = 256 * 1024;

const WORDS: u64 = (RING_BYTES / 8) as u64;

/// A ring of words and its two indexes, counted in words.
struct Words {
    words: Vec<AtomicU64>,
    written: Line,
    read: Line,
}

/// Million messages a second between two threads, read in place. Words are copied one by one: this
/// is the control for short messages.
pub fn ring(len: usize, count: u64) -> Result<f64, Failure> {
    let ring = Words {
        words: (0..WORDS).map(|_| AtomicU64::new(0)).collect(),
        written: Line::default(),
        read: Line::default(),
    };
    let (words, count) = (len as u64 / 8, count / BATCH * BATCH);
    let start = Instant::now();
    thread::scope(|scope| -> Outcome {
        let writes = scope.spawn(|| -> Outcome {
            pin::to(0)?;
            ring.write(words, count);
            Ok(())
        });
        ring.read(words, count);
        writes.join().map_err(|_| "the writer panicked")?
    })?;
    Ok(count as f64 / start.elapsed().as_secs_f64() / 1e6)
}

impl Words {
    fn at(&self, index: u64) -> &AtomicU64 {
        &self.words[(index & (WORDS - 1)) as usize]
    }

    fn write(&self, words: u64, count: u64) {
        let payload = black_box(vec![3; words as usize]);
        let (mut head, mut limit) = (0, WORDS);
        for message in 1..=count {
            while head + words > limit {
                limit = self.read.0.load(Ordering::Acquire) + WORDS;
            }
            for (at, word) in (head..).zip(&payload) {
                self.at(at).store(*word, Ordering::Relaxed);
            }
            head += words;
            if message % BATCH == 0 || head + words > limit {
                self.written.0.store(head, Ordering::Release);
            }
        }
    }

    fn read(&self, words: u64, count: u64) {
        let (mut tail, mut sum, end) = (0, 0, words * count);
        while tail < end {
            let head = self.written.0.load(Ordering::Acquire);
            if head == tail {
                spin_loop();
                continue;
            }
            for at in tail..head {
                sum ^= self.at(at).load(Ordering::Relaxed);
            }
            tail = head;
            self.read.0.store(tail, Ordering::Release);
        }
        black_box(sum);
    }
}

/// Million messages a second that fit into what is copied from core to core at best: a block is
/// filled on one and added up on the other, then goes back.
pub fn copy(len: usize, bytes: u64) -> Result<f64, Failure> {
    let (there, here) = mpsc::sync_channel::<Vec<u8>>(4);
    let (back, again) = mpsc::sync_channel(4);
    (0..3).try_for_each(|_| back.send(vec![0; BLOCK]))?;
    let start = Instant::now();
    thread::scope(|scope| -> Outcome {
        let fills = scope.spawn(move || -> Outcome {
            pin::to(0)?;
            let source = vec![3_u8; 16 * 1024];
            for _ in 0..bytes / BLOCK as u64 {
                let mut block: Vec<u8> = spin_for(&again)?;
                for part in block.chunks_exact_mut(source.len()) {
                    part.copy_from_slice(black_box(&source));
                }
                there.send(block)?;
            }
            Ok(())
        });
        let mut sum = 0;
        for _ in 0..bytes / BLOCK as u64 {
            let block: Vec<u8> = spin_for(&here)?;
            sum ^= add_up(&block);
            // The filler may have had its last one.
            let _ = back.send(block);
        }
        black_box(sum);
        fills.join().map_err(|_| "the filler panicked")?
    })?;
    Ok(bytes as f64 / len as f64 / start.elapsed().as_secs_f64() / 1e6)
}

fn spin_for<T>(from: &mpsc::Receiver<T>) -> Result<T, Failure> {
    loop {
        match from.try_recv() {
            Ok(value) => return Ok(value),
            Err(mpsc::TryRecvError::Empty) => spin_loop(),
            Err(error) => return Err(error.into()),
        }
    }
}
