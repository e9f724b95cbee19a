//! The writing end: claims room, commits frames, publishes them in batches.
//!
//! Two indexes say how far there are frames. `committed` is stored with every frame; as long as no
//! reader looks at it, its cache line stays with the writer and the store costs next to nothing.
//! `published` is stored with every batch; readers that run out in a stream look there, so that the
//! line travels once a batch. A reader that finds nothing there looks at `committed`: a lone frame
//! is seen at once, nothing is ever stuck behind a batch, and the writer need not know who looks.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::admission::Live;
use crate::fault::Fault;
use crate::frame::{ALIGN, HEADER_BYTES, Header, PAD, frame_bytes};
use crate::grant::Words;
use crate::points::{Point, pass};
use crate::segment::{PARTS, Segment};
use crate::sync::Ordering;

/// A batch is published when it has so many bytes, or a quarter of the ring. A reader that is let nearer to
/// the writer reads, and its processor fetches ahead, what is in the writer's innermost cache: with a
/// quarter of this a writer of 64 bytes a frame comes to a fifth of its rate.
const BATCH_BYTES: u64 = 32 * 1024;

/// After so many frames there is a look whether the batch is complete, if not before.
const COUNTED_FRAMES: u64 = if cfg!(loom) { 2 } else { 64 };

/// The writing end of a ring. There is one; it can be moved between threads.
///
/// Up to `until` it only counts. What else there is to do (a batch to publish, a part to mark, the
/// wrap, a look for room) is done by the frame that reaches it.
pub struct Writer {
    segment: Segment,
    /// `head`, up to where there are frames; `until`, up to where frames can be written by counting.
    words: Words,
    /// Where the claimed frame ends, if that is behind `until` (which is then 0); else 0. In debug
    /// builds: wherever it ends.
    claimed: u64,
    /// Up to where there is room: what the slowest reader had released when last looked at, and the
    /// capacity. May be stale, and is then too small.
    limit: u64,
    /// What `published` says.
    published: u64,
    /// The largest payload.
    len_max: usize,
    /// A bit for each reader that is waited for.
    live: u64,
    /// Who says so, if readers come and go.
    admission: Option<Live>,
    /// How far each reader had released when last looked at.
    cursors: Box<[u64]>,
    fault: Option<Fault>,
    /// Not `Sync`.
    _alone: PhantomData<Cell<()>>,
}

