//! The pace of a sending thread: up to where it commits frames without a look at their batch.
//!
//! ```text
//!   began              look_at                    full_at
//!   --+-------------------+--------------------------+--
//!     | frames of the     | frames that are          |
//!     | batch so far      | committed by counting    |
//! ```
//! A look takes the time and the link, and may hear the receivers: as much as several small frames.
//! So there are few of them, as many as the batching times need for the rate at which frames come.
//! A thread that fills one batch after the other in less time than a look would wait for does not
//! look in between; if it stops, the pump sends what is left.

use std::time::{Duration, Instant};

use super::batch_header::BATCH_HEADER_BYTES;
use super::batch_sender::BatchWriteMode;
use super::flush_deadline::PendingFlush;

/// A thread that takes less than so long from one full batch to the next does not look in between.
const FAST_BATCH_TIME_MAX: Duration = Duration::from_micros(25);

/// Frames between two looks at most, and after a full batch.
const STRIDE_MAX: u64 = 256;
const STRIDE_AFTER_FULL: u64 = 8;

/// Frames are large if fewer than so many are a batch.
const FRAMES_PER_BATCH_MIN: u64 = 32;

/// Smaller batches are sent as they come: a write of what is left of one would hardly carry
/// anything.
const FILLED_BYTES_MIN: usize = 4096;

/// What the headers of Ethernet, IP and TCP leave of 64 KB: a write of that size goes over loopback
/// in one segment, not in one and a scrap.
const SLACK_BYTES: usize = 64;

/// Where the batch stands. Positions are indexes of the ring.
#[derive(Debug)]
pub(super) struct CommitBudget {
    /// Bytes of a full batch, with its head.
    batch_bytes: usize,
    batch_from: u64,
    full_at: u64,
    /// Where it is looked at, at the latest when it is full.
    check_at: u64,
    /// When the last batch went out, if it was full.
    last_full_at: Option<Instant>,
    /// Whether the last two were, one soon after the other.
    is_fast: bool,
    /// Whether that was so, of frames so large that they leave much of a write empty.
    fills_writes: bool,
}

impl CommitBudget {
    /// For batches of so many bytes.
    pub(super) fn new(bytes: usize) -> CommitBudget {
        let mut pace = CommitBudget {
            batch_bytes: bytes.saturating_sub(SLACK_BYTES),
            batch_from: 0,
            full_at: 0,
            check_at: 0,
            last_full_at: None,
            is_fast: false,
            fills_writes: false,
        };
        pace.begin_batch(0);
        pace
    }

    /// What follows on a full batch.
    pub(super) fn write_mode(&self) -> BatchWriteMode {
        match self.fills_writes {
            true => BatchWriteMode::WriteFull(self.batch_bytes),
            false => BatchWriteMode::WriteAll,
        }
    }

    /// Bytes that can be committed before the next look.
    #[inline]
    pub(super) fn bytes_left(&self, head: u64) -> u64 {
        self.check_at.saturating_sub(head)
    }

    /// Whether it is full, of frames of so many bytes.
    pub(super) fn is_full(&self, head: u64, bytes: u64) -> bool {
        head >= self.last_check_at(bytes)
    }

    /// Everything went out before the batch was full: the next frame begins another one.
    pub(super) fn begin_batch(&mut self, head: u64) {
        self.begin_batch_at(head, 0);
        self.check_at = head;
        self.last_full_at = None;
        (self.is_fast, self.fills_writes) = (false, false);
    }

