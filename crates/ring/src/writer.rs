//! The writing end: claims room, commits frames, publishes them in batches.
//!
//! Two indexes say how far there are frames. `committed` is stored with every frame; as long as no
//! reader looks at it, its cache line stays with the writer and the store costs next to nothing.
//! `published` is stored with every batch; readers that run out in a stream look there, so that the
//! line travels once a batch. A reader that finds nothing there looks at `committed`: a lone frame
//! is seen at once, nothing is ever stuck behind a batch, and the writer need not know who looks.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::failpoints::{Failpoint, hit};
use crate::frame::{ALIGN, FrameHeader, HEADER_BYTES, PAD, frame_bytes};
use crate::grant::OwnedGrant;
use crate::live_readers::LiveReaders;
use crate::ring_fault::RingFault;
use crate::segment::{PART_COUNT, RingSegment};
use crate::sync::Ordering;

/// A batch is published when it has so many bytes, or a quarter of the ring. A reader that is let
/// nearer to the writer reads, and its processor fetches ahead, what is in the writer's innermost
/// cache: with a quarter of this a writer of 64 bytes a frame comes to a fifth of its rate.
const BATCH_BYTES: u64 = 32 * 1024;

/// After so many frames there is a look whether the batch is complete, if not before.
const BATCH_CHECK_FRAMES: u64 = if cfg!(loom) { 2 } else { 64 };

/// The writing end of a ring. There is one; it can be moved between threads.
///
/// Up to `end` it only counts. What else there is to do (a batch to publish, a part to mark, the
/// wrap, a look for room) is done by the frame that reaches it.
pub struct Writer {
    segment: RingSegment,
    /// `head`, up to where there are frames; `end`, up to where frames can be written by counting.
    grant: OwnedGrant,
    /// Where the claimed frame ends, if that is behind `end` (which is then 0); else 0. In debug
    /// builds: wherever it ends.
    claimed_end: u64,
    /// Up to where there is room: what the slowest reader had released when last looked at, and the
    /// capacity. May be stale, and is then too small.
    room_end: u64,
    /// What `published` says.
    published: u64,
    /// The largest payload.
    payload_bytes_max: usize,
    /// A bit for each reader that is waited for.
    live_readers: u64,
    /// Who says so, if readers come and go.
    admission: Option<LiveReaders>,
    /// How far each reader had released when last looked at.
    cached_cursors: Box<[u64]>,
    fault: Option<RingFault>,
    /// Not `Sync`.
    _not_sync: PhantomData<Cell<()>>,
}

impl Writer {
    pub(crate) fn new(segment: RingSegment) -> Writer {
        let readers = segment.readers();
        Writer {
            grant: OwnedGrant::new(),
            claimed_end: 0,
            room_end: segment.capacity(),
            published: 0,
            payload_bytes_max: segment.capacity() as usize / 2 - HEADER_BYTES,
            live_readers: u64::MAX >> (64 - readers),
            admission: None,
            cached_cursors: vec![0; readers as usize].into(),
            fault: None,
            segment,
            _not_sync: PhantomData,
        }
    }

    pub(crate) fn segment(&self) -> &RingSegment {
        &self.segment
    }

    /// From now on this says who is waited for.
    pub(crate) fn set_live_readers(&mut self, live: LiveReaders) {
        self.admission = Some(live);
        self.refresh_room_end();
    }

    /// The largest payload: its frame fills half of the ring, so that it has room before or after
    /// the wrap wherever the writer stands.
    #[inline]
    pub fn frame_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    /// Whether a claim of so many bytes finds room now. A claim that is not committed is forgotten.
    #[inline]
    pub fn has_room_for(&mut self, len: usize) -> bool {
        if len > self.payload_bytes_max {
            return false;
        }
        let bytes = frame_bytes(len) as u64;
        let is_at_hand = self.head() + bytes <= self.grant.end();
        is_at_hand || self.find_room(bytes).is_some()
    }