impl Writer {
    pub(crate) fn new(segment: Segment) -> Writer {
        let readers = segment.readers();
        Writer {
            words: Words::new(),
            claimed: 0,
            limit: segment.capacity(),
            published: 0,
            len_max: segment.capacity() as usize / 2 - HEADER_BYTES,
            live: u64::MAX >> (64 - readers),
            admission: None,
            cursors: vec![0; readers as usize].into(),
            fault: None,
            segment,
            _alone: PhantomData,
        }
    }

    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }

    /// From now on this says who is waited for.
    pub(crate) fn wait_for(&mut self, live: Live) {
        self.admission = Some(live);
        self.look();
    }

    /// The largest payload: its frame fills half of the ring, so that it has room before or after
    /// the wrap wherever the writer stands.
    #[inline]
    pub fn frame_bytes_max(&self) -> usize {
        self.len_max
    }

    /// Whether a claim of so many bytes finds room now. A claim that is not committed is forgotten.
    #[inline]
    pub fn has_room_for(&mut self, len: usize) -> bool {
        if len > self.len_max {
            return false;
        }
        let bytes = frame_bytes(len) as u64;
        let is_at_hand = self.head() + bytes <= self.words.until();
        is_at_hand || self.find_room(bytes).is_some()
    }

    /// Room for a payload of so many bytes, at an address that is a multiple of 8. `None`: not now,
    /// or never, if it is more than [`Writer::frame_bytes_max`].
    ///
    /// A claim that is not committed is forgotten by the next one.
    #[inline]
    pub fn claim(&mut self, len: usize) -> Option<&mut [u8]> {
        if len > self.len_max {
            return None;
        }
        let bytes = frame_bytes(len) as u64;
        let mut from = self.head();
        if from + bytes > self.words.until() {
            from = self.find_room(bytes)?;
        }
        if cfg!(debug_assertions) {
            self.claimed = from + bytes;
        }
        let payload = from + HEADER_BYTES as u64;
        // SAFETY: behind the last commit and before the wrap, and every live reader had released it
        // when the cursors were last looked at [room].
        Some(unsafe { self.segment.room(payload, payload + len as u64) })
    }

    /// The first `len` bytes of the claim are a frame, of any kind but [`PAD`].
    ///
    /// # Panics
    /// If so many bytes were not claimed: always if there is no room for them, and in debug builds.
    #[inline]
    pub fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        debug_assert_ne!(kind, PAD);
        let header = Header {
            len: len as u32,
            kind,
            flags,
        };
        let at = self.head();
        let end = at.wrapping_add(frame_bytes(len) as u64);
        if len > self.len_max || end > self.words.until() {
            return self.commit_last(len, header);
        }
        debug_assert!(end <= self.claimed, "{len} bytes that were not claimed");
        if cfg!(debug_assertions) {
            self.claimed = 0;
        }
        // SAFETY: the first 8 bytes of a frame that ends before `until`.
        unsafe { self.segment.write_header(at, header.to_word()) };
        pass(Point::HeaderWritten);
        self.show(end);
    }

    /// A frame of any kind but [`PAD`], if it can be written by counting; else `false`: claim its
    /// room. Forgets a claim.
    #[inline]
    pub fn put(&mut self, kind: u8, flags: u8, payload: &[u8]) -> bool {
        debug_assert_ne!(kind, PAD);
        let at = self.head();
        let end = at + frame_bytes(payload.len()) as u64;
        if end > self.words.until() {
            return false;
        }
        if cfg!(debug_assertions) {
            self.claimed = 0;
        }
        let header = Header {
            len: payload.len() as u32,
            kind,
            flags,
        };
        let from = at + HEADER_BYTES as u64;
        // SAFETY: as in `claim`, for the whole frame: it ends before `until`.
        unsafe {
            self.segment.write_header(at, header.to_word());
            let room = self.segment.room(from, from + payload.len() as u64);
            room.copy_from_slice(payload);
        }
        pass(Point::HeaderWritten);
        self.show(end);
        true
    }

    /// Shows what is committed to readers that wait for a batch.
    #[inline]
    pub fn publish(&mut self) {
        let head = self.head();
        if self.published != head {
            let published = &self.segment.head().published.0;
            published.store(head, Ordering::Release); // [frames]
            self.published = head;
            pass(Point::Published);
        }
    }

    /// Bytes of frames that are committed and not yet released by the slowest live reader.
    pub fn queued_bytes(&self) -> usize {
        let head = self.head();
        let readers = (0..).zip(&self.cursors);
        let live = readers.filter(|(reader, _)| self.live & 1 << reader != 0);
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
            self.live &= !(1 << reader);
            if let Some(admission) = &self.admission {
                admission.fetch_and(!(1 << reader), Ordering::Release);
                // Its place may be given to somebody who has broken nothing.
                let is_of = |fault: &mut Fault| matches!(fault, Fault::Cursor { reader: of, .. } if *of == reader);
                self.fault.take_if(is_of);
            }
            self.look();
        }
    }

    /// How many readers are waited for.
    pub fn live_readers(&self) -> u32 {
        self.live.count_ones()
    }

    /// A bit for each reader that has dropped its end, dismissed or not.
    pub fn gone_readers(&self) -> u64 {
        self.segment.head().sleepers.0.gone.load(Ordering::Acquire)
    }

    /// What a reader has broken, if one has: its cursor is not believed any more, and it holds the
    /// writer up until it is dismissed.
    pub fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// A bit for each reader that sleeps and has work since the last commit. Whoever is told has to
    /// wake them: each sleep is reported once.
    #[inline]
    pub fn sleeping_readers(&self) -> u64 {
        self.segment.barrier().light();
        let asleep = &self.segment.head().sleepers.0.asleep;
        match asleep.load(Ordering::Relaxed) {
            0 => 0,
            sleepers => {
                let found = asleep.fetch_and(!sleepers, Ordering::Relaxed) & sleepers;
                pass(Point::SleepersFound);
                found
            }
        }
    }

    /// Says that the writer is about to sleep until there is room for a payload of so many bytes.
    /// `false`: do not sleep, there is room, or a fault to be looked at. After `true`, the reader
    /// that makes the room is told so by [`crate::Reader::is_writer_sleeping`].
    pub fn arm(&mut self, len: usize) -> bool {
        if len > self.len_max {
            return false;
        }
        let to = self.place(frame_bytes(len) as u64) + frame_bytes(len) as u64;
        let wanted = to.saturating_sub(self.segment.capacity());
        let parking = &self.segment.head().parking.0;
        parking.wanted.store(wanted, Ordering::Relaxed);
        pass(Point::WriterArmed);
        let is_safe = self.segment.barrier().heavy();
        let must_wait = !self.has_room(to) && self.fault.is_none();
        if !must_wait || !is_safe {
            self.disarm();
        }
        must_wait && is_safe
    }

    /// The writer is awake again.
    pub fn disarm(&mut self) {
        let parking = &self.segment.head().parking.0;
        parking.wanted.store(0, Ordering::Relaxed);
    }

    /// Up to where there are frames.
    #[inline(always)]
    fn head(&self) -> u64 {
        self.words.head()
    }

    /// The next frame ends here.
    #[inline(always)]
    fn show(&mut self, end: u64) {
        self.words.set_head(end);
        pass(Point::HeadMoved);
        let committed = &self.segment.head().committed.0;
        committed.store(end, Ordering::Release); // [frames]
        pass(Point::Committed);
    }

    /// Where a frame of so many bytes would begin: behind the last one, or at the wrap after it.
    fn place(&self, bytes: u64) -> u64 {
        let head = self.head();
        let wrap = self.segment.wrap_after(head);
        if head + bytes <= wrap { head } else { wrap }
    }

    /// Where there is room for a frame of so many bytes. The commit comes back here, and so does
    /// everybody else until then.
    #[cold]
    fn find_room(&mut self, bytes: u64) -> Option<u64> {
        let from = self.place(bytes);
        let has_room = from + bytes <= self.limit || self.has_room(from + bytes);
        self.claimed = if has_room { from + bytes } else { 0 };
        self.words.set_until(0);
        has_room.then_some(from)
    }

    /// Commits a frame that was claimed behind `until`.
    #[cold]
    fn commit_last(&mut self, len: usize, header: Header) {
        let head = self.head();
        let wrap = self.segment.wrap_after(head);
        let is_behind = self.claimed > wrap;
        let at = if is_behind { wrap } else { head };
        let is_claimed = len <= self.len_max && at + frame_bytes(len) as u64 <= self.claimed;
        assert!(is_claimed, "{len} bytes that were not claimed");
        self.claimed = 0;
        if is_behind {
            self.pad(head, wrap);
        }
        // SAFETY: the claimed frame's first 8 bytes.
        unsafe { self.segment.write_header(at, header.to_word()) };
        pass(Point::HeaderWritten);
        let end = at + frame_bytes(len) as u64;
        self.mark(at, end);
        pass(Point::FrameMarked);
        self.show(end);
        self.go_on(end - at);
    }

    /// Whether there is room up to an index, after a look at the cursors.
    #[cold]
    fn has_room(&mut self, to: u64) -> bool {
        self.look();
        to <= self.limit
    }

    /// Looks how far the readers are.
    fn look(&mut self) {
        if let Some(admission) = &self.admission {
            self.segment.barrier().light();
            self.live = admission.load(Ordering::Acquire); // [admission]
        }
        let head = self.head();
        let mut slowest = head;
        for (reader, known) in (0..).zip(&mut self.cursors) {
            if self.live & 1 << reader == 0 {
                continue;
            }
            let cursor = self.segment.cursor(reader);
            let released = cursor.released.load(Ordering::Acquire); // [room]
            if (*known..=head).contains(&released) {
                *known = released;
            } else {
                self.fault = Some(Fault::Cursor {
                    reader,
                    was: *known,
                    is: released,
                });
            }
            slowest = slowest.min(*known);
        }
        self.limit = slowest + self.segment.capacity();
    }

    /// Fills the ring's end.
    fn pad(&self, from: u64, wrap: u64) {
        let header = Header {
            len: (wrap - from) as u32 - HEADER_BYTES as u32,
            kind: PAD,
            flags: 0,
        };
        // SAFETY: behind the last commit and before the claimed frame, so it is claimed with it.
        unsafe { self.segment.write_header(from, header.to_word()) };
        pass(Point::PadWritten);
        self.mark(from, wrap);
        pass(Point::PadMarked);
    }

    /// Marks the end of a frame for the parts of the ring that begin in it or with it.
    fn mark(&self, from: u64, to: u64) {
        for part in self.segment.part(from)..self.segment.part(to) {
            let mark = &self.segment.head().marks.0[((part + 1) % PARTS) as usize];
            mark.store(to, Ordering::Relaxed); // ordered by [frames]
        }
    }

    /// Publishes the batch if it is complete, and says how far frames can be written by counting: so many
    /// like the last one, and not to where there is anything else to do.
    fn go_on(&mut self, frame_bytes: u64) {
        let head = self.head();
        if head - self.published >= BATCH_BYTES.min(self.segment.capacity() / 4) {
            self.publish();
        }
        let counted = head + frame_bytes * COUNTED_FRAMES;
        self.segment.fetch_page_after(head);
        // The frame that reaches the next part has to mark where that begins.
        let part = self.segment.part_end(head) - ALIGN as u64;
        let until = counted.min(part).min(self.limit);
        self.words.renew(until, self.segment.base(head));
    }
}

/// Grants: see [`crate::grant`].
#[cfg(not(loom))]
impl Writer {
    /// Where compiled code finds room for frames from now on. Whoever uses it is on the writer's
    /// thread and outside its calls, and stops before the writer is dropped. `None`: each commit
    /// here takes a fence, which compiled code does not know of.
    pub fn grant(&self) -> Option<crate::grant::GrantAddress> {
        if self.segment.barrier().is_fence() {
            return None;
        }
        let line = self.segment.head();
        Some(
            self.words
                .address(&line.committed.0, &line.sleepers.0.asleep),
        )
    }

    /// Leaves no more of the room that is granted now than so many bytes. Not between a claim and its
    /// commit.
    #[inline]
    pub fn cap_grant(&mut self, bytes: u64) {
        let until = self.words.until().min(self.head().saturating_add(bytes));
        self.words.set_until(until);
    }
}

impl Drop for Writer {
    /// What is committed can still be read.
    fn drop(&mut self) {
        let parking = &self.segment.head().parking.0;
        parking.is_closed.store(1, Ordering::Release);
    }
}
