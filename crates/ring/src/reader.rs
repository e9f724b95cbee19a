//! The reading end of a ring: polls runs of frames in place and gives their room back.

use std::cell::Cell;
use std::hint::spin_loop;
use std::marker::PhantomData;

use crate::failpoints::{Failpoint, hit};
use crate::frame::{ALIGN, FrameBatch, FrameHeader, HEADER_BYTES, PAD, TornFrame, frame_bytes};
use crate::ring_fault::RingFault;
use crate::segment::{PART_COUNT, RingSegment};
use crate::sync::{Ordering, fence};

/// Fewest looks of a reader in a stream of frames for the next batch (at the index `published`)
/// before it looks for single frames (at `committed`). With fewer, the reader would be back at
/// single frames before one batch is complete.
const BATCH_SPINS_MIN: u32 = if cfg!(loom) { 1 } else { 4 };

/// Most times that a reader looks for the next batch before it looks for single frames: one to
/// three microseconds where `spin_loop` takes 25 to 50 ns.
const BATCH_SPINS_MAX: u32 = if cfg!(loom) { 2 } else { 64 };

/// Bytes that must come for each look to make waiting for a batch worthwhile: the writer is then at
/// work on a batch, and a reader that looks at its single frames takes cache lines from under it.
const SPIN_BYTES: u64 = 32;

/// Most frames that count as few: a sender may be waiting for the answer to a single frame, so the
/// reader does not wait for a batch.
const FEW_FRAMES: u64 = 2;

/// A reading end of a ring. It can be moved between threads.
///
/// # Example
/// A reader that found nothing announces its sleep; the writer learns of it with its next commit:
/// ```
/// use thalweg_ring::{RingShape, private_ring};
///
/// let (mut writer, mut readers) = private_ring(RingShape { bytes: 4096, readers: 1 })?;
/// let reader = &mut readers[0];
/// assert!(reader.poll().is_empty());
/// assert!(reader.arm(), "there is nothing to poll: sleep");
/// writer.claim(2).expect("room").copy_from_slice(b"up");
/// writer.commit(1, 0, 2);
/// assert_eq!(writer.take_sleeping_readers(), 0b1, "wake reader 0");
/// reader.disarm();
/// assert_eq!(reader.poll().count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Reader {
    segment: RingSegment,
    number: u32,
    /// Index up to which frames were polled.
    tail: u64,
    /// Index up to which frames were released: the value of this reader's cursor.
    released: u64,
    /// Index up to which there are frames. May be stale, and is then too small.
    cached_committed: u64,
    /// Number of looks for a batch before a look for single frames: 0 unless the last looks have
    /// found some.
    batch_spins: u32,
    /// Number of looks at an empty ring that found no frame, several for a poll that spins.
    empty_poll_count: u64,
    /// Frame that ended the last polled batch early, if one did.
    torn_frame: Cell<Option<TornFrame>>,
    fault: Option<RingFault>,
    /// Makes the reader not `Sync`: one thread at a time uses it.
    _not_sync: PhantomData<Cell<()>>,
}

impl Reader {
    /// The reader of this number, which is among the segment's readers in process unless it joins.
    /// `start` is an index where a frame begins: 0, or the last commit when the reader was
    /// admitted.
    pub(crate) fn new(segment: RingSegment, number: u32, start: u64) -> Reader {
        Reader {
            segment,
            number,
            tail: start,
            released: start,
            cached_committed: start,
            batch_spins: 0,
            empty_poll_count: 0,
            torn_frame: Cell::new(None),
            fault: None,
            _not_sync: PhantomData,
        }
    }

    /// Number of this reader within its ring, from 0 on.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether a poll would return frames now. In a stream of frames the reader looks for the next
    /// batch up to 64 times, which takes a few microseconds, before it looks for single frames.
    #[inline]
    pub fn has_more(&mut self) -> bool {
        if self.tail == self.cached_committed {
            return self.refresh_committed();
        }
        // The frames between a torn one and the next run are lost, so that run must not follow.
        self.torn_frame.get().is_none()
    }

