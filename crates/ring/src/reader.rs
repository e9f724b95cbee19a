//! The reading end: polls runs of frames in place, gives their room back.

use std::cell::Cell;
use std::hint::spin_loop;
use std::marker::PhantomData;

use crate::failpoints::{Failpoint, hit};
use crate::frame::{ALIGN, FrameBatch, FrameHeader, HEADER_BYTES, PAD, TornFrame, frame_bytes};
use crate::ring_fault::RingFault;
use crate::segment::{PART_COUNT, RingSegment};
use crate::sync::Ordering;

/// A reader that finds frame after frame looks at least so often for the next batch before it looks
/// for single frames ...
const BATCH_SPINS_MIN: u32 = if cfg!(loom) { 1 } else { 4 };

/// ... and at most so often: one to three microseconds where a processor pauses for 25 to 50 ns.
const BATCH_SPINS_MAX: u32 = if cfg!(loom) { 2 } else { 64 };

/// Being patient pays if so many bytes come for each look: the writer is at work on a batch, and
/// whoever looks at its single frames takes lines from under it ...
const SPIN_BYTES: u64 = 32;

/// ... and more frames than this: else somebody may wait for the one.
const FEW_FRAMES: u64 = 2;

/// A reading end of a ring; can be moved between threads.
pub struct Reader {
    segment: RingSegment,
    number: u32,
    /// Up to where frames were polled.
    tail: u64,
    /// Up to where they were released: what our cursor says.
    released: u64,
    /// Up to where there are frames. May be stale, and is then too small.
    cached_committed: u64,
    /// How often it looks for a batch before it looks for single frames: not at all, unless it has
    /// found some each time of late.
    batch_spins: u32,
    /// How often there was no further frame.
    empty_poll_count: u64,
    /// What stopped the batch that was polled last.
    torn_frame: Cell<Option<TornFrame>>,
    fault: Option<RingFault>,
    /// Not `Sync`.
    _not_sync: PhantomData<Cell<()>>,
}

impl Reader {
    /// The reader of this number, which begins at an index where a frame does: at 0, or where there
    /// was the last commit when it was let in.
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

    /// Which reader of the ring this is.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Whether there is something to poll.
    #[inline]
    pub fn has_more(&mut self) -> bool {
        self.tail != self.cached_committed || self.refresh_committed()
    }

    /// Frames that have come and were not polled yet, as many as lie in one piece and are not too
    /// much for one release. Empty: nothing now.
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

    /// Gives the room of everything that was polled back to the writer.
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

    /// Whether the writer has dropped its end. What it had committed can still be polled: the
    /// stream is over if after this an empty batch is polled.
    pub fn is_closed(&self) -> bool {
        let parking = &self.segment.control().writer_status.0;
        parking.is_closed.load(Ordering::Acquire) != 0
    }

    /// How often it has looked for frames when there were none: it has waited for what it polled
    /// last if the number has grown meanwhile.
    #[inline]
    pub fn empty_poll_count(&self) -> u64 {
        self.empty_poll_count
    }

    /// What the writer has broken, if it has: nothing is polled any more.
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

    /// Whether the writer sleeps and has room since the last release. Whoever is told has to wake
    /// it: each sleep is reported once.
    #[inline]
    pub fn take_sleeping_writer(&self) -> bool {
        self.segment.barrier().light();
        let wanted = &self.segment.control().writer_status.0.wakeup_index;
        match wanted.load(Ordering::Relaxed) {
            0 => false,
            room => {
                let is_made = self.released >= room;
                let (from, to) = (Ordering::Relaxed, Ordering::Relaxed);
                let is_found = is_made && wanted.compare_exchange(room, 0, from, to).is_ok();
                if is_found {
                    hit(Failpoint::SleepingWriterTaken);
                }
                is_found
            }
        }
    }

    /// Says that the reader is about to sleep. `false`: do not sleep, there is something to poll,
    /// or the writer is gone, or there is a fault. After `true`, the writer is told with its next
    /// commit, by [`crate::Writer::sleeping_readers`].
    pub fn arm(&mut self) -> bool {
        let head = self.segment.control();
        head.reader_status
            .0
            .asleep
            .fetch_or(self.bit(), Ordering::Relaxed);
        hit(Failpoint::ReaderArmed);
        let is_safe = self.segment.barrier().heavy();
        let is_idle = head.committed.0.load(Ordering::Relaxed) == self.tail;
        let must_wait = is_safe && is_idle && !self.is_closed() && self.fault().is_none();
        if must_wait {
            self.batch_spins = 0;
        } else {
            self.disarm();
        }
        must_wait
    }

