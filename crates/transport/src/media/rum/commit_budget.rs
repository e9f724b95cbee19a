//! The budget of a sending thread: the index up to which it commits frames without a look at their
//! batch.
//!
//! ```text
//!   batch_from          check_at                   full_at
//!   --+-------------------+--------------------------+--
//!     | frames of the     | frames that are          |
//!     | batch so far      | committed by counting    |
//! ```
//! A look takes the time and the lock of the sender's state, and may read credit: as much as
//! several small frames. So looks are few, as many as the batching times need at the rate at which
//! frames come. A thread that fills one batch after the other in less time than a look would wait
//! for does not look in between; if it stops, the IO thread sends the rest.

use std::time::{Duration, Instant};

use super::batch_header::BATCH_HEADER_BYTES;
use super::batch_sender::BatchWriteMode;
use super::flush_deadline::PendingFlush;

/// Longest time from one full batch to the next in which a thread does not look in between.
const FAST_BATCH_TIME_MAX: Duration = Duration::from_micros(25);

/// Most frames between two looks.
const STRIDE_MAX: u64 = 256;
const STRIDE_AFTER_FULL: u64 = 8;

/// Frames count as large if a batch has fewer than this.
const FRAMES_PER_BATCH_MIN: u64 = 32;

/// Fewest bytes of a batch for which writes are filled up: the rest of a smaller one would hardly
/// carry anything.
const FILLED_BYTES_MIN: usize = 4096;

/// Bytes left free for the headers of Ethernet, IP and TCP in 64 KB: a write of that size goes over
/// loopback in one segment, not in one and a small rest.
const SLACK_BYTES: usize = 64;

/// State of the current batch. Positions are indexes of the ring.
#[derive(Debug)]
pub(in crate::media) struct CommitBudget {
    /// Bytes of a full batch, with its header.
    batch_bytes: usize,
    batch_from: u64,
    full_at: u64,
    /// Index at which the batch is looked at, at the latest when it is full.
    check_at: u64,
    /// Time at which the last batch went out, if it was full.
    last_full_at: Option<Instant>,
    /// Whether the last two batches were full, one soon after the other.
    is_fast: bool,
    /// Whether the thread is fast and its frames are so large that they leave much of a write
    /// empty.
    fills_writes: bool,
}

impl CommitBudget {
    /// A budget for batches of `bytes` bytes.
    pub(in crate::media) fn new(bytes: usize) -> CommitBudget {
        let mut budget = CommitBudget {
            batch_bytes: bytes.saturating_sub(SLACK_BYTES),
            batch_from: 0,
            full_at: 0,
            check_at: 0,
            last_full_at: None,
            is_fast: false,
            fills_writes: false,
        };
        budget.begin_batch(0);
        budget
    }

    /// Mode in which a full batch is sent.
    pub(in crate::media::rum) fn write_mode(&self) -> BatchWriteMode {
        match self.fills_writes {
            true => BatchWriteMode::WriteFull(self.batch_bytes),
            false => BatchWriteMode::WriteAll,
        }
    }

    /// Bytes that can be committed before the next look.
    #[inline]
    pub(in crate::media) fn bytes_left(&self, head: u64) -> u64 {
        self.check_at.saturating_sub(head)
    }

    /// Whether the batch is full, if its frames have `bytes` bytes.
    pub(in crate::media) fn is_full(&self, head: u64, bytes: u64) -> bool {
        head >= self.last_check_at(bytes)
    }

    /// Begins another batch after every frame went out before the batch was full.
    pub(in crate::media) fn begin_batch(&mut self, head: u64) {
        self.begin_batch_at(head, 0);
        self.check_at = head;
        self.last_full_at = None;
        (self.is_fast, self.fills_writes) = (false, false);
    }

    /// Begins another batch after a full one of frames of about `bytes` bytes, of which `left`
    /// bytes are not sent yet.
    pub(in crate::media) fn begin_after_full(
        &mut self,
        head: u64,
        bytes: u64,
        left: usize,
        now: Instant,
    ) {
        let before = self.last_full_at.replace(now);
        self.is_fast =
            before.is_some_and(|before| now.duration_since(before) <= FAST_BATCH_TIME_MAX);
        let is_batch = self.batch_bytes >= FILLED_BYTES_MIN;
        self.fills_writes =
            self.is_fast && is_batch && bytes > self.batch_bytes as u64 / FRAMES_PER_BATCH_MIN;
        self.begin_batch_at(head, left);
        self.check_at = match self.is_fast {
            true => self.last_check_at(bytes),
            false => self
                .last_check_at(bytes)
                .min(head + STRIDE_AFTER_FULL * bytes),
        };
    }

    /// Looks again at the next frame, because the IO thread has the lock; a batch that is full now
    /// counts as full again soon.
    pub(in crate::media) fn check_next_frame(&mut self, head: u64, is_full: bool) {
        self.check_at = head;
        if is_full {
            self.full_at = head + self.batch_bytes as u64 / 4;
        }
    }

