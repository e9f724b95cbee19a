//! The controls: the most that two cores can do with nothing in between.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::child::{Failure, Outcome};
use crate::paths::{Patience, RING_BYTES, add_up};
use crate::pin;
use crate::windows::{Windows, rate, run_count};

/// Words of a pair of cache lines.
#[repr(align(128))]
#[derive(Default)]
pub struct Line(pub [AtomicU64; 16]);

/// Words between two stores of the index, as many bytes as a ring's batch has.
const BATCH: u64 = 32 * 1024 / 8;

/// Bytes of a block that changes hands.
const BLOCK: usize = 256 * 1024;

const WORDS: u64 = (RING_BYTES / 8) as u64;

/// A ring of words and its two indexes, counted in words.
struct Words {
    words: Vec<AtomicU64>,
    written: Line,
    /// Index of each reader.
    read: Vec<Line>,
}

/// Million messages a second between two threads, read in place by each of some readers, which one
/// thread has. Words are copied one by one: this is the control for short messages.
pub fn words(len: usize, readers: u32) -> Result<f64, Failure> {
    let ring = Words {
        words: (0..WORDS).map(|_| AtomicU64::new(0)).collect(),
        written: Line::default(),
        read: (0..readers).map(|_| Line::default()).collect(),
    };
    let (mut sent, mut got) = (Windows::new(len), Windows::new(len));
    let (words, count) = (len as u64 / 8, run_count(len));
    thread::scope(|scope| -> Outcome {
        let writes = scope.spawn(|| -> Outcome {
            pin::to(0)?;
            ring.write(words, count, &mut sent);
            Ok(())
        });
        ring.read(words, count, &mut got);
        writes.join().map_err(|_| "the writer panicked")?
    })?;
    Ok(rate(&sent, &got))
}

impl Words {
    fn at(&self, index: u64) -> &AtomicU64 {
        &self.words[(index & (WORDS - 1)) as usize]
    }

    fn write(&self, words: u64, count: u64, windows: &mut Windows) {
        let payload = black_box(vec![3; words as usize]);
        let (mut head, mut limit, mut patience) = (0, WORDS, Patience::new());
        let mut written = 0;
        for message in 1..=count {
            windows.reached(message - 1);
            while head + words > limit {
                limit = self.slowest() + WORDS;
                patience.wait();
            }
            for (at, word) in (head..).zip(&payload) {
                self.at(at).store(*word, Ordering::Relaxed);
            }
            head += words;
            let is_last = message == count || head + words > limit;
            if is_last || head - written >= BATCH {
                self.written.0[0].store(head, Ordering::Release);
                written = head;
            }
        }
    }

    /// Index that all readers have reached.
    fn slowest(&self) -> u64 {
        let read = self
            .read
            .iter()
            .map(|line| line.0[0].load(Ordering::Acquire));
        read.min().unwrap_or(0)
    }

    fn read(&self, words: u64, count: u64, windows: &mut Windows) {
        let mut tails = vec![0; self.read.len()];
        let (mut sum, end, mut patience) = (0, words * count, Patience::new());
        windows.reached(0);
        while tails.iter().any(|tail| *tail < end) {
            let before = tails[0];
            for (tail, read) in tails.iter_mut().zip(&self.read) {
                let head = self.written.0[0].load(Ordering::Acquire);
                for at in *tail..head {
                    sum ^= self.at(at).load(Ordering::Relaxed);
                }
                *tail = head;
                read.0[0].store(head, Ordering::Release);
            }
            match tails[0] == before {
                true => patience.wait(),
                false => windows.reached(tails[0] / words),
            }
        }
        black_box(sum);
    }
}

/// Million messages a second that fit into what is copied from core to core at best: a block is
/// filled on one and added up on the other, then goes back.
pub fn copy(len: usize) -> Result<f64, Failure> {
    let (there, here) = mpsc::sync_channel::<Vec<u8>>(4);
    let (back, again) = mpsc::sync_channel(4);
    (0..3).try_for_each(|_| back.send(vec![0; BLOCK]))?;
    let blocks = run_count(BLOCK);
    let (mut sent, mut got) = (Windows::new(BLOCK), Windows::new(BLOCK));
    let filled = &mut sent;
    thread::scope(|scope| -> Outcome {
        let fills = scope.spawn(move || -> Outcome {
            pin::to(0)?;
            let source = vec![3_u8; 16 * 1024];
            for block in 0..blocks {
                filled.reached(block);
                let mut room = wait_for(&again)?;
                for part in room.chunks_exact_mut(source.len()) {
                    part.copy_from_slice(black_box(&source));
                }
                there.send(room)?;
            }
            Ok(())
        });
        let mut sum = 0;
        for block in 0..blocks {
            got.reached(block);
            let full = wait_for(&here)?;
            sum ^= add_up(&full);
            // The filling thread may have ended.
            let _ = back.send(full);
        }
        black_box(sum);
        fills.join().map_err(|_| "the filler panicked")?
    })?;
    Ok(rate(&sent, &got) * (BLOCK / len) as f64)
}

fn wait_for(from: &mpsc::Receiver<Vec<u8>>) -> Result<Vec<u8>, Failure> {
    let mut patience = Patience::new();
    loop {
        match from.try_recv() {
            Ok(block) => return Ok(block),
            Err(mpsc::TryRecvError::Empty) => patience.wait(),
            Err(error) => return Err(error.into()),
        }
    }
}
