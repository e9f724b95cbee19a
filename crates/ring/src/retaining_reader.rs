//! A reading end that keeps frames after they were read, until they are released.
//!
//! For a sender that may have to send frames again: it reads at any index between the last release
//! and the last commit, any number of times, and for any number of receivers.
//!
//! ```text
//!   ---------+------------------+---------------------+------------+---------
//!   room     | kept: sent, may  | kept: not sent yet               | room
//!            | be sent again    |                                  |
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

/// The reading end of a ring that keeps frames until they are released. It can be moved between
/// threads.
///
/// # Example
/// ```
/// use thalweg_ring::frame::FrameBatch;
/// use thalweg_ring::retaining_ring;
///
/// let (mut writer, mut reader) = retaining_ring(4096)?;
/// writer.claim(3).expect("room").copy_from_slice(b"one");
/// writer.commit(1, 0, 3);
/// for _ in 0..2 {
///     let frames = FrameBatch::new(reader.frames_from(0));
///     assert_eq!(frames.map(|frame| frame.bytes).collect::<Vec<_>>(), [b"one"]);
/// }
/// reader.release(reader.committed());
/// assert_eq!(writer.queued_bytes(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct RetainingReader {
    segment: RingSegment,
    /// Index up to which frames were released: the value of this reader's cursor.
    released: u64,
    /// Makes the reader not `Sync`: one thread at a time uses it.
    _not_sync: PhantomData<Cell<()>>,
}

/// Creates a ring of at least `bytes` bytes between threads, whose frames are kept until they are
/// released: its writer and its only reading end.
///
/// # Errors
/// More bytes than a ring may have, or no memory.
pub fn retaining_ring(bytes: usize) -> io::Result<(Writer, RetainingReader)> {
    let (capacity, data) = (RingShape { bytes, readers: 1 }.capacity()?, data_offset(1));
    let memory = MappedMemory::private(data + capacity, data)?;
    let segment = RingSegment::create(memory, capacity, 1, MemoryBarrier::within_process())?;
    segment.readers_in_process().add(1);
    let reader = RetainingReader {
        segment: segment.clone(),
        released: 0,
        _not_sync: PhantomData,
    };
    Ok((Writer::new(segment), reader))
}

impl RetainingReader {
    /// Bytes of frames that the ring holds, a power of two.
    pub fn capacity(&self) -> usize {
        self.segment.capacity() as usize
    }

    /// Index up to which frames are committed.
    pub fn committed(&self) -> u64 {
        self.segment.control().committed.0.load(Ordering::Acquire) // [frames]
    }

    /// Index up to which frames were released.
    pub fn released(&self) -> u64 {
        self.released
    }

    /// Committed bytes from index `from` on, up to the wrap at most. They are whole frames if a
    /// frame begins at `from`; the last one may be padding.
    ///
    /// # Panics
    /// If `from` is not between the last release and the last commit.
    pub fn frames_from(&self, from: u64) -> &[u8] {
        let committed = self.committed();
        assert!(
            (self.released..=committed).contains(&from),
            "frames from {from} on are not kept: {} to {committed} are",
            self.released
        );
        let to = committed.min(self.segment.wrap_after(from));
        // SAFETY: not over the wrap; committed [frames]; not released, because a release needs this
        // end, which the slice borrows.
        unsafe { self.segment.readable_bytes(from, to) }
    }

    /// Gives the room before index `to` back to the writer.
    ///
    /// # Panics
    /// If `to` is not between the last release and the last commit.
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

    /// Announces that the thread that reads on from index `from` is about to sleep. `false`: do not
    /// sleep, there are frames. After `true`, the writer learns of it with its next commit, by
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

    /// Announces a sleep without the check of [`RetainingReader::arm`]: a commit that happens now
    /// may be missed. For a thread that looks again by itself a little later.
    pub fn request_wakeup(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_or(1, Ordering::Relaxed);
    }

    /// Takes the announcement of a sleep back: the thread is awake.
    pub fn disarm(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_and(!1, Ordering::Relaxed);
    }
}

impl Drop for RetainingReader {
    /// Lets a writer that dismisses this reader have its room.
    fn drop(&mut self) {
        let in_process = self.segment.readers_in_process();
        in_process.stop_awaiting(1);
        in_process.free_numbers(1);
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
        let (mut writer, mut reader) = retaining_ring(256).expect("memory");
        assert!(put(&mut writer, b"one") && put(&mut writer, b"two"));
        for _ in 0..3 {
            assert_eq!(payloads(reader.frames_from(0)), [b"one", b"two"]);
            assert_eq!(payloads(reader.frames_from(16)), [b"two"]);
            assert_eq!(payloads(reader.frames_from(32)).len(), 0);
        }
        reader.release(16);
        assert_eq!(payloads(reader.frames_from(16)), [b"two"]);
        assert_eq!((reader.released(), reader.committed()), (16, 32));
        assert_eq!(writer.committed(), 32);
    }

    #[test]
    fn what_is_kept_holds_room() {
        let (mut writer, mut reader) = retaining_ring(64).expect("memory");
        for n in 0..4u8 {
            assert!(put(&mut writer, &[n; 8]));
        }
        assert!(!put(&mut writer, &[4; 8]));
        reader.release(16);
        assert!(put(&mut writer, &[4; 8]));
        assert_eq!(reader.frames_from(16).len(), 48, "up to the wrap");
        assert_eq!(payloads(reader.frames_from(64)), [[4; 8]]);
        assert!(!put(&mut writer, &[5; 8]));
    }

    #[test]
    #[should_panic(expected = "are not kept")]
    fn what_was_released_is_gone() {
        let (mut writer, mut reader) = retaining_ring(64).expect("memory");
        put(&mut writer, b"");
        reader.release(8);
        reader.frames_from(0);
    }

    #[test]
    #[should_panic(expected = "a release of 9")]
    fn only_what_is_committed_can_be_released() {
        let (mut writer, mut reader) = retaining_ring(64).expect("memory");
        put(&mut writer, b"");
        reader.release(9);
    }

    #[test]
    fn frames_stay_although_their_reader_is_dismissed() {
        let (mut writer, reader) = retaining_ring(64).expect("memory");
        while put(&mut writer, &[1; 8]) {}
        let kept = reader.frames_from(0);
        writer.dismiss(0);
        assert!(!put(&mut writer, &[2; 8]));
        assert_eq!(payloads(kept), [[1; 8]; 4]);
        drop(reader);
        assert!(put(&mut writer, &[2; 8]));
    }

    #[test]
    fn a_sleeper_is_reported_once() {
        let (mut writer, mut reader) = retaining_ring(64).expect("memory");
        assert!(reader.arm(0));
        assert_eq!(writer.take_sleeping_readers(), 1);
        assert_eq!(writer.take_sleeping_readers(), 0);
        put(&mut writer, b"");
        assert!(!reader.arm(0), "there is a frame");
        assert_eq!(writer.take_sleeping_readers(), 0);
        reader.request_wakeup();
        assert_eq!(writer.take_sleeping_readers(), 1);
    }
}
