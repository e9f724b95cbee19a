//! A reading end that keeps what it has read: frames stay where they are until they are released.
//!
//! For whoever sends frames on and may have to send them again: it reads at any index between the
//! last that was released and the last that was committed, as often as it likes, and for as many
//! receivers as it likes.
//!
//! ```text
//!   ---------+------------------+---------------------+------------+---------
//!   room     | kept: sent on,   | kept: not sent on   | room
//!            | may be wanted    |                     |
//!   ---------+------------------+---------------------+------------+---------
//!            released           (any index)           committed
//! ```

use std::cell::Cell;
use std::io;
use std::marker::PhantomData;

use crate::mapped_memory::MappedMemory;
use crate::memory_barrier::MemoryBarrier;
use crate::private_ring::RingShape;
use crate::segment::{RingSegment, data_offset};
use crate::sync::Ordering;
use crate::writer::Writer;

/// The reading end of a ring whose frames are kept. Can be moved between threads.
pub struct RetainingReader {
    segment: RingSegment,
    /// Up to where frames were released: what our cursor says.
    released: u64,
    /// Not `Sync`.
    _not_sync: PhantomData<Cell<()>>,
}

/// A ring between threads that keeps frames: its writer and its only reading end.
///
/// # Errors
/// A size that cannot be, or no memory.
pub fn retaining_ring(bytes: usize) -> io::Result<(Writer, RetainingReader)> {
    let (capacity, data) = (RingShape { bytes, readers: 1 }.capacity()?, data_offset(1));
    let memory = MappedMemory::private(data + capacity, data)?;
    let segment = RingSegment::create(memory, capacity, 1, MemoryBarrier::within_process())?;
    let reader = RetainingReader {
        segment: segment.clone(),
        released: 0,
        _not_sync: PhantomData,
    };
    Ok((Writer::new(segment), reader))
}

impl RetainingReader {
    /// Bytes that the ring holds.
    pub fn capacity(&self) -> usize {
        self.segment.capacity() as usize
    }

    /// The index up to which frames are committed.
    pub fn committed(&self) -> u64 {
        self.segment.control().committed.0.load(Ordering::Acquire) // [frames]
    }

    /// The index up to which they were released.
    pub fn released(&self) -> u64 {
        self.released
    }

    /// What is committed from an index on, as far as it lies in one piece. Whole frames if the
    /// index is where a frame begins; the last one may only fill the ring's end.
    ///
    /// # Panics
    /// If the index is not between what was released and what is committed.
    pub fn frames_from(&self, from: u64) -> &[u8] {
        let committed = self.committed();
        assert!(
            (self.released..=committed).contains(&from),
            "frames from {from} on are not kept: {} to {committed} are",
            self.released
        );
        let to = committed.min(self.segment.wrap_after(from));
        // SAFETY: not over the wrap; committed [frames]; not released, which needs this end, which
        // the slice borrows.
        unsafe { self.segment.readable_bytes(from, to) }
    }

    /// Gives the room of everything before an index back to the writer.
    ///
    /// # Panics
    /// If it is not between what was released and what is committed.
    pub fn release(&mut self, to: u64) {
        assert!(
            (self.released..=self.committed()).contains(&to),
            "a release of {to} after {}",
            self.released
        );
        self.segment.record_read(self.released, to);
        let cursor = self.segment.cursor(0);
        cursor.released.store(to, Ordering::Release); // [room]
        self.released = to;
    }

    /// Says that whoever reads on from an index is about to sleep. `false`: do not, there are
    /// frames. After `true`, the writer is told with its next commit, by
    /// [`Writer::take_sleeping_readers`].
    pub fn arm(&mut self, from: u64) -> bool {
        self.request_wakeup();
        let is_safe = self.segment.barrier().heavy();
        let must_wait = is_safe && self.committed() == from;
        if !must_wait {
            self.disarm();
        }
        must_wait
    }

    /// Asks to be told of a commit that comes soon, without making sure that one that comes now is
    /// not missed. For whoever looks again by itself a little later.
    pub fn request_wakeup(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_or(1, Ordering::Relaxed);
    }

    /// It is awake again.
    pub fn disarm(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_and(!1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::frame::FrameBatch;

    fn put(writer: &mut Writer, payload: &[u8]) -> bool {
        let Some(room) = writer.claim(payload.len()) else {
            return false;
        };
        room.copy_from_slice(payload);
        writer.commit(1, 0, payload.len());
        true
    }

    fn payloads(bytes: &[u8]) -> Vec<&[u8]> {
        FrameBatch::new(bytes).map(|frame| frame.bytes).collect()
    }

    #[test]
    fn frames_are_read_again_until_they_are_released() {
        let (mut writer, mut keeper) = retaining_ring(256).expect("memory");
        assert!(put(&mut writer, b"one") && put(&mut writer, b"two"));
        for _ in 0..3 {
            assert_eq!(payloads(keeper.frames_from(0)), [b"one", b"two"]);
            assert_eq!(payloads(keeper.frames_from(16)), [b"two"]);
            assert_eq!(payloads(keeper.frames_from(32)).len(), 0);
        }
        keeper.release(16);
        assert_eq!(payloads(keeper.frames_from(16)), [b"two"]);
        assert_eq!((keeper.released(), keeper.committed()), (16, 32));
        assert_eq!(writer.committed(), 32);
    }

    #[test]
    fn what_is_kept_holds_room() {
        let (mut writer, mut keeper) = retaining_ring(64).expect("memory");
        for n in 0..4u8 {
            assert!(put(&mut writer, &[n; 8]));
        }
        assert!(!put(&mut writer, &[4; 8]));
        keeper.release(16);
        assert!(put(&mut writer, &[4; 8]));
        assert_eq!(keeper.frames_from(16).len(), 48, "up to the wrap");
        assert_eq!(payloads(keeper.frames_from(64)), [[4; 8]]);
        assert!(!put(&mut writer, &[5; 8]));
    }

    #[test]
    #[should_panic(expected = "are not kept")]
    fn what_was_released_is_gone() {
        let (mut writer, mut keeper) = retaining_ring(64).expect("memory");
        put(&mut writer, b"");
        keeper.release(8);
        keeper.frames_from(0);
    }

    #[test]
    #[should_panic(expected = "a release of 9")]
    fn only_what_is_committed_can_be_released() {
        let (mut writer, mut keeper) = retaining_ring(64).expect("memory");
        put(&mut writer, b"");
        keeper.release(9);
    }

    #[test]
    fn a_sleeper_is_reported_once() {
        let (mut writer, mut keeper) = retaining_ring(64).expect("memory");
        assert!(keeper.arm(0));
        assert_eq!(writer.take_sleeping_readers(), 1);
        assert_eq!(writer.take_sleeping_readers(), 0);
        put(&mut writer, b"");
        assert!(!keeper.arm(0), "there is a frame");
        assert_eq!(writer.take_sleeping_readers(), 0);
        keeper.request_wakeup();
        assert_eq!(writer.take_sleeping_readers(), 1);
    }
}
