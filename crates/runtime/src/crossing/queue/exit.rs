//! The side of a queue that its thread runs: takes items and submits them.

use std::sync::Arc;

use graph::{Fault, FaultKind};
use ring::Reader;
use ring::frame::{Batch, Frame};
use transport::Idle;
use transport::fragment::WHOLE;
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::hall::{Hall, park};
use super::spill::Spilled;
use crate::crossing::{quiet, wire};
use crate::{Outlet, Source};

/// What a queue's thread runs.
pub(super) struct Exit {
    /// `None`: everything is spilled.
    reader: Option<Reader>,
    taker: Taker,
    /// Spilled items that were taken use it again.
    used: TupleBuf,
    polls: u32,
}

/// What a turn has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Items,
    End,
}

/// Smaller batches are counted exactly before they are taken: there is no stream to disturb.
const EXACT_BYTES: usize = 1024;

/// Of larger ones, one in so many.
const POLLS_PER_COUNT: u32 = 16;

impl Exit {
    /// Hands items on one by one.
    pub fn new(hall: Arc<Hall>, reader: Option<Reader>) -> Exit {
        let taker = Taker {
            hall,
            takes_batches: false,
            batch_bytes: 0,
        };
        Exit {
            reader,
            taker,
            used: TupleBuf::default(),
            polls: 0,
        }
    }

    /// Hands whole batches on where there is code for that, of so many bytes at most; no frame is larger.
    pub fn by_batches(mut self, batch_bytes: usize) -> Exit {
        self.taker.takes_batches = true;
        self.taker.batch_bytes = batch_bytes;
        self
    }
}

impl Source for Exit {
    fn run(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let hall = self.taker.hall.clone();
        let mut idle = hall.opens()?;
        let mut is_idle = false;
        loop {
            if hall.is_interrupted() {
                out.abandon(0);
                return Ok(());
            }
            match self.turn(out)? {
                Found::End => return Ok(()),
                Found::Items => {
                    is_idle = false;
                    idle.worked();
                    continue;
                }
                Found::Nothing => {}
            }
            if !std::mem::replace(&mut is_idle, true) {
                hall.rests();
                quiet::flush();
            }
            if !idle.pass() {
                self.park(&mut idle)?;
            }
        }
    }
}

impl Exit {
    fn turn(&mut self, out: &mut dyn Outlet) -> Result<Found, Fault> {
        let found = self.take_from_ring(out)?;
        if found != Found::Nothing || self.taker.hall.spill.len() == 0 {
            return Ok(found);
        }
        // What was committed before something was spilled comes first, and can be seen now.
        match self.take_from_ring(out)? {
            Found::Nothing => self.take_spilled(out),
            found => Ok(found),
        }
    }

    fn take_from_ring(&mut self, out: &mut dyn Outlet) -> Result<Found, Fault> {
        let Some(reader) = &mut self.reader else {
            return Ok(Found::Nothing);
        };
        let mut batch = reader.poll();
        if batch.is_empty() {
            return Ok(Found::Nothing);
        }
        self.polls = self.polls.wrapping_add(1);
        let queued = &self.taker.hall.queued;
        let is_small = batch.bytes().len() < EXACT_BYTES;
        if is_small || self.polls.is_multiple_of(POLLS_PER_COUNT) {
            queued.saw(queued.items());
        }
        let before = queued.taken();
        let found = self.taker.take(&mut batch, out)?;
        reader.release();
        if !is_small {
            let queued = &self.taker.hall.queued;
            queued.saw(queued.taken() - before);
        }
        Ok(found)
    }

    fn take_spilled(&mut self, out: &mut dyn Outlet) -> Result<Found, Fault> {
        let hall = &self.taker.hall;
        hall.queued.saw(hall.queued.items());
        let Some(item) = hall.spill.pop(std::mem::take(&mut self.used)) else {
            return Ok(Found::Nothing);
        };
        hall.takes(1);
        match item {
            Spilled::Other(kind) => other(kind, out),
            Spilled::Watermark(at) => {
                out.watermark(0, at)?;
                Ok(Found::Items)
            }
            Spilled::Tuple(buf) => {
                self.used = buf;
                out.submit_made(0, &mut self.used)?;
                Ok(Found::Items)
            }
        }
    }

    fn park(&mut self, idle: &mut Idle) -> Result<(), Fault> {
        let reader = self.reader.as_mut();
        let is_empty = reader.is_none_or(Reader::arm) && self.taker.hall.spill.arm(idle.bell());
        let parked = if is_empty { park(idle, None) } else { Ok(()) };
        if let Some(reader) = &mut self.reader {
            reader.disarm();
        }
        parked
    }
}

impl Drop for Exit {
    /// Whoever sends does not wait for it any more.
    fn drop(&mut self) {
        self.taker.hall.closes();
    }
}

/// The exit without its ring, which batches borrow.
struct Taker {
    hall: Arc<Hall>,
    /// Whether downstream may have code for batches.
    takes_batches: bool,
    /// Of how many bytes, no fewer than a frame has: what was taken is counted after each.
    batch_bytes: usize,
}

impl Taker {
    fn take(&mut self, batch: &mut Batch<'_>, out: &mut dyn Outlet) -> Result<Found, Fault> {
        loop {
            self.take_each(batch, out)?;
            let Some(frame) = batch.next() else {
                return Ok(Found::Items);
            };
            self.hall.takes(1);
            if frame.kind == wire::TUPLE {
                let tuple = TupleRef::from_bytes(frame.bytes);
                out.submit(0, tuple.map_err(misplaced)?)?;
            } else if frame.kind == wire::WATERMARK {
                let at = wire::read_watermark(frame.bytes);
                at.map_or(Ok(()), |at| out.watermark(0, at))?;
            } else if other(frame.kind, out)? == Found::End {
                return Ok(Found::End);
            }
        }
    }

    /// Tuples that compiled code takes in one call, if it does.
    #[inline]
    fn take_each(&mut self, batch: &mut Batch<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        if !self.takes_batches {
            return Ok(());
        }
        loop {
            // Where that is cut, code for batches stops before a frame.
            let mut few = batch.first(self.batch_bytes);
            let bytes = few.bytes().len();
            let taken = out.submit_each(0, &mut few, wire::TUPLE)?;
            batch.advance(bytes - few.bytes().len());
            if taken == 0 {
                break;
            }
            self.hall.takes(taken);
        }
        // What it has left is something else, or it has no code for batches.
        let mut next = *batch;
        let is_whole = |frame: Frame<'_>| frame.kind == wire::TUPLE && frame.flags == WHOLE;
        self.takes_batches = !next.next().is_some_and(is_whole);
        Ok(())
    }
}

/// What is no tuple.
fn other(kind: u8, out: &mut dyn Outlet) -> Result<Found, Fault> {
    match kind {
        wire::WINDOW => out.punctuate(0, Punctuation::Window)?,
        wire::ABANDONED => {
            out.abandon(0);
            return Ok(Found::End);
        }
        // The final marker follows when the thread has ended.
        _ => return Ok(Found::End),
    }
    Ok(Found::Items)
}

#[cold]
fn misplaced(error: tuple::layout::LayoutError) -> Fault {
    Fault::new(FaultKind::Limit, format!("in a queue {error}"))
}
