//! How far a receiving end has released, and what of it its sender was told.
//!
//! The thread that receives stores a position and goes on. It tells the sender itself only what the
//! sender may be waiting for; the rest is told by the pump, once a period while there is news. The
//! periods grow while the thread tells enough by itself: each of the pump's turns takes a core from
//! somebody.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use super::credit::Teller;
use super::pump::Seat;

/// How often the pump tells the sender how far we are, while there is something to tell.
const PERIOD: Duration = Duration::from_millis(1);

/// And how rarely, while the receiving thread does so.
const PERIOD_MAX: Duration = Duration::from_millis(4);

/// Periods without news before it sleeps.
const QUIET_PERIODS: u32 = 16;

/// A receiving end's.
pub(crate) struct Progress {
    seat: Seat,
    /// Bytes after which the sender is told at once, as it may be waiting.
    at_once_bytes: u64,
    /// Up to where everything was released. Written by the receiving end, read by the pump.
    released: AtomicU64,
    /// The last position that was told. Written by whoever tells.
    told: AtomicU64,
    /// Whether the pump looks by itself. Set by the receiving end, which calls it then; cleared by
    /// the pump, which looks at `released` once more.
    is_attended: AtomicBool,
}

/// What only one thread at a time may have: the words on their way.
pub(crate) struct Telling {
    teller: Teller,
    quiet: u32,
    period: Duration,
    /// What had been told when the pump was here the last time.
    seen: u64,
}

impl Default for Telling {
    fn default() -> Telling {
        Telling {
            teller: Teller::default(),
            quiet: 0,
            period: PERIOD,
            seen: 0,
        }
    }
}

impl Progress {
    /// Of an end that has released nothing yet.
    pub(crate) fn new(seat: Seat, at_once_bytes: u64) -> Progress {
        Progress {
            seat,
            at_once_bytes,
            released: AtomicU64::new(0),
            told: AtomicU64::new(0),
            is_attended: AtomicBool::new(false),
        }
    }

    /// Everything up to a position is released. `true`: the sender should be told at once.
    pub(crate) fn release(&self, position: u64) -> bool {
        self.released.store(position, Ordering::Release);
        // Pairs with the pump's: either it sees the position or we see that it sleeps.
        fence(Ordering::SeqCst);
        let is_attended = self.is_attended.load(Ordering::Relaxed);
        if !is_attended && !self.is_attended.swap(true, Ordering::AcqRel) {
            self.seat.call();
        }
        position - self.told.load(Ordering::Relaxed) >= self.at_once_bytes
    }

    /// Whether the sender was told less than there is to tell.
    pub(crate) fn has_news(&self) -> bool {
        self.released.load(Ordering::Relaxed) != self.told.load(Ordering::Relaxed)
    }

    /// Tells what is new. `false`: there was nothing.
    pub(crate) fn tell(&self, telling: &mut Telling, credit: &TcpStream) -> bool {
        let released = self.released.load(Ordering::Acquire);
        let is_new = released != telling.teller.told();
        if is_new {
            telling.teller.tell(credit, released);
            self.told.store(telling.teller.told(), Ordering::Relaxed);
        }
        is_new
    }

    /// The pump's turn. When it has to come back, if it has to.
    pub(crate) fn tell_on(
        &self,
        telling: &mut Telling,
        credit: &TcpStream,
        now: Instant,
    ) -> Option<Instant> {
        if !self.is_attended.load(Ordering::Relaxed) {
            return None;
        }
        let is_told = telling.teller.told() != telling.seen;
        telling.period = match is_told {
            true => (telling.period * 2).min(PERIOD_MAX),
            false => PERIOD,
        };
        let is_new = self.tell(telling, credit);
        telling.seen = telling.teller.told();
        telling.quiet = match is_told || is_new {
            true => 0,
            false => telling.quiet + 1,
        };
        if telling.quiet < QUIET_PERIODS {
            return Some(now + telling.period);
        }
        telling.quiet = 0;
        self.is_attended.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if !self.tell(telling, credit) {
            return None;
        }
        self.is_attended.store(true, Ordering::Release);
        Some(now + PERIOD)
    }

    /// Another connection: what was told on the last one may be lost.
    pub(crate) fn begin_again(&self, telling: &mut Telling) {
        *telling = Telling::default();
        self.told.store(0, Ordering::Relaxed);
    }

    /// Tells what is new, and that nothing follows.
    pub(crate) fn leave(&self, telling: &mut Telling, credit: &TcpStream) {
        self.tell(telling, credit);
        telling.teller.leave(credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tcp::loopback::pair;

    #[test]
    fn the_pump_comes_rarely_while_the_thread_tells_by_itself() {
        let (credit, _sender) = pair();
        let progress = Progress::new(Seat::take().expect("a seat"), 100);
        let (mut telling, now) = (Telling::default(), Instant::now());
        let mut position = 0;
        let mut turn = |bytes: u64, tells: bool| {
            position += bytes;
            progress.release(position);
            if tells {
                assert!(progress.tell(&mut telling, &credit));
            }
            let next = progress.tell_on(&mut telling, &credit, now);
            assert!(!progress.has_news());
            next.map(|next| next - now)
        };
        assert_eq!(turn(10, false), Some(PERIOD));
        let periods: Vec<_> = (0..6).map(|_| turn(100, true)).collect();
        assert!(periods.is_sorted(), "{periods:?}");
        assert_eq!(periods.last(), Some(&Some(PERIOD_MAX)));
        assert_eq!(
            turn(10, false),
            Some(PERIOD),
            "it is the pump that has told"
        );
        let quiet = (0..QUIET_PERIODS).map(|_| turn(0, false)).last();
        assert_eq!(quiet, Some(None), "it sleeps");
    }
}