    /// Continues the batch after a look that has left it unsent; its frames have `bytes` bytes.
    pub(in crate::media) fn continue_batch(&mut self, head: u64, bytes: u64, left: PendingFlush) {
        let wait = left.until.saturating_sub(left.waited);
        let left_ns = wait.as_nanos() as u64;
        let stride = match left.waited.as_nanos() as u64 {
            0 => bytes,
            // Half of the bytes that will come until then at the rate so far.
            waited => (head - self.batch_from).saturating_mul(left_ns) / waited / 2,
        };
        let stride = stride.clamp(bytes, STRIDE_MAX * bytes);
        self.check_at = self.last_check_at(bytes).min(head + stride);
    }

    /// Index at which the batch must go out: the next frame would be too many, or, if a part of the
    /// last one can wait for the next write, there is enough for this one.
    fn last_check_at(&self, bytes: u64) -> u64 {
        match self.fills_writes {
            true => self.full_at,
            false => self.full_at.saturating_sub(bytes - 1),
        }
    }

    fn begin_batch_at(&mut self, head: u64, left: usize) {
        self.batch_from = head;
        self.full_at = head + self.batch_bytes.saturating_sub(BATCH_HEADER_BYTES + left) as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: usize = 64 * 1024;

    /// A budget after `count` full batches of frames of `bytes` bytes, one every 10 µs.
    fn after_full(batches: u32, bytes: u64) -> (CommitBudget, u64) {
        let (mut budget, mut head, start) = (CommitBudget::new(WHOLE), 0, Instant::now());
        for number in 0..batches {
            while !budget.is_full(head, bytes) {
                head += bytes;
            }
            let now = start + number * Duration::from_micros(10);
            budget.begin_after_full(head, bytes, 0, now);
        }
        (budget, head)
    }

    #[test]
    fn small_batches_are_not_filled_up() {
        for whole in [1, 64, 200, 4096] {
            let mut budget = CommitBudget::new(whole);
            let start = Instant::now();
            for number in 1..4 {
                let now = start + number * Duration::from_micros(10);
                budget.begin_after_full(u64::from(number) * 72, 72, 0, now);
            }
            assert_eq!(budget.write_mode(), BatchWriteMode::WriteAll, "{whole}");
        }
    }

    #[test]
    fn a_first_frame_is_looked_at() {
        let budget = CommitBudget::new(WHOLE);
        assert_eq!(budget.bytes_left(0), 0);
        assert_eq!(budget.write_mode(), BatchWriteMode::WriteAll);
    }

    #[test]
    fn a_batch_with_its_head_is_no_larger_than_it_may_be() {
        for bytes in [8, 72, 264, 4104, 16392] {
            let (_, head) = after_full(1, bytes);
            assert!(
                head as usize + BATCH_HEADER_BYTES <= WHOLE - SLACK_BYTES,
                "{bytes}"
            );
            assert!((head + bytes) as usize + BATCH_HEADER_BYTES > WHOLE - SLACK_BYTES);
        }
    }

    #[test]
    fn a_fast_thread_does_not_look_in_between() {
        let (budget, head) = after_full(1, 72);
        assert_eq!(budget.bytes_left(head), STRIDE_AFTER_FULL * 72);
        let (budget, head) = after_full(2, 72);
        let left = budget.bytes_left(head);
        assert!(budget.is_full(head + left, 72) && !budget.is_full(head + left - 1, 72));
        assert_eq!(budget.write_mode(), BatchWriteMode::WriteAll);
    }

    #[test]
    fn large_frames_fill_writes() {
        let (mut budget, head) = after_full(2, 16392);
        let whole = WHOLE - SLACK_BYTES;
        assert_eq!(budget.write_mode(), BatchWriteMode::WriteFull(whole));
        assert_eq!(budget.bytes_left(head), (whole - BATCH_HEADER_BYTES) as u64);
        let now = budget.last_full_at.expect("it was full");
        budget.begin_after_full(head, 16392, 100, now);
        assert_eq!(
            budget.bytes_left(head),
            (whole - BATCH_HEADER_BYTES - 100) as u64
        );
        budget.begin_batch(head);
        assert_eq!(budget.write_mode(), BatchWriteMode::WriteAll);
    }

    #[test]
    fn looks_come_as_often_as_the_times_need() {
        let mut budget = CommitBudget::new(WHOLE);
        let left = |micros| PendingFlush {
            waited: Duration::from_micros(micros),
            until: Duration::from_micros(25),
        };
        budget.continue_batch(72, 72, left(0));
        assert_eq!(budget.bytes_left(72), 72, "at the next frame");
        // A frame a microsecond, for 5 of 25: at half of the 20 that will come.
        budget.continue_batch(5 * 72, 72, left(5));
        assert_eq!(budget.bytes_left(5 * 72), 10 * 72);
        budget.continue_batch(100 * 72, 72, left(25));
        assert_eq!(budget.bytes_left(100 * 72), 72, "it is due");
    }
}
