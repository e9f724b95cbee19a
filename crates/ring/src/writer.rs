//! The writing end: claims room, commits frames, publishes them in batches.
//!
//! Two indexes say how far there are frames. `committed` is stored with every frame; as long as no
//! reader looks at it, its cache line stays with the writer and the store costs next to nothing.
//! `published` is stored with every batch; readers that run out in a stream look there, so that the
//! line travels once a batch. A reader that finds nothing there looks at `committed`: a lone frame
//! is seen at once, nothing is ever stuck behind a batch, and the writer need not know who looks.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::fault::Fault;
use crate::frame::{HEADER_BYTES, Header, PAD, frame_bytes};
#[cfg(not(loom))]
use crate::grant::{GrantAddress, Granting};
use crate::segment::{PARTS, Segment};
use crate::sync::Ordering;

/// A batch is published when it has so many frames ...
const PUBLISH_FRAMES: u32 = if cfg!(loom) { 2 } else { 32 };

/// ... or so many bytes; in small rings an eighth of them.
const PUBLISH_BYTES: u64 = 16 * 1024;

/// The writing end of a ring. There is one; it can be moved between threads.
pub struct Writer {
    segment: Segment,
    /// Up to where frames are committed; only this end changes it.
    head: u64,
    /// Up to where there is room: what the slowest reader had released when last looked at, and the
    /// capacity. May be stale, and is then too small.
    limit: u64,
    /// Where the claimed frame begins: at `head`, or at the wrap after it.
    claim: u64,
    /// Bytes of the claimed frame with its header; 0: nothing is claimed.
    claimed: u64,
    /// What `published` says.
    published: u64,
    /// Frames since then.
    unpublished: u32,
    /// Bytes of a batch.
    publish_bytes: u64,
    /// A bit for each reader that is waited for.
    live: u64,
    /// How far each reader had released when last looked at.
    cursors: Box<[u64]>,
    fault: Option<Fault>,
    /// What compiled code was given, once it has asked.
    #[cfg(not(loom))]
    grant: Option<Granting>,
    /// Not `Sync`.
    _alone: PhantomData<Cell<()>>,
}

impl Writer {
    pub(crate) fn new(segment: Segment) -> Writer {
        let readers = segment.readers();
        Writer {
            head: 0,
            limit: segment.capacity(),
            claim: 0,
            claimed: 0,
            published: 0,
            unpublished: 0,
            publish_bytes: PUBLISH_BYTES.min(segment.part_bytes()),
            live: u64::MAX >> (64 - readers),
            cursors: vec![0; readers as usize].into(),
            fault: None,
            #[cfg(not(loom))]
            grant: None,
            segment,
            _alone: PhantomData,
        }
    }

    /// The largest payload: its frame fills half of the ring, so that it has room before or after
    /// the wrap wherever the writer stands.
    #[inline]
    pub fn frame_bytes_max(&self) -> usize {
        self.segment.capacity() as usize / 2 - HEADER_BYTES
    }

    /// Room for a payload of so many bytes, at an address that is a multiple of 8. `None`: not now,
    /// or never, if it is more than [`Writer::frame_bytes_max`].
    ///
    /// A claim that is not committed is forgotten by the next one.
    #[inline]
    pub fn claim(&mut self, len: usize) -> Option<&mut [u8]> {
        self.take_back();
        self.claimed = 0;
        let (from, to) = self.place(len)?;
        if to > self.limit && !self.has_room(to) {
            return None;
        }
        self.claim = from;
        self.claimed = to - from;
        let payload = from + HEADER_BYTES as u64;
        // SAFETY: `place` does not reach over the wrap. It begins at or behind `head`, and ends where
        // every live reader had released, by `limit` [room].
        Some(unsafe { self.segment.room(payload, payload + len as u64) })
    }

    /// The first `len` bytes of the claim are a frame, of any kind but [`PAD`].
    ///
    /// # Panics
    /// If so many bytes were not claimed.
    #[inline]
    pub fn commit(&mut self, kind: u8, flags: u8, len: usize) {
        assert!(
            (len as u64) < self.claimed && frame_bytes(len) as u64 <= self.claimed,
            "commit of {len} bytes that were not claimed"
        );
        debug_assert_ne!(kind, PAD);
        if self.claim != self.head {
            self.pad();
        }
        let end = self.head + frame_bytes(len) as u64;
        let header = Header {
            len: len as u32,
            kind,
            flags,
        };
        // SAFETY: the frame's first 8 bytes, which are claimed.
        unsafe { self.segment.write_header(self.head, header.to_word()) };
        self.advance(end);
        self.claimed = 0;
        self.segment
            .head()
            .committed
            .0
            .store(end, Ordering::Release); // [frames]
        self.unpublished += 1;
        let is_full = end - self.published >= self.publish_bytes;
        if is_full || self.unpublished >= PUBLISH_FRAMES {
            self.show();
        }
        self.renew(frame_bytes(len) as u64);
    }

    /// Shows what is committed to readers that wait for a batch.
    #[inline]
    pub fn publish(&mut self) {
        self.take_back();
        if self.published != self.head {
            self.show();
        }
    }

    #[inline]
    fn show(&mut self) {
        let published = &self.segment.head().published.0;
        published.store(self.head, Ordering::Release); // [frames]
        self.published = self.head;
        self.unpublished = 0;
    }

    /// Bytes of frames that are committed and not yet released by the slowest live reader.
    pub fn queued_bytes(&self) -> usize {
        let head = self.granted_head().unwrap_or(self.head);
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
        self.granted_head().unwrap_or(self.head)
    }

