//! The best rate of copying between two cores: one fills blocks, the other adds them up and returns
//! them.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use crate::backoff::Backoff;

/// Bytes of a block: small enough for the cache of a core, large enough that queue operations cost
/// nothing.
pub const BLOCK_BYTES: usize = 256 * 1024;

/// Number of blocks: one that is filled, one that is added up, one between the two.
const BLOCKS: usize = 3;

/// Nanoseconds that two threads take to hand `bytes` bytes over in blocks.
///
/// # Panics
/// If one of the threads panics.
pub fn copy_blocks_ns(bytes: u64) -> f64 {
    let start = Instant::now();
    copy_blocks(bytes / BLOCK_BYTES as u64, |_| (), |_| ());
    start.elapsed().as_nanos() as f64
}

/// Hands `count` blocks of [`BLOCK_BYTES`] bytes over from a new thread to this one. Each side
/// calls its function with the number of the block that it waits for next, from 0 on, and at the
/// end with `count`.
///
/// # Panics
/// If one of the threads panics.
pub fn copy_blocks(
    count: u64,
    mut before_fill: impl FnMut(u64) + Send,
    mut before_take: impl FnMut(u64),
) {
    let (mut full, mut filled) = rtrb::RingBuffer::<Vec<u64>>::new(BLOCKS);
    let (mut empty, mut emptied) = rtrb::RingBuffer::new(BLOCKS);
    for _ in 0..BLOCKS {
        assert!(empty.push(vec![0; BLOCK_BYTES / 8]).is_ok());
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            let source = [3; 2048];
            for number in 0..count {
                before_fill(number);
                let mut block = pop_spinning(&mut emptied);
                let parts = block.chunks_exact_mut(source.len());
                parts.for_each(|part| part.copy_from_slice(black_box(&source)));
                assert!(full.push(block).is_ok(), "there are so few");
            }
            before_fill(count);
        });
        let mut sum = 0u64;
        for number in 0..count {
            before_take(number);
            let block = pop_spinning(&mut filled);
            sum = block.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
            // The filling thread may have ended.
            let _ = empty.push(block);
        }
        before_take(count);
        black_box(sum);
    });
}

/// Waits for the next item of a ring by spinning.
pub fn pop_spinning<T>(from: &mut rtrb::Consumer<T>) -> T {
    let mut backoff = Backoff::default();
    loop {
        match from.pop() {
            Ok(item) => return item,
            Err(_) => backoff.wait(),
        }
    }
}
