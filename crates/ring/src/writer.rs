//! The writing end of a ring: claims room, commits frames, publishes them in batches.
//!
//! Two indexes say how far there are frames. `committed` is stored with every frame; as long as no
//! reader looks at it, its cache line stays with the writer and the store costs next to nothing.
//! `published` is stored with every batch; readers that run out in a stream look there, so that its
//! line moves between processors once a batch. A reader that finds nothing there looks at
//! `committed`: a lone frame is seen at once, no frame waits for a batch to fill, and the writer
//! need not know which reader looks.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::failpoints::{Failpoint, hit};
use crate::frame::{ALIGN, FrameHeader, HEADER_BYTES, PAD, frame_bytes};
use crate::grant::OwnedGrant;
use crate::live_readers::LiveReaders;
use crate::ring_fault::RingFault;
use crate::segment::{PART_COUNT, RingSegment};
use crate::sync::Ordering;

/// Bytes of a batch after which it is published, or a quarter of the ring if that is less. A reader
/// nearer to the writer reads, and its processor fetches ahead, lines of the writer's innermost
/// cache: with a quarter of this a writer of frames of 64 bytes falls to a fifth of its rate.
const BATCH_BYTES: u64 = 32 * 1024;

/// Frames after which the writer looks whether the batch is complete. Rare enough to cost nothing,
/// and 64 small frames are well below a batch.
const BATCH_CHECK_FRAMES: u64 = if cfg!(loom) { 2 } else { 64 };

