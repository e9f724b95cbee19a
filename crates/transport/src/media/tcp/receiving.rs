//! The receiving end of plain TCP: reads into one buffer, polls frames where they lie.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ring::frame::{Batch, PAD};

use super::LEAVES;
use super::end::End;
use super::intake::{Intake, Read};
use super::line::Pair;
use super::progress::{Progress, Telling};
use super::pump::{Attended, Next, Seat};
use crate::{Error, Inbound, Wait};

/// The receiving end.
pub(super) struct Receiving {
    way_back: Arc<WayBack>,
    intake: Intake,
    name: Arc<str>,
    released: u64,
    /// How the stream has ended, once it has; what came before is polled first.
    end: Option<End>,
}

/// What the pump tells the sender, so that the thread that receives need not.
pub(super) struct WayBack {
    pair: Pair,
    seat: Seat,
    progress: Progress,
    telling: Mutex<Telling>,
    has_left: AtomicBool,
}

impl WayBack {
    /// To a sender that has so many bytes under way at most.
    pub(super) fn new(pair: Pair, seat: Seat, ring_bytes: u64) -> WayBack {
        WayBack {
            pair,
            seat,
            progress: Progress::new(seat, ring_bytes / 8),
            telling: Mutex::default(),
            has_left: AtomicBool::new(false),
        }
    }

    fn release(&self, position: u64) {
        if self.progress.release(position) {
            self.progress.tell(&mut self.telling(), &self.pair.credit);
        }
    }

    fn telling(&self) -> MutexGuard<'_, Telling> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        if !self.has_left.swap(true, Ordering::AcqRel) {
            self.progress.leave(&mut self.telling(), &self.pair.credit);
            self.seat.call();
        }
    }
}

impl Attended for WayBack {
    fn turn(&self, now: Instant) -> Next {
        if self.has_left.load(Ordering::Acquire) {
            return Next::Leave;
        }
        let mut telling = self.telling();
        let due = self.progress.tell_on(&mut telling, &self.pair.credit, now);
        Next::OnEvent.or_at(due)
    }
}

impl Receiving {
    pub(super) fn new(way_back: Arc<WayBack>, intake: Intake, name: Arc<str>) -> Receiving {
        Receiving {
            way_back,
            intake,
            name,
            released: 0,
            end: None,
        }
    }

    /// Reads what has come, and finds the whole frames in it.
    fn read(&mut self) {
        if self.end.is_some() {
            return;
        }
        if let Read::Over(why) = self.intake.read(&self.way_back.pair.frames) {
            self.end = Some(End::Lost(why));
        }
        self.find_frames();
    }

    #[inline]
    fn find_frames(&mut self) {
        loop {
            match self.intake.peek() {
                Ok(Some(header)) => {
                    if !self.intake.take(header) {
                        return;
                    }
                    if header.kind == PAD && header.flags == LEAVES {
                        self.end = Some(End::goodbye());
                        return;
                    }
                }
                Ok(None) => return,
                Err(why) => {
                    let why = format!("{}: the sender broke the stream off: {why}", self.name);
                    self.end = Some(End::Refused(why));
                    return;
                }
            }
        }
    }

    /// The end, once everything before it was polled.
    fn check_end(&self) -> Result<(), Error> {
        let Some(end) = self.end.as_ref().filter(|_| !self.intake.has_frames()) else {
            return Ok(());
        };
        self.way_back.leave();
        Err(end.error())
    }
}

impl Inbound for Receiving {
    fn poll(&mut self) -> Result<Batch<'_>, Error> {
        self.read();
        self.check_end()?;
        Ok(self.intake.poll())
    }

    fn release(&mut self) {
        let released = self.intake.release();
        if released > 0 {
            self.released += released as u64;
            self.way_back.release(self.released);
        }
    }
}

impl Wait for Receiving {
    fn arm(&mut self) -> Result<bool, Error> {
        self.read();
        Ok(self.end.is_none() && !self.intake.has_frames())
    }

    fn disarm(&mut self) {}

    fn sources<'a>(
        &'a self,
        readable: &mut Vec<BorrowedFd<'a>>,
        _writable: &mut Vec<BorrowedFd<'a>>,
    ) {
        readable.push(self.way_back.pair.frames.as_fd());
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.way_back.leave();
    }
}