    /// Room for a payload of so many bytes, at an address that is a multiple of 8. `None`: not now,
    /// or never, if it is more than [`Writer::frame_bytes_max`].
    ///
    /// A claim that is not committed is forgotten by the next one.
    #[inline]
    pub fn claim(&mut self, len: usize) -> Option<&mut [u8]> {
        if len > self.payload_bytes_max {
            return None;
        }
        let bytes = frame_bytes(len) as u64;
        let mut from = self.head();
        if from + bytes > self.grant.end() {
            from = self.find_room(bytes)?;
        }
        if cfg!(debug_assertions) {
            self.claimed_end = from + bytes;
        }
        let payload = from + HEADER_BYTES as u64;
        // SAFETY: behind the last commit and before the wrap, and every live reader had released it
        // when the cursors were last looked at [room].
        Some(unsafe { self.segment.writable_bytes(payload, payload + len as u64) })
    }

    /// The first `len` bytes of the claim are a frame, of any kind but [`PAD`].
    ///
    /// # Panics
    /// If so many bytes were not claimed: always if there is no room for them, and in debug builds.
    #[inline]
    pub fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        debug_assert_ne!(kind, PAD);
        let header = FrameHeader {
            len: len as u32,
            kind,
            flags,
        };
        let at = self.head();
        let end = at.wrapping_add(frame_bytes(len) as u64);
        if len > self.payload_bytes_max || end > self.grant.end() {
            return self.commit_wrapped(len, header);
        }
        debug_assert!(end <= self.claimed_end, "{len} bytes that were not claimed");
        if cfg!(debug_assertions) {
            self.claimed_end = 0;
        }
        // SAFETY: the first 8 bytes of a frame that ends before `end`.
        unsafe { self.segment.write_header(at, header.to_word()) };
        hit(Failpoint::HeaderWritten);
        self.store_committed(end);
    }

    /// A frame of any kind but [`PAD`], if it can be written by counting; else `false`: claim its
    /// room. Forgets a claim.
    #[inline]
    pub fn try_write(&mut self, kind: u8, flags: u8, payload: &[u8]) -> bool {
        debug_assert_ne!(kind, PAD);
        let at = self.head();
        let end = at + frame_bytes(payload.len()) as u64;
        if end > self.grant.end() {
            return false;
        }
        if cfg!(debug_assertions) {
            self.claimed_end = 0;
        }
        let header = FrameHeader {
            len: payload.len() as u32,
            kind,
            flags,
        };
        let from = at + HEADER_BYTES as u64;
        // SAFETY: as in `claim`, for the whole frame: it ends before `end`.
        unsafe {
            self.segment.write_header(at, header.to_word());
            let room = self
                .segment
                .writable_bytes(from, from + payload.len() as u64);
            room.copy_from_slice(payload);
        }
        hit(Failpoint::HeaderWritten);
        self.store_committed(end);
        true
    }

    /// Shows what is committed to readers that wait for a batch.
    #[inline]
    pub fn publish(&mut self) {
        let head = self.head();
        if self.published != head {
            let published = &self.segment.control().published.0;
            published.store(head, Ordering::Release); // [frames]
            self.published = head;
            hit(Failpoint::Published);
        }
    }

    /// Bytes of frames that are committed and not yet released by the slowest live reader.
    pub fn queued_bytes(&self) -> usize {
        let head = self.head();
        let readers = (0..).zip(&self.cached_cursors);
        let live = readers.filter(|(reader, _)| self.live_readers & 1 << reader != 0);
        let released = live.map(|(reader, known)| {
            let released = self.segment.cursor(reader).released.load(Ordering::Acquire); // [room]
            released.clamp(*known, head)
        });
        (head - released.min().unwrap_or(head)) as usize
    }

    /// The index up to which frames are committed.
    #[inline]
    pub fn committed(&self) -> u64 {
        self.head()
    }

    /// A reader that is gone is no longer waited for.
    pub fn dismiss(&mut self, reader: u32) {
        if reader < self.segment.readers() {
            self.live_readers &= !(1 << reader);
            if let Some(admission) = &self.admission {
                admission.fetch_and(!(1 << reader), Ordering::Release);
                // Its place may be given to somebody who has broken nothing.
                let is_of = |fault: &mut RingFault| matches!(fault, RingFault::Cursor { reader: of, .. } if *of == reader);
                self.fault.take_if(is_of);
            }
            self.refresh_room_end();
        }
    }

    /// How many readers are waited for.
    pub fn live_reader_count(&self) -> u32 {
        self.live_readers.count_ones()
    }

    /// A bit for each reader that has dropped its end, dismissed or not.
    pub fn gone_readers(&self) -> u64 {
        self.segment
            .control()
            .reader_status
            .0
            .gone
            .load(Ordering::Acquire)
    }

    /// What a reader has broken, if one has: its cursor is not believed any more, and it holds the
    /// writer up until it is dismissed.
    pub fn fault(&self) -> Option<RingFault> {
        self.fault
    }

    /// A bit for each reader that sleeps and has work since the last commit. Whoever is told has to
    /// wake them: each sleep is reported once.
    #[inline]
    pub fn take_sleeping_readers(&self) -> u64 {
        self.segment.barrier().light();
        let asleep = &self.segment.control().reader_status.0.asleep;
        match asleep.load(Ordering::Relaxed) {
            0 => 0,
            sleepers => {
                let found = asleep.fetch_and(!sleepers, Ordering::Relaxed) & sleepers;
                hit(Failpoint::SleepersTaken);
                found
            }
        }
    }

    /// Says that the writer is about to sleep until there is room for a payload of so many bytes.
    /// `false`: do not sleep, there is room, or a fault to be looked at. After `true`, the reader
    /// that makes the room is told so by [`crate::Reader::is_writer_sleeping`].
    pub fn arm(&mut self, len: usize) -> bool {
        if len > self.payload_bytes_max {
            return false;
        }
        let to = self.next_frame_start(frame_bytes(len) as u64) + frame_bytes(len) as u64;
        let wanted = to.saturating_sub(self.segment.capacity());
        let parking = &self.segment.control().writer_status.0;
        parking.wakeup_index.store(wanted, Ordering::Relaxed);
        hit(Failpoint::WriterArmed);
        let is_safe = self.segment.barrier().heavy();
        let must_wait = !self.has_room_until(to) && self.fault.is_none();
        if !must_wait || !is_safe {
            self.disarm();
        }
        must_wait && is_safe
    }

    /// The writer is awake again.
    pub fn disarm(&mut self) {
        let parking = &self.segment.control().writer_status.0;
        parking.wakeup_index.store(0, Ordering::Relaxed);
    }

    /// Up to where there are frames.
    #[inline(always)]
    fn head(&self) -> u64 {
        self.grant.head()
    }

    /// The next frame ends here.
    #[inline(always)]
    fn store_committed(&mut self, end: u64) {
        self.grant.set_head(end);
        hit(Failpoint::HeadMoved);
        let committed = &self.segment.control().committed.0;
        committed.store(end, Ordering::Release); // [frames]
        hit(Failpoint::Committed);
    }

    /// Where a frame of so many bytes would begin: behind the last one, or at the wrap after it.
    fn next_frame_start(&self, bytes: u64) -> u64 {
        let head = self.head();
        let wrap = self.segment.wrap_after(head);
        if head + bytes <= wrap { head } else { wrap }
    }

    /// Where there is room for a frame of so many bytes. The commit comes back here, and so does
    /// everybody else until then.
    #[cold]
    fn find_room(&mut self, bytes: u64) -> Option<u64> {
        let from = self.next_frame_start(bytes);
        let has_room = from + bytes <= self.room_end || self.has_room_until(from + bytes);
        self.claimed_end = if has_room { from + bytes } else { 0 };
        self.grant.set_end(0);
        has_room.then_some(from)
    }

    /// Commits a frame that was claimed behind `end`.
    #[cold]
    fn commit_wrapped(&mut self, len: usize, header: FrameHeader) {
        let head = self.head();
        let wrap = self.segment.wrap_after(head);
        let is_behind = self.claimed_end > wrap;
        let at = if is_behind { wrap } else { head };
        let is_claimed =
            len <= self.payload_bytes_max && at + frame_bytes(len) as u64 <= self.claimed_end;
        assert!(is_claimed, "{len} bytes that were not claimed");
        self.claimed_end = 0;
        if is_behind {
            self.write_pad(head, wrap);
        }
        // SAFETY: the claimed frame's first 8 bytes.
        unsafe { self.segment.write_header(at, header.to_word()) };
        hit(Failpoint::HeaderWritten);
        let end = at + frame_bytes(len) as u64;
        self.mark_parts(at, end);
        hit(Failpoint::FrameMarked);
        self.store_committed(end);
        self.extend_grant(end - at);
    }

    /// Whether there is room up to an index, after a look at the cursors.
    #[cold]
    fn has_room_until(&mut self, to: u64) -> bool {
        self.refresh_room_end();
        to <= self.room_end
    }

    /// Looks how far the readers are.
    fn refresh_room_end(&mut self) {
        if let Some(admission) = &self.admission {
            self.segment.barrier().light();
            self.live_readers = admission.load(Ordering::Acquire); // [admission]
        }
        let head = self.head();
        let mut slowest = head;
        for (reader, known) in (0..).zip(&mut self.cached_cursors) {
            if self.live_readers & 1 << reader == 0 {
                continue;
            }
            let cursor = self.segment.cursor(reader);
            let released = cursor.released.load(Ordering::Acquire); // [room]
            if (*known..=head).contains(&released) {
                *known = released;
            } else {
                self.fault = Some(RingFault::Cursor {
                    reader,
                    previous: *known,
                    current: released,
                });
            }
            slowest = slowest.min(*known);
        }
        self.room_end = slowest + self.segment.capacity();
    }

    /// Fills the ring's end.
    fn write_pad(&self, from: u64, wrap: u64) {
        let header = FrameHeader {
            len: (wrap - from) as u32 - HEADER_BYTES as u32,
            kind: PAD,
            flags: 0,
        };
        // SAFETY: behind the last commit and before the claimed frame, so it is claimed with it.
        unsafe { self.segment.write_header(from, header.to_word()) };
        hit(Failpoint::PadWritten);
        self.mark_parts(from, wrap);
        hit(Failpoint::PadMarked);
    }

    /// Marks the end of a frame for the parts of the ring that begin in it or with it.
    fn mark_parts(&self, from: u64, to: u64) {
        for part in self.segment.part(from)..self.segment.part(to) {
            let mark = &self.segment.control().part_marks.0[((part + 1) % PART_COUNT) as usize];
            mark.store(to, Ordering::Relaxed); // ordered by [frames]
        }
    }

    /// Publishes the batch if it is complete, and says how far frames can be written by counting:
    /// so many like the last one, and not to where there is anything else to do.
    fn extend_grant(&mut self, frame_bytes: u64) {
        let head = self.head();
        if head - self.published >= BATCH_BYTES.min(self.segment.capacity() / 4) {
            self.publish();
        }
        let counted = head + frame_bytes * BATCH_CHECK_FRAMES;
        self.segment.prefetch_page_after(head);
        // The frame that reaches the next part has to mark where that begins.
        let part = self.segment.part_end(head) - ALIGN as u64;
        let until = counted.min(part).min(self.room_end);
        self.grant.renew(until, self.segment.base_address(head));
    }
}

/// Grants: see [`crate::grant`].
#[cfg(not(loom))]
impl Writer {
    /// Where compiled code finds room for frames from now on. Whoever uses it is on the writer's
    /// thread and outside its calls, and stops before the writer is dropped. `None`: each commit
    /// here takes a fence, which compiled code does not know of.
    pub fn grant(&self) -> Option<crate::grant::GrantAddresses> {
        if self.segment.barrier().is_fence() {
            return None;
        }
        let line = self.segment.control();
        Some(
            self.grant
                .addresses(&line.committed.0, &line.reader_status.0.asleep),
        )
    }

    /// Leaves no more of the room that is granted now than so many bytes. Not between a claim and
    /// its commit.
    #[inline]
    pub fn cap_grant(&mut self, bytes: u64) {
        let until = self.grant.end().min(self.head().saturating_add(bytes));
        self.grant.set_end(until);
    }
}

impl Drop for Writer {
    /// What is committed can still be read.
    fn drop(&mut self) {
        let parking = &self.segment.control().writer_status.0;
        parking.is_closed.store(1, Ordering::Release);
    }
}
