//! Occupancy of a ring, read by any thread of the writer's process at any time.
//!
//! # Cost
//! Nothing for the writer, except that one more core fetches its cache line with `committed`.

use crate::segment::RingSegment;
use crate::sync::Ordering;
use crate::writer::Writer;

/// Reads the occupancy of a ring from any thread. Keeps the ring's memory alive.
///
/// # Example
/// ```
/// use thalweg_ring::{RingShape, private_ring};
///
/// let (mut writer, readers) = private_ring(RingShape { bytes: 4096, readers: 1 })?;
/// let monitor = writer.monitor();
/// writer.claim(8).expect("room").fill(0);
/// writer.commit(1, 0, 8);
/// assert_eq!(monitor.occupancy(0).queued_bytes, 16);
/// drop(readers);
/// assert_eq!(monitor.occupancy(0).queued_bytes, 0, "the reader is gone");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RingMonitor {
    segment: RingSegment,
}

/// Occupancy of a ring. The numbers were read at slightly different times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOccupancy {
    /// Bytes committed since the beginning, with headers and the padding before each wrap.
    pub committed_bytes: u64,
    /// Committed bytes that the slowest reader has not released.
    pub queued_bytes: u64,
    /// Number of the slowest reader; 0 if there is none.
    pub slowest_reader: u32,
}

impl RingMonitor {
    /// Reads the occupancy. Readers in the set `gone`, a bit for each, do not count.
    pub fn occupancy(&self, gone: u64) -> RingOccupancy {
        let head = self.segment.control();
        let gone = gone | head.reader_status.0.gone.load(Ordering::Relaxed);
        let live = (0..self.segment.readers()).filter(|reader| gone & 1 << reader == 0);
        // Cursors first: then no reader seems to have released uncommitted frames.
        let released = live.map(|reader| {
            let released = self.segment.cursor(reader).released.load(Ordering::Acquire); // [room]
            (released, reader)
        });
        let slowest = released.min();
        let committed = head.committed.0.load(Ordering::Relaxed);
        let (released, slowest) = slowest.unwrap_or((committed, 0));
        // A reader in another process may have written any value.
        let queued = committed.saturating_sub(released);
        RingOccupancy {
            committed_bytes: committed,
            queued_bytes: queued.min(self.segment.capacity()),
            slowest_reader: slowest,
        }
    }
}

impl Writer {
    /// Returns a monitor of this ring for other threads.
    pub fn monitor(&self) -> RingMonitor {
        RingMonitor {
            segment: self.segment().clone(),
        }
    }
}

// SAFETY: it uses only atomics of the segment.
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
        let monitor = writer.monitor();
        let occupancy = |committed, queued, slowest| RingOccupancy {
            committed_bytes: committed,
            queued_bytes: queued,
            slowest_reader: slowest,
        };
        assert_eq!(monitor.occupancy(0), occupancy(0, 0, 0));
        for _ in 0..3 {
            assert!(writer.claim(8).is_some());
            writer.commit(1, 0, 8);
        }
        while !readers[0].poll().is_empty() {
            readers[0].release();
        }
        assert_eq!(monitor.occupancy(0), occupancy(48, 48, 1));
        assert_eq!(monitor.occupancy(0b10), occupancy(48, 0, 0));
        drop(readers.pop());
        assert_eq!(monitor.occupancy(0), occupancy(48, 0, 0));
        assert_eq!(
            monitor.occupancy(0b11),
            occupancy(48, 0, 0),
            "nobody is left"
        );
    }
}