    /// The reader is awake again.
    pub fn disarm(&mut self) {
        let asleep = &self.segment.control().reader_status.0.asleep;
        asleep.fetch_and(!self.bit(), Ordering::Relaxed);
        hit(Failpoint::ReaderDisarmed);
    }

    fn bit(&self) -> u64 {
        1 << self.number
    }

    /// Looks how far there are frames; `false`: no further.
    #[inline]
    fn refresh_committed(&mut self) -> bool {
        if self.fault().is_some() {
            return false;
        }
        let head = self.segment.control();
        // What is there by now has not come by waiting.
        let before = match self.batch_spins {
            0 => self.tail,
            _ => head.committed.0.load(Ordering::Relaxed),
        };
        let is_vain = u64::from(before == self.tail);
        for look in 0..self.batch_spins {
            let published = head.published.0.load(Ordering::Acquire); // [frames]
            // It may be behind, when single frames were found.
            if published > self.tail {
                self.empty_poll_count += is_vain * u64::from(look);
                return self.accept_index(published);
            }
            spin_loop();
        }
        self.empty_poll_count += is_vain * u64::from(self.batch_spins);
        let committed = head.committed.0.load(Ordering::Acquire); // [frames]
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

    /// How patient to be when so many bytes of single frames have come while it waited.
    #[inline]
    fn next_batch_spins(&self, bytes: u64) -> u32 {
        if self.batch_spins == 0 {
            // A second lone frame after silence is not waited for either.
            return 1;
        }
        // What fills the end of the ring is large, and so counts as few.
        let first = FrameHeader::from_word(self.header_at(self.tail));
        let has_many = bytes > FEW_FRAMES * frame_bytes(first.len as usize) as u64;
        let worth = SPIN_BYTES * u64::from(self.batch_spins);
        let patience = match self.batch_spins {
            last if has_many && bytes >= worth => last * 2,
            last if has_many && bytes >= worth / 2 => last,
            last => last / 2,
        };
        patience.clamp(BATCH_SPINS_MIN, BATCH_SPINS_MAX)
    }

    /// Believes an index of the writer if it can be.
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

    /// Where the run begins: a frame that only fills the ring's end is not shown.
    #[inline]
    fn skip_padding(&self) -> u64 {
        let wrap = self.segment.wrap_after(self.tail);
        let is_pad = self.header_at(self.tail) == pad_header(wrap - self.tail);
        // What fills the end is committed with the frame after it.
        if is_pad && wrap < self.cached_committed {
            wrap
        } else {
            self.tail
        }
    }

    /// Where the run ends: at the wrap at most; if there is much, after a part of the ring.
    #[inline]
    fn readable_end(&self, from: u64) -> u64 {
        let end = self.cached_committed.min(self.segment.wrap_after(from));
        if end - from <= self.segment.part_bytes() {
            return end;
        }
        let part = self.segment.part(from) + 1;
        let mark = &self.segment.control().part_marks.0[(part % PART_COUNT) as usize];
        let mark = mark.load(Ordering::Relaxed); // ordered by [frames]
        // Elsewhere only if the writer is broken; then the batch finds out that it is.
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

/// The header of a frame that fills so many bytes.
const fn pad_header(bytes: u64) -> u64 {
    let header = FrameHeader {
        len: (bytes - HEADER_BYTES as u64) as u32,
        kind: PAD,
        flags: 0,
    };
    header.to_word()
}

impl Drop for Reader {
    /// The writer goes on waiting for it until it is told.
    fn drop(&mut self) {
        let gone = &self.segment.control().reader_status.0.gone;
        gone.fetch_or(self.bit(), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{BATCH_SPINS_MAX, BATCH_SPINS_MIN, Reader, SPIN_BYTES};
    use crate::{RingShape, Writer, private_ring};

    /// Bytes of a frame here.
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
        let mut after = |patience, bytes| {
            reader.batch_spins = patience;
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
        for round in 0..100 {
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
