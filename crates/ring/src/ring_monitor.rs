//! How full a ring is, for somebody who only looks: any thread of the writer's process, at any
//! time.
//!
//! # Cost
//! Nothing for the writer, but that its line with `committed_bytes` is fetched by one more core.

use crate::segment::RingSegment;
use crate::sync::Ordering;
use crate::writer::Writer;

/// A ring that is looked at. Keeps its memory alive.
pub struct RingMonitor {
    segment: RingSegment,
}

/// What was seen of a ring. The numbers are of slightly different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOccupancy {
    /// Bytes that were ever committed: frames, and what fills the ring's end before a wrap.
    pub committed_bytes: u64,
    /// Bytes of them that the slowest reader has not released.
    pub queued_bytes: u64,
    /// The slowest reader; 0 if there is none.
    pub slowest_reader: u32,
}

impl RingMonitor {
    /// Looks. Readers of the set `gone`, a bit for each, do not count.
    pub fn occupancy(&self, gone: u64) -> RingOccupancy {
        let head = self.segment.control();
        let gone = gone | head.reader_status.0.gone.load(Ordering::Relaxed);
        let live = (0..self.segment.readers()).filter(|reader| gone & 1 << reader == 0);
        // Cursors first: then nobody seems to have released what is not committed yet.
        let released = live.map(|reader| {
            let released = self.segment.cursor(reader).released.load(Ordering::Acquire); // [room]
            (released, reader)
        });
        let slowest = released.min();
        let committed = head.committed.0.load(Ordering::Relaxed);
        let (released, slowest) = slowest.unwrap_or((committed, 0));
        // A reader in another process may have written anything.
        let queued = committed.saturating_sub(released);
        RingOccupancy {
            committed_bytes: committed,
            queued_bytes: queued.min(self.segment.capacity()),
            slowest_reader: slowest,
        }
    }
}

impl Writer {
    /// A look at its ring from elsewhere.
    pub fn monitor(&self) -> RingMonitor {
        RingMonitor {
            segment: self.segment().clone(),
        }
    }
}

// SAFETY: only atomics of the segment are used.
unsafe impl Sync for RingMonitor {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{RingShape, private_ring};

    #[test]
    fn the_slowest_reader_that_is_there_decides() {
        let shape = RingShape {
            bytes: 256,
            readers: 2,
        };
        let (mut writer, mut readers) = private_ring(shape).expect("memory");
        let gauge = writer.monitor();
        let level = |committed, queued, slowest| RingOccupancy {
            committed_bytes: committed,
            queued_bytes: queued,
            slowest_reader: slowest,
        };
        assert_eq!(gauge.occupancy(0), level(0, 0, 0));
        for _ in 0..3 {
            assert!(writer.claim(8).is_some());
            writer.commit(1, 0, 8);
        }
        while !readers[0].poll().is_empty() {
            readers[0].release();
        }
        assert_eq!(gauge.occupancy(0), level(48, 48, 1));
        assert_eq!(gauge.occupancy(0b10), level(48, 0, 0));
        drop(readers.pop());
        assert_eq!(gauge.occupancy(0), level(48, 0, 0));
        assert_eq!(gauge.occupancy(0b11), level(48, 0, 0), "nobody is left");
    }
}
