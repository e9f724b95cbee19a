//! The controls: the most that two cores can do with nothing in between.

use std::thread;

use conformance::child::{TestFailure, TestOutcome};
use control::{BLOCK_BYTES, CoreWindows, Payload, WordRing, copy_blocks};

use crate::pin;
use crate::windows::{rate, run_count, windows};

/// Million messages a second between two threads, read in place by each of some readers, which one
/// thread has. Words are copied one by one: this is the control for short messages.
pub fn words(len: usize, readers: u32) -> Result<f64, TestFailure> {
    let ring = WordRing::new_private(readers as usize)?;
    let (mut sent, mut got) = (windows(len), windows(len));
    let (payload, count) = (Payload::with_bytes(len), run_count(len));
    thread::scope(|scope| -> TestOutcome {
        let writes = scope.spawn(|| -> TestOutcome {
            pin::to(0)?;
            ring.write_noting(payload, count, |number| sent.reached(number));
            Ok(())
        });
        ring.read_all_noting(payload, count, |count| got.reached(count));
        writes.join().map_err(|_| "the writer panicked")?
    })?;
    Ok(rate(&sent, &got))
}

/// Million messages a second that fit into what is copied from core to core at best.
pub fn copy(len: usize) -> Result<f64, TestFailure> {
    let (mut sent, mut got) = (windows(BLOCK_BYTES), windows(BLOCK_BYTES));
    let (mut pinned, filled): (TestOutcome, &mut CoreWindows) = (Ok(()), &mut sent);
    let before_fill = |block| {
        if block == 0 {
            pinned = pin::to(0);
        }
        filled.reached(block);
    };
    copy_blocks(run_count(BLOCK_BYTES), before_fill, |block| {
        got.reached(block)
    });
    pinned?;
    Ok(rate(&sent, &got) * (BLOCK_BYTES / len) as f64)
}
