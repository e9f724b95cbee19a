//! The receiving end of plain TCP: reads into one buffer, polls frames where they lie.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ring::frame::{Batch, PAD};

use super::LEAVES;
use super::credit::Teller;
use super::intake::{Intake, Read};
use super::line::Pair;
use super::pump::{Attended, Next, Seat};
use crate::{Error, Inbound, Loss, Wait};

/// How often the pump tells the sender how far we are, while there is something to tell.
const PERIOD: Duration = Duration::from_millis(1);

/// Periods without news before it sleeps.
const QUIET_PERIODS: u32 = 16;

/// The receiving end.
pub(super) struct Receiving {
    way_back: Arc<WayBack>,
    intake: Intake,
    name: Arc<str>,
    released: u64,
    /// How the stream has ended, once it has; what came before is polled first.
    end: Option<End>,
}

#[derive(Clone)]
enum End {
    Lost(String),
    Refused(String),
}

/// What the pump tells the sender, so that the thread that receives need not.
pub(super) struct WayBack {
    pair: Pair,
    seat: Seat,
    /// Bytes after which the sender is told at once, as it may be waiting.
    at_once_bytes: u64,
    /// Up to where everything was released. Written by the receiving end, read by the pump.
    released: AtomicU64,
    /// Whether the pump looks by itself. Set by the receiving end, which calls it then; cleared by
    /// the pump, which looks at `released` once more.
    is_attended: AtomicBool,
    /// The last position that was told.
    told: AtomicU64,
    has_left: AtomicBool,
    telling: Mutex<Telling>,
}

#[derive(Default)]
struct Telling {
    teller: Teller,
    quiet: u32,
}

impl WayBack {
    /// To a sender that has so many bytes under way at most.
    pub(super) fn new(pair: Pair, seat: Seat, ring_bytes: u64) -> WayBack {
        WayBack {
            pair,
            seat,
            at_once_bytes: ring_bytes / 16,
            released: AtomicU64::new(0),
            is_attended: AtomicBool::new(false),
            told: AtomicU64::new(0),
            has_left: AtomicBool::new(false),
            telling: Mutex::default(),
        }
    }

    fn release(&self, position: u64) {
        self.released.store(position, Ordering::Release);
        if position - self.told.load(Ordering::Relaxed) >= self.at_once_bytes {
            self.tell(&mut self.telling());
        }
        // Pairs with the pump's: either it sees the position or we see that it sleeps.
        fence(Ordering::SeqCst);
        let is_attended = self.is_attended.load(Ordering::Relaxed);
        if !is_attended && !self.is_attended.swap(true, Ordering::AcqRel) {
            self.seat.call();
        }
    }

    /// Tells what is new. `false`: there was nothing.
    fn tell(&self, telling: &mut Telling) -> bool {
        let released = self.released.load(Ordering::Acquire);
        let is_new = released != telling.teller.told();
        if is_new {
            telling.teller.tell(&self.pair.credit, released);
            self.told.store(telling.teller.told(), Ordering::Relaxed);
        }
        is_new
    }

    fn telling(&self) -> MutexGuard<'_, Telling> {
        self.telling.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        if !self.has_left.swap(true, Ordering::AcqRel) {
            let mut telling = self.telling();
            self.tell(&mut telling);
            telling.teller.leave(&self.pair.credit);
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
        telling.quiet = match self.tell(&mut telling) {
            true => 0,
            false => telling.quiet + 1,
        };
        if telling.quiet < QUIET_PERIODS {
            return Next::At(now + PERIOD);
        }
        self.is_attended.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if !self.tell(&mut telling) {
            return Next::OnEvent;
        }
        self.is_attended.store(true, Ordering::Release);
        telling.quiet = 0;
        Next::At(now + PERIOD)
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
                        self.end = Some(End::Lost("it has closed its end".to_owned()));
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
        Err(match end.clone() {
            End::Refused(why) => Error::Refused(why),
            End::Lost(why) => Error::Lost(Loss {
                receiver: None,
                why,
            }),
        })
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