    /// Returns a run of committed frames that were not polled yet; an empty batch if there is none
    /// now. A run ends at the ring's end. If more than an eighth of the ring is ready, it ends with
    /// the frame that reaches the end of the eighth in which it begins, so that a release gives
    /// room back early. More frames may be ready behind it. Looks as often as
    /// [`Reader::has_more`].
    #[inline]
    pub fn poll(&mut self) -> FrameBatch<'_> {
        if !self.has_more() {
            return FrameBatch::default();
        }
        let from = self.skip_padding();
        let to = self.readable_end(from);
        self.tail = to;
        // SAFETY: `readable_end` stays before the wrap and within what is committed [frames];
        // `release` needs this reader, which the batch borrows.
        let run = unsafe { self.segment.readable_bytes(from, to) };
        FrameBatch::with_torn_cell(run, &self.torn_frame)
    }

    /// Gives the room of every frame polled so far back to the writer.
    #[inline]
    pub fn release(&mut self) {
        self.segment.record_read(self.released, self.tail);
        let cursor = self.segment.cursor(self.number);
        cursor.released.store(self.tail, Ordering::Release); // [room]
        self.released = self.tail;
        hit(Failpoint::Released);
    }

    /// Bytes of frames that are committed and not yet released by this reader.
    pub fn queued_bytes(&self) -> usize {
        let committed = self.segment.control().committed.0.load(Ordering::Relaxed);
        committed.saturating_sub(self.released) as usize
    }

    /// Whether the writer has dropped its end. Frames that it had committed can still be polled:
    /// the stream is over once this is true and a later poll returns an empty batch.
    pub fn is_closed(&self) -> bool {
        let status = &self.segment.control().writer_status.0;
        status.is_closed.load(Ordering::Acquire) != 0
    }

    /// Number of looks for frames that found none. It is no number of polls: one call of
    /// [`Reader::poll`] or [`Reader::has_more`] may look for a batch up to 64 times, and each look
    /// at an empty ring counts. If the number has grown between two polls, the reader has waited
    /// for the frames of the second one.
    #[inline]
    pub fn empty_poll_count(&self) -> u64 {
        self.empty_poll_count
    }

    /// The fault that the writer has caused, if any: an index of its own, or a frame that a batch
    /// has come to. Polls return nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        let torn = self.torn_frame.get().map(
            |TornFrame {
                 rest_bytes: rest,
                 header,
             }| {
                let at = self.tail - rest as u64;
                RingFault::Frame { index: at, header }
            },
        );
        self.fault.or(torn)
    }

    /// Takes the announcement of a sleeping writer, if this reader and all others that the writer
    /// waits for have released up to where it needs room: to be called after a release. `true`: the
    /// caller must wake the writer; each announcement is reported once.
    #[inline]
    pub fn take_sleeping_writer(&self) -> bool {
        self.segment.barrier().light();
        let wanted = &self.segment.control().writer_status.0.wakeup_index;
        match wanted.load(Ordering::Acquire) {
            // [wakeup]
            0 => false,
            room => {
                let is_made = self.released >= room && self.have_others_released(room);
                let (from, to) = (Ordering::Relaxed, Ordering::Relaxed);
                let is_found = is_made && wanted.compare_exchange(room, 0, from, to).is_ok();
                if is_found {
                    hit(Failpoint::SleepingWriterTaken);
                }
                is_found
            }
        }
    }

    /// Whether the other readers that the sleeping writer waits for have released up to index
    /// `room`. This reader has, and has seen the announcement after that.
    #[cold]
    fn have_others_released(&self, room: u64) -> bool {
        let control = self.segment.control();
        let awaited = control.writer_status.0.awaited.load(Ordering::Relaxed); // ordered by [wakeup]
        let others = awaited & !self.bit();
        if others == 0 {
            return true;
        }
        // Each reader stores its cursor, then loads those of the others: of two that release at the
        // same time, at least one sees both. A reader that has not seen the announcement yet need
        // not come here: if its cursor is not seen below, the writer's heavy barrier comes after
        // this fence, and the writer finds the room itself before it sleeps. Under loom and Miri
        // the light barrier is a fence already, so no model fails without this one.
        fence(Ordering::SeqCst);
        let committed = control.committed.0.load(Ordering::Relaxed); // ordered by [wakeup]
        let kept = committed.saturating_sub(self.segment.capacity());
        let mut others = (0..self.segment.readers()).filter(|reader| others & 1 << reader != 0);
        others.all(|reader| {
            let released = &self.segment.cursor(reader).released;
            let released = released.load(Ordering::Relaxed);
            // A cursor before the oldest frame has gone back: the writer wakes to find the fault.
            released >= room || released < kept
        })
    }

    /// Announces that the reader is about to sleep. `false`: do not sleep, because there are
    /// frames, the writer is gone, there is a fault, or the system refused the memory barrier
    /// without which a wakeup may be lost. After `true`, the writer learns of it with its next
    /// commit, by [`crate::Writer::take_sleeping_readers`].
    pub fn arm(&mut self) -> bool {
        let control = self.segment.control();
        control
            .reader_status
            .0
            .asleep
            .fetch_or(self.bit(), Ordering::Relaxed);
        hit(Failpoint::ReaderArmed);
        let is_safe = self.segment.barrier().heavy();
        let is_idle = control.committed.0.load(Ordering::Relaxed) == self.tail;
        let must_wait = is_safe && is_idle && !self.is_closed() && self.fault().is_none();
        if must_wait {
            self.batch_spins = 0;
        } else {
            self.disarm();
        }
        must_wait
    }

    /// Takes the announcement of a sleep back: the reader is awake.
    pub fn disarm(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_and(!self.bit(), Ordering::Relaxed);
        hit(Failpoint::ReaderDisarmed);
    }

    fn bit(&self) -> u64 {
        1 << self.number
    }

    /// Looks how far frames are committed. `false`: no further than before.
    #[inline]
    fn refresh_committed(&mut self) -> bool {
        if self.fault().is_some() {
            return false;
        }
        let control = self.segment.control();
        // Frames that are committed by now were not waited for.
        let before = match self.batch_spins {
            0 => self.tail,
            _ => control.committed.0.load(Ordering::Relaxed),
        };
        let is_empty = u64::from(before == self.tail);
        for look in 0..self.batch_spins {
            let published = control.published.0.load(Ordering::Acquire); // [frames]
            // The published index may be behind, when single frames were found.
            if published > self.tail {
                self.empty_poll_count += is_empty * u64::from(look);
                return self.accept_index(published);
            }
            spin_loop();
        }
        self.empty_poll_count += is_empty * u64::from(self.batch_spins);
        let committed = control.committed.0.load(Ordering::Acquire); // [frames]
        if committed == self.tail {
            self.batch_spins = 0;
            self.segment.prefetch_frame(self.tail);
            self.empty_poll_count += 1;
            return false;
        }
        let is_sound = self.accept_index(committed);
        if is_sound {
            self.batch_spins = self.next_batch_spins(committed.saturating_sub(before));
        }
        is_sound
    }

    /// Number of looks at `published`, the end of the last batch, before the next look at
    /// `committed`. The last looks found no batch, but `bytes` bytes of single frames came during
    /// them: twice as many looks if that is much, half as many if it is little.
    #[inline]
    fn next_batch_spins(&self, bytes: u64) -> u32 {
        if self.batch_spins == 0 {
            // After silence the next frame may be a lone one too: one look does not delay it.
            return 1;
        }
        // Padding at the ring's end is large, and so counts as few frames.
        let first = FrameHeader::from_word(self.header_at(self.tail));
        let has_many = bytes > FEW_FRAMES * frame_bytes(first.len as usize) as u64;
        let worth = SPIN_BYTES * u64::from(self.batch_spins);
        let spins = match self.batch_spins {
            last if has_many && bytes >= worth => last * 2,
            last if has_many && bytes >= worth / 2 => last,
            last => last / 2,
        };
        spins.clamp(BATCH_SPINS_MIN, BATCH_SPINS_MAX)
    }

    /// Accepts an index of the writer if it is possible: not before the tail, at most a whole ring
    /// past the last release, and a multiple of 8.
    #[inline]
    fn accept_index(&mut self, index: u64) -> bool {
        let most = self.released.saturating_add(self.segment.capacity());
        let is_sound = (self.tail..=most).contains(&index) && index.is_multiple_of(ALIGN as u64);
        if !is_sound {
            self.fault = Some(RingFault::Index {
                previous: self.tail,
                current: index,
            });
            return false;
        }
        self.cached_committed = index;
        true
    }

    /// Index where the run begins, behind the padding at the ring's end if that comes first.
    #[inline]
    fn skip_padding(&self) -> u64 {
        let wrap = self.segment.wrap_after(self.tail);
        let is_pad = self.header_at(self.tail) == pad_header(wrap - self.tail);
        // Padding is committed together with the frame after it.
        if is_pad && wrap < self.cached_committed {
            wrap
        } else {
            self.tail
        }
    }

    /// Index where the run ends: the wrap at most, and the end of a part of the ring if there is
    /// much.
    #[inline]
    fn readable_end(&self, from: u64) -> u64 {
        let end = self.cached_committed.min(self.segment.wrap_after(from));
        if end - from <= self.segment.part_bytes() {
            return end;
        }
        let part = self.segment.part(from) + 1;
        let mark = &self.segment.control().part_marks.0[(part % PART_COUNT) as usize];
        let mark = mark.load(Ordering::Relaxed); // ordered by [frames]
        // A mark lies elsewhere only if the writer is broken; then the batch detects that.
        if mark > from && mark < end && mark.is_multiple_of(ALIGN as u64) {
            mark
        } else {
            end
        }
    }

    /// The header at an index of a frame that is committed and not released.
    #[inline]
    fn header_at(&self, at: u64) -> u64 {
        // SAFETY: committed, and at a multiple of 8, so it does not reach over the wrap.
        let bytes = unsafe { self.segment.readable_bytes(at, at + HEADER_BYTES as u64) };
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    }
}