    /// A full batch went out, of frames of about so many bytes; some bytes of it are left.
    pub(super) fn begin_after_full(&mut self, head: u64, bytes: u64, left: usize, now: Instant) {
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

    /// Somebody else has the link: there is a look at the next frame, and a batch that is full now
    /// is full again soon.
    pub(super) fn check_next_frame(&mut self, head: u64, is_full: bool) {
        self.check_at = head;
        if is_full {
            self.full_at = head + self.batch_bytes as u64 / 4;
        }
    }

    /// A look has left the batch there; it is of frames of so many bytes.
    pub(super) fn continue_batch(&mut self, head: u64, bytes: u64, left: PendingFlush) {
        let wait = left.until.saturating_sub(left.waited);
        let left_ns = wait.as_nanos() as u64;
        let stride = match left.waited.as_nanos() as u64 {
            0 => bytes,
            // Half of what will come until then, as it has come until now.
            waited => (head - self.batch_from).saturating_mul(left_ns) / waited / 2,
        };
        let stride = stride.clamp(bytes, STRIDE_MAX * bytes);
        self.check_at = self.last_check_at(bytes).min(head + stride);
    }

    /// Where nothing more is to be committed before it goes out: the next frame would be too many,
    /// or, if a part of the last one can wait for the next write, there is enough for this one.
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

    /// After so many full batches of frames of so many bytes, one every 10 µs.
    fn after_full(batches: u32, bytes: u64) -> (CommitBudget, u64) {
        let (mut pace, mut head, start) = (CommitBudget::new(WHOLE), 0, Instant::now());
        for number in 0..batches {
            while !pace.is_full(head, bytes) {
                head += bytes;
            }
            let now = start + number * Duration::from_micros(10);
            pace.begin_after_full(head, bytes, 0, now);
        }
        (pace, head)
    }

    #[test]
    fn small_batches_are_not_filled_up() {
        for whole in [1, 64, 200, 4096] {
            let mut pace = CommitBudget::new(whole);
            let start = Instant::now();
            for number in 1..4 {
                let now = start + number * Duration::from_micros(10);
                pace.begin_after_full(u64::from(number) * 72, 72, 0, now);
            }
            assert_eq!(pace.write_mode(), BatchWriteMode::WriteAll, "{whole}");
        }
    }

    #[test]
    fn a_first_frame_is_looked_at() {
        let pace = CommitBudget::new(WHOLE);
        assert_eq!(pace.bytes_left(0), 0);
        assert_eq!(pace.write_mode(), BatchWriteMode::WriteAll);
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
        let (pace, head) = after_full(1, 72);
        assert_eq!(pace.bytes_left(head), STRIDE_AFTER_FULL * 72);
        let (pace, head) = after_full(2, 72);
        let left = pace.bytes_left(head);
        assert!(pace.is_full(head + left, 72) && !pace.is_full(head + left - 1, 72));
        assert_eq!(pace.write_mode(), BatchWriteMode::WriteAll);
    }

    #[test]
    fn large_frames_fill_writes() {
        let (mut pace, head) = after_full(2, 16392);
        let whole = WHOLE - SLACK_BYTES;
        assert_eq!(pace.write_mode(), BatchWriteMode::WriteFull(whole));
        assert_eq!(pace.bytes_left(head), (whole - BATCH_HEADER_BYTES) as u64);
        let now = pace.last_full_at.expect("it was full");
        pace.begin_after_full(head, 16392, 100, now);
        assert_eq!(
            pace.bytes_left(head),
            (whole - BATCH_HEADER_BYTES - 100) as u64
        );
        pace.begin_batch(head);
        assert_eq!(pace.write_mode(), BatchWriteMode::WriteAll);
    }

    #[test]
    fn looks_come_as_often_as_the_times_need() {
        let mut pace = CommitBudget::new(WHOLE);
        let left = |micros| PendingFlush {
            waited: Duration::from_micros(micros),
            until: Duration::from_micros(25),
        };
        pace.continue_batch(72, 72, left(0));
        assert_eq!(pace.bytes_left(72), 72, "at the next frame");
        // A frame a microsecond, for 5 of 25: at half of the 20 that will come.
        pace.continue_batch(5 * 72, 72, left(5));
        assert_eq!(pace.bytes_left(5 * 72), 10 * 72);
        pace.continue_batch(100 * 72, 72, left(25));
        assert_eq!(pace.bytes_left(100 * 72), 72, "it is due");
    }
}
