//! The side of a queue that threads submit to: items are copied into the ring, or spilled.

use std::sync::Arc;

use graph::Fault;
use ring::Writer;
use ring::frame::frame_bytes;
use transport::Idle;
use tuple::{EventTime, Layout, TupleBuf, TupleRef};

use super::exit::Exit;
use super::hall::{Hall, Slot};
use super::spill::{Given, Spilled};
use crate::abi::FrameRoom;
use crate::crossing::wire;
use crate::{Operator, Outlet, Source};

/// Smaller tuples are rather copied into the ring than handed over with their buffers.
const MADE_BYTES_MIN: usize = 4096;

/// A queue that waits or drops its newest tuple.
pub(super) struct Entrance {
    hall: Arc<Hall>,
    writer: Writer,
    exit: Option<Exit>,
    /// Instead of waiting, the tuple is dropped.
    drops: bool,
    /// Up to how many items may be sent: what was taken when last looked at, and the queue's size.
    limit: u64,
    /// Bytes of a tuple's frame if they all have so many.
    frame_bytes: Option<u64>,
    /// Something was spilled and perhaps not taken yet: everything else has to go the same way.
    is_spilling: bool,
    /// The tuple before was large, and its buffer might have been taken. What is handed over is
    /// spilled, and so is what follows: worth it for many large ones, not for one among small ones.
    was_large: bool,
    is_over: bool,
    idle: Option<Idle>,
}

impl Entrance {
    pub fn new(hall: Arc<Hall>, writer: Writer, exit: Exit) -> Entrance {
        Entrance {
            limit: hall.queued.items_max,
            frame_bytes: None,
            hall,
            writer,
            exit: Some(exit),
            drops: false,
            is_spilling: false,
            was_large: false,
            is_over: false,
            idle: None,
        }
    }

    /// Tuples that come when it is full are dropped.
    pub fn dropping(mut self) -> Entrance {
        self.drops = true;
        self
    }

    /// All tuples are of this layout's size, so that compiled code may write them itself.
    pub fn of_fixed(mut self, layout: &Layout) -> Entrance {
        let bytes = layout.size as usize;
        let fits = layout.is_fixed && bytes <= self.writer.frame_bytes_max();
        self.frame_bytes = fits.then_some(frame_bytes(bytes) as u64);
        self
    }
}

impl Operator for Entrance {
    #[inline]
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.is_full() && !self.makes_room(self.drops)? {
            return Ok(());
        }
        let bytes = tuple.bytes();
        if self.is_spilling() {
            self.hall.spill.push_tuple(Given::Lent(tuple));
        } else if let Some(room) = self.writer.claim(bytes.len()) {
            room.copy_from_slice(bytes);
            self.commit(wire::TUPLE, bytes.len());
        } else {
            self.is_spilling = true;
            self.hall.spill.push_tuple(Given::Lent(tuple));
        }
        self.count();
        Ok(())
    }

    fn process_made(
        &mut self,
        port: u32,
        tuple: &mut TupleBuf,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        let is_large = self.frame_bytes.is_none() && tuple.len() >= MADE_BYTES_MIN;
        let is_run = std::mem::replace(&mut self.was_large, is_large) && is_large;
        if !is_run && !self.is_spilling() {
            return self.process(port, tuple.as_ref(), out);
        }
        if self.is_full() && !self.makes_room(self.drops)? {
            return Ok(());
        }
        self.is_spilling = true;
        self.hall.spill.push_tuple(Given::Made(tuple));
        self.count();
        Ok(())
    }

    fn window_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.other(wire::WINDOW)
    }

    fn watermark(&mut self, at: EventTime, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.undropped(
            Spilled::Watermark(at),
            wire::WATERMARK,
            &wire::watermark(at),
        )
    }

    fn final_marker(&mut self, _: u32, _: &mut dyn Outlet) -> Result<(), Fault> {
        self.is_over = true;
        self.other(wire::FINAL)
    }

    /// Without a final marker: the streams that feed it are abandoned.
    fn finish(&mut self, _: &mut dyn Outlet) -> Result<(), Fault> {
        if self.is_over {
            return Ok(());
        }
        self.other(wire::ABANDONED)
    }

    fn room(&mut self) -> Option<FrameRoom> {
        self.frame_bytes?;
        Some(FrameRoom {
            grant: self.writer.grant()?,
            kind: wire::TUPLE,
            written: self.hall.queued.in_place(),
        })
    }

    fn wake(&mut self) {
        if self.writer.sleeping_readers() != 0 {
            self.hall.wake_taker();
        }
    }

    fn source(&mut self) -> Option<Box<dyn Source>> {
        let exit: Box<dyn Source> = Box::new(self.exit.take()?);
        Some(exit)
    }
}

impl Entrance {
    /// Whether there is room for an item now. `false`: the item is dropped.
    #[cold]
    fn makes_room(&mut self, drops: bool) -> Result<bool, Fault> {
        let items_max = self.hall.queued.items_max;
        self.limit = self.hall.queued.taken() + items_max;
        if !self.is_full() {
            return Ok(true);
        }
        if drops {
            self.hall.queued.is_seen_full();
            self.hall.queued.drops_newest();
            return Ok(false);
        }
        let slot = self.hall.wait(&mut self.idle)?;
        self.limit = self.hall.queued.taken() + items_max;
        Ok(slot == Slot::Given)
    }

    /// A marker.
    fn other(&mut self, kind: u8) -> Result<(), Fault> {
        self.undropped(Spilled::Other(kind), kind, &[])
    }

    /// Something that is never dropped as long as somebody takes it: to be spilled, or as a frame.
    fn undropped(&mut self, item: Spilled, kind: u8, payload: &[u8]) -> Result<(), Fault> {
        if self.is_full() && !self.makes_room(false)? {
            return Ok(());
        }
        if !self.is_spilling()
            && let Some(room) = self.writer.claim(payload.len())
        {
            room.copy_from_slice(payload);
            self.commit(kind, payload.len());
        } else {
            self.is_spilling = true;
            self.hall.spill.push_other(item);
        }
        self.count();
        Ok(())
    }

    #[inline]
    fn is_spilling(&mut self) -> bool {
        self.is_spilling = self.is_spilling && self.hall.spill.len() > 0;
        self.is_spilling
    }

    #[inline]
    fn commit(&mut self, kind: u8, len: usize) {
        self.writer.commit(kind, 0, len);
        self.wake();
    }

    #[inline]
    fn count(&mut self) {
        self.hall.queued.sends();
        if let Some(bytes) = self.frame_bytes {
            // Compiled code goes on where the last commit ends, but not beyond the queue's size.
            let left = self.limit.saturating_sub(self.hall.queued.sent());
            self.writer.cap_grant(left.saturating_mul(bytes));
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.hall.queued.sent() >= self.limit
    }
}