/// Header of a padding frame of `bytes` bytes, header included.
const fn pad_header(bytes: u64) -> u64 {
    let header = FrameHeader {
        len: (bytes - HEADER_BYTES as u64) as u32,
        kind: PAD,
        flags: 0,
    };
    header.to_word()
}

impl Drop for Reader {
    /// Tells the writer that the reader is gone. The writer waits for it until it is dismissed.
    fn drop(&mut self) {
        // First: a writer that sees the reader gone and dismisses it then has its room.
        let in_process = self.segment.readers_in_process();
        in_process.stop_awaiting(self.bit());
        let gone = &self.segment.control().reader_status.0.gone;
        gone.fetch_or(self.bit(), Ordering::Release);
        // Last: from now on another reader may have the number, and is not gone.
        in_process.free_numbers(self.bit());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BATCH_SPINS_MAX, BATCH_SPINS_MIN, Reader, SPIN_BYTES};
    use crate::{RingShape, Writer, private_ring};

    /// Bytes of a frame in these tests, header included.
    const FRAME: u64 = 64;

    fn ring() -> (Writer, Reader) {
        let (bytes, readers) = (1 << 20, 1);
        let (writer, mut readers) = private_ring(RingShape { bytes, readers }).expect("memory");
        (writer, readers.remove(0))
    }