/// The writing end of a ring. Each ring has one; it can be moved between threads.
///
/// Up to the grant's `end` the writer only counts. Other work (publishing a batch, marking a part,
/// the wrap, a look for room) is done by the frame that reaches `end`.
///
/// # Example
/// A full ring grants no room until the slowest reader releases; a writer that wants to sleep
/// meanwhile arms itself:
/// ```
/// use thalweg_ring::{RingShape, private_ring};
///
/// let (mut writer, mut readers) = private_ring(RingShape { bytes: 256, readers: 1 })?;
/// while let Some(room) = writer.claim(56) {
///     room.fill(7);
///     writer.commit(1, 0, 56);
/// }
/// assert_eq!(writer.queued_bytes(), 256);
/// assert!(writer.arm(56), "no room: sleep");
/// // A run ends with the frame that reaches the end of an eighth of the ring, 32 bytes here.
/// assert_eq!(readers[0].poll().count(), 1);
/// readers[0].release();
/// assert!(readers[0].take_sleeping_writer(), "wake the writer");
/// assert!(writer.claim(56).is_some());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Writer {
    segment: RingSegment,
    /// `head`: index up to which there are frames. `end`: index up to which frames can be written
    /// by counting.
    grant: OwnedGrant,
    /// Index where the claimed frame ends, if that is behind the grant's `end` (which is then 0);
    /// else 0. In debug builds: wherever it ends.
    claimed_end: u64,
    /// Index up to which there is room: the slowest reader's cursor when last looked at, plus the
    /// capacity. May be stale, and is then too small.
    room_end: u64,
    /// Value last stored in the ring's `published`.
    published: u64,
    /// Most bytes of a payload: see [`Writer::payload_bytes_max`].
    payload_bytes_max: usize,
    /// A bit for each reader that was not dismissed. The writer waits for these, and for readers of
    /// this process that still exist.
    live_readers: u64,
    /// The live set that an admission changes; `None`: the writer alone decides.
    admission: Option<LiveReaders>,
    /// Index up to which each reader had released when last looked at.
    cached_cursors: Box<[u64]>,
    fault: Option<RingFault>,
    /// Makes the writer not `Sync`: one thread at a time uses it.
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

    /// Follows this live set from now on.
    pub(crate) fn set_live_readers(&mut self, live: LiveReaders) {
        self.admission = Some(live);
        self.refresh_room_end();
    }

    /// Most bytes of a payload. Its frame fills half of the ring, so that it fits before or after
    /// the wrap wherever the writer stands.
    #[inline]
    pub fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    /// Whether a claim of `len` bytes would find room now. Forgets an uncommitted claim.
    #[inline]
    pub fn has_room_for(&mut self, len: usize) -> bool {
        if len > self.payload_bytes_max {
            return false;
        }
        let bytes = frame_bytes(len) as u64;
        let is_at_hand = self.head() + bytes <= self.grant.end();
        is_at_hand || self.find_room(bytes).is_some()
    }

    /// Claims room for a payload of `len` bytes, at an address that is a multiple of 8. `None`:
    /// there is none now, or never if `len` is above [`Writer::payload_bytes_max`].
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

    /// Commits the first `len` bytes of the claim as a frame of any kind but [`PAD`].
    ///
    /// # Panics
    /// If `len` bytes were not claimed: always if there is no room for them, and otherwise in debug
    /// builds.
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

    /// Writes and commits a frame of any kind but [`PAD`] if it fits the room granted already: that
    /// takes no look at the readers and publishes no batch. `false`: it does not fit, and nothing
    /// has changed; the ring may still have room, which [`Writer::claim`] finds. After `true`, an
    /// uncommitted claim is forgotten.
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

    /// Ends the batch early: a hint that saves time for readers that look for the next batch. Never
    /// required: after at most 64 looks in vain a reader looks for single frames, which it sees
    /// without this call. Does not wake readers that sleep.
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

    /// Bytes of frames that are committed and not yet released by the slowest reader that the
    /// writer waits for.
    pub fn queued_bytes(&self) -> usize {
        let head = self.head();
        let awaited = self.awaited_readers();
        let readers = (0..).zip(&self.cached_cursors);
        let readers = readers.filter(|(reader, _)| awaited & 1 << reader != 0);
        let released = readers.map(|(reader, known)| {
            let released = self.segment.cursor(reader).released.load(Ordering::Acquire); // [room]
            released.clamp(*known, head)
        });
        (head - released.min().unwrap_or(head)) as usize
    }

    /// Index up to which frames are committed: bytes since the beginning.
    #[inline]
    pub fn committed(&self) -> u64 {
        self.head()
    }

    /// Stops waiting for a reader, and forgets a [`Writer::fault`] that it has caused.
    ///
    /// A reader of this process keeps its room until it is dropped, because it may be looking at
    /// frames. The room of one that has joined with [`crate::join_ring`] may be written from now
    /// on: if it still polls, it may see frames change while it reads them, and finds a
    /// [`RingFault`] once the writer is more than a whole ring ahead of its last release.
    pub fn dismiss(&mut self, reader: u32) {
        if reader < self.segment.readers() {
            self.live_readers &= !(1 << reader);
            if let Some(admission) = &self.admission {
                admission.fetch_and(!(1 << reader), Ordering::Release);
            }
            // Its number may be given to another reader, which has caused no fault.
            let is_of = |fault: &mut RingFault| matches!(fault, RingFault::Cursor { reader: of, .. } if *of == reader);
            self.fault.take_if(is_of);
            self.refresh_room_end();
        }
    }

    /// Number of readers that were not dismissed; with an admission, that were admitted when the
    /// writer last looked for room.
    pub fn live_reader_count(&self) -> u32 {
        self.live_readers.count_ones()
    }

    /// Set of readers that have dropped their end, dismissed or not: a bit for each.
    pub fn gone_readers(&self) -> u64 {
        self.segment
            .control()
            .reader_status
            .0
            .gone
            .load(Ordering::Acquire)
    }

    /// The last fault that a reader has caused, if any: a cursor that went back, or past the
    /// committed frames. The writer ignores such a value and keeps the last sound one, so the
    /// reader holds it up there until it is dismissed or its cursor is sound again. The fault is
    /// reported until [`Writer::dismiss`] is called for this reader.
    pub fn fault(&self) -> Option<RingFault> {
        self.fault
    }

    /// Takes the set of all readers that have armed themselves to sleep, a bit for each, whether or
    /// not there are frames for them: to be called after a commit. The caller must wake them; each
    /// announcement is reported once.
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

    /// Announces that the writer is about to sleep until there is room for a payload of `len`
    /// bytes. `false`: do not sleep, because there is room, the set of readers that the writer
    /// waits for has changed since it last looked for room (claim again, arm again), there is a
    /// [`Writer::fault`] (dismiss the reader that has caused it), `len` is above
    /// [`Writer::payload_bytes_max`], or the system refused the memory barrier without which a
    /// wakeup may be lost.
    ///
    /// After `true`, the last reader to release far enough learns of it by
    /// [`crate::Reader::take_sleeping_writer`]. A reader that ends, or that an admission dismisses,
    /// does not; the caller has to end the sleep then. A writer that was woken claims again, and
    /// arms again if there is no room.
    pub fn arm(&mut self, len: usize) -> bool {
        if len > self.payload_bytes_max {
            return false;
        }
        let to = self.next_frame_start(frame_bytes(len) as u64) + frame_bytes(len) as u64;
        let wanted = to.saturating_sub(self.segment.capacity());
        let status = &self.segment.control().writer_status.0;
        let awaited = self.awaited_readers();
        status.awaited.store(awaited, Ordering::Relaxed); // ordered by [wakeup]
        status.wakeup_index.store(wanted, Ordering::Release); // [wakeup]
        hit(Failpoint::WriterArmed);
        let is_safe = self.segment.barrier().heavy();
        // An announced reader that was dismissed or dropped would keep the others from waking the
        // writer. The look for room has refreshed the set, so the next announcement is right.
        let must_wait =
            !self.has_room_until(to) && self.fault.is_none() && self.awaited_readers() == awaited;
        if !must_wait || !is_safe {
            self.disarm();
        }
        must_wait && is_safe
    }

    /// Takes the announcement of a sleep back: the writer is awake.
    pub fn disarm(&mut self) {
        let status = &self.segment.control().writer_status.0;
        status.wakeup_index.store(0, Ordering::Relaxed);
    }

    /// Index up to which there are frames.
    #[inline(always)]
    fn head(&self) -> u64 {
        self.grant.head()
    }

    /// Moves the end of the frames to `end`, for the readers too.
    #[inline(always)]
    fn store_committed(&mut self, end: u64) {
        self.grant.set_head(end);
        hit(Failpoint::HeadMoved);
        let committed = &self.segment.control().committed.0;
        committed.store(end, Ordering::Release); // [frames]
        hit(Failpoint::Committed);
    }

    /// Index where a frame of `bytes` bytes would begin: behind the last one, or at the wrap after
    /// it.
    fn next_frame_start(&self, bytes: u64) -> u64 {
        let head = self.head();
        let wrap = self.segment.wrap_after(head);
        if head + bytes <= wrap { head } else { wrap }
    }

    /// Finds room for a frame of `bytes` bytes and returns its index; `None`: there is none. Sets
    /// the grant's `end` to 0: until a commit by [`Writer::commit_wrapped`] renews the grant, every
    /// claim looks for room here and [`Writer::try_write`] returns `false`.
    #[cold]
    fn find_room(&mut self, bytes: u64) -> Option<u64> {
        let from = self.next_frame_start(bytes);
        let has_room = from + bytes <= self.room_end || self.has_room_until(from + bytes);
        self.claimed_end = if has_room { from + bytes } else { 0 };
        self.grant.set_end(0);
        has_room.then_some(from)
    }

    /// Commits a frame that was claimed behind the grant's `end`.
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

    /// Whether there is room up to index `to`, after a look at the cursors.
    #[cold]
    fn has_room_until(&mut self, to: u64) -> bool {
        self.refresh_room_end();
        to <= self.room_end
    }

    /// Set of the readers whose room is not written: those that were not dismissed, and those of
    /// this process that still exist.
    fn awaited_readers(&self) -> u64 {
        self.live_readers | self.segment.readers_in_process().awaited()
    }

    /// Looks how far the readers have released.
    fn refresh_room_end(&mut self) {
        if let Some(admission) = &self.admission {
            self.segment.barrier().light();
            self.live_readers = admission.load(Ordering::Acquire); // [admission]
        }
        let head = self.head();
        let awaited = self.awaited_readers();
        let mut slowest = head;
        for (reader, known) in (0..).zip(&mut self.cached_cursors) {
            if awaited & 1 << reader == 0 {
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

    /// Fills the ring's end with a padding frame.
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

    /// Marks the end of a frame for each part of the ring that begins in it or with it.
    fn mark_parts(&self, from: u64, to: u64) {
        for part in self.segment.part(from)..self.segment.part(to) {
            let mark = &self.segment.control().part_marks.0[((part + 1) % PART_COUNT) as usize];
            mark.store(to, Ordering::Relaxed); // ordered by [frames]
        }
    }

    /// Publishes the batch if it is complete, and renews the grant: room for [`BATCH_CHECK_FRAMES`]
    /// frames like the last one, ending before the next part and the end of the room.
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

/// Grants for compiled code: see [`crate::grant`].
#[cfg(not(loom))]
impl Writer {
    /// Addresses at which compiled code finds room for frames from now on: see [`crate::grant`].
    /// Code that uses them runs on the writer's thread, outside the writer's calls, and stops
    /// before the writer is dropped. `None`: the ring does without `membarrier(2)`, so each commit
    /// needs a fence, which compiled code does not execute.
    pub fn grant(&self) -> Option<crate::grant::GrantAddresses> {
        if self.segment.barrier().is_fence() {
            return None;
        }
        let control = self.segment.control();
        Some(
            self.grant
                .addresses(&control.committed.0, &control.reader_status.0.asleep),
        )
    }

    /// Shortens the room granted now (see [`crate::grant`]) to at most `bytes` bytes; the commit of
    /// the frame behind them grants anew. Must not be called between a claim and its commit.
    #[inline]
    pub fn cap_grant(&mut self, bytes: u64) {
        let until = self.grant.end().min(self.head().saturating_add(bytes));
        self.grant.set_end(until);
    }
}

impl Drop for Writer {
    /// Marks the ring as closed; committed frames can still be read.
    fn drop(&mut self) {
        let status = &self.segment.control().writer_status.0;
        status.is_closed.store(1, Ordering::Release);
    }
}