    /// A reader that is gone is no longer waited for.
    pub fn dismiss(&mut self, reader: u32) {
        self.take_back();
        if reader < self.segment.readers() {
            self.live &= !(1 << reader);
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
            sleepers => asleep.fetch_and(!sleepers, Ordering::Relaxed) & sleepers,
        }
    }

    /// Says that the writer is about to sleep until there is room for a payload of so many bytes.
    /// `false`: do not sleep, there is room, or a fault to be looked at. After `true`, the reader
    /// that makes the room is told so by [`crate::Reader::is_writer_sleeping`].
    pub fn arm(&mut self, len: usize) -> bool {
        self.take_back();
        let Some((_, to)) = self.place(len) else {
            return false;
        };
        let wanted = to.saturating_sub(self.segment.capacity());
        let parking = &self.segment.head().parking.0;
        parking.wanted.store(wanted, Ordering::Relaxed);
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

    /// Where a frame with such a payload would lie; `None`: nowhere, ever.
    #[inline]
    fn place(&self, len: usize) -> Option<(u64, u64)> {
        if len > self.frame_bytes_max() {
            return None;
        }
        let bytes = frame_bytes(len) as u64;
        let wrap = self.segment.wrap_after(self.head);
        let fits = self.head + bytes <= wrap;
        let from = if fits { self.head } else { wrap };
        Some((from, from + bytes))
    }

    /// Whether there is room up to an index, after a look at the cursors.
    #[cold]
    fn has_room(&mut self, to: u64) -> bool {
        self.look();
        to <= self.limit
    }

    /// Looks how far the readers are.
    fn look(&mut self) {
        let mut slowest = self.head;
        for (reader, known) in (0..).zip(&mut self.cursors) {
            if self.live & 1 << reader == 0 {
                continue;
            }
            let cursor = self.segment.cursor(reader);
            let released = cursor.released.load(Ordering::Acquire); // [room]
            if (*known..=self.head).contains(&released) {
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

    /// Fills the ring's end, which is too short for the claimed frame.
    #[cold]
    fn pad(&mut self) {
        let len = self.claim - self.head - HEADER_BYTES as u64;
        let header = Header {
            len: len as u32,
            kind: PAD,
            flags: 0,
        };
        // SAFETY: between the last commit and the claimed frame, so it was claimed with it.
        unsafe { self.segment.write_header(self.head, header.to_word()) };
        self.advance(self.claim);
    }

    /// Moves `head`, and marks it for the parts of the ring that begin on the way.
    #[inline]
    fn advance(&mut self, to: u64) {
        let (from, until) = (self.segment.part(self.head), self.segment.part(to));
        for part in from..until {
            let mark = &self.segment.head().marks.0[((part + 1) % PARTS) as usize];
            mark.store(to, Ordering::Relaxed); // ordered by [frames]
        }
        self.head = to;
    }
}

/// Grants: see [`crate::grant`].
#[cfg(not(loom))]
impl Writer {
    /// Where compiled code finds room for frames from now on. Whoever uses it is on the writer's
    /// thread and outside its calls, and stops before the writer is dropped. `None`: each commit
    /// here takes a fence, which compiled code does not know of.
    pub fn grant(&mut self) -> Option<GrantAddress> {
        if self.segment.barrier().is_fence() {
            return None;
        }
        let head = self.head;
        let granting = self.grant.get_or_insert_with(|| Granting::new(head));
        let line = self.segment.head();
        Some(granting.address(&line.committed.0, &line.sleepers.0.asleep))
    }

    /// Leaves no more of the room that the last commit has granted than so many bytes.
    #[inline]
    pub fn cap_grant(&mut self, bytes: u64) {
        if let Some(granting) = &mut self.grant {
            granting.cap(bytes);
        }
    }

    /// Up to where frames are committed, by way of the grant too.
    fn granted_head(&self) -> Option<u64> {
        self.grant.as_ref().map(Granting::head)
    }

    /// Takes in what was written by way of the grant; there is none until the next commit.
    #[inline]
    fn take_back(&mut self) {
        if let Some(granting) = &mut self.grant {
            let head = granting.take_back();
            if head != self.head {
                debug_assert!(self.head < head && head <= self.limit);
                self.head = head;
                // A batch at least: the grant was no more.
                self.unpublished = PUBLISH_FRAMES;
            }
        }
    }

    /// Grants room for a batch of frames like the last one, within a part of the ring.
    #[inline]
    fn renew(&mut self, frame_bytes: u64) {
        let Some(granting) = &mut self.grant else {
            return;
        };
        let batch = self
            .publish_bytes
            .min(frame_bytes * u64::from(PUBLISH_FRAMES));
        // The frame that reaches the next part is the writer's: it marks where that begins.
        let part = self.segment.part_end(self.head) - 1;
        let until = self.limit.min(part).min(self.head + batch);
        granting.renew(self.head, until, self.segment.base(self.head));
    }
}

/// No compiled code there.
#[cfg(loom)]
impl Writer {
    fn granted_head(&self) -> Option<u64> {
        None
    }

    fn take_back(&mut self) {}

    fn renew(&mut self, _: u64) {}
}

impl Drop for Writer {
    /// What is committed can still be read.
    fn drop(&mut self) {
        let parking = &self.segment.head().parking.0;
        parking.is_closed.store(1, Ordering::Release);
    }
}