    fn put(writer: &mut Writer, frames: u64) {
        for _ in 0..frames {
            writer.claim(56).expect("room").fill(1);
            writer.commit(1, 0, 56);
        }
    }

    #[test]
    fn patience_grows_and_falls_with_what_it_brings() {
        let (mut writer, mut reader) = ring();
        put(&mut writer, 1);
        assert_eq!(reader.next_batch_spins(FRAME), 1, "after silence");
        let mut after = |spins, bytes| {
            reader.batch_spins = spins;
            reader.next_batch_spins(bytes)
        };
        assert_eq!(after(1, FRAME), BATCH_SPINS_MIN);
        assert_eq!(after(4, 2 * FRAME), 4, "two are few");
        assert_eq!(after(4, 3 * FRAME), 8);
        let (much, enough) = (32 * SPIN_BYTES, 16 * SPIN_BYTES);
        assert_eq!([after(32, much), after(32, enough)], [64, 32]);
        assert_eq!(after(32, enough - 1), 16);
        assert_eq!(after(BATCH_SPINS_MAX, u64::MAX), BATCH_SPINS_MAX);
        assert_eq!(after(8, 0), 4);
    }

    #[test]
    fn what_is_there_is_not_waited_for_and_what_is_not_ends_patience() {
        let (mut writer, mut reader) = ring();
        for round in 0..if cfg!(miri) { 5 } else { 100 } {
            put(&mut writer, 100);
            // Nothing comes while it waits, so it waits no longer than at least.
            assert!(reader.batch_spins <= BATCH_SPINS_MIN, "{round}");
            // In batches or not: a poll that finds nothing would count.
            let mut taken = 0;
            while taken < 100 {
                taken += reader.poll().count();
                reader.release();
            }
        }
        assert_eq!(reader.empty_poll_count(), 0);
        reader.batch_spins = BATCH_SPINS_MAX;
        assert!(reader.poll().is_empty());
        assert_eq!(reader.empty_poll_count(), u64::from(BATCH_SPINS_MAX) + 1);
        assert_eq!(reader.batch_spins, 0, "so a lone frame is found at once");
        reader.batch_spins = BATCH_SPINS_MAX;
        assert!(reader.arm());
        assert_eq!(reader.batch_spins, 0, "after sleep, too");
        reader.disarm();
        put(&mut writer, 1);
        drop(writer);
        reader.batch_spins = BATCH_SPINS_MAX;
        assert!(reader.is_closed());
        assert_eq!(reader.poll().count(), 1, "the end is delivered");
        assert!(reader.poll().is_empty());
    }
}
