//! How far a receiving end has released, and what of it its sender was told.
//!
//! The thread that receives stores a position and goes on. It tells the sender itself only what the
//! sender may be waiting for; the rest is told by the pump, once a period while there is news. The
//! periods grow while the thread tells enough by itself: each of the pump's turns takes a core from
//! somebody.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use super::credit::CreditWriter;
use super::io_thread::Registration;

/// How often the pump tells the sender how far we are, while there is something to tell.
const REPORT_PERIOD: Duration = Duration::from_millis(1);

/// And how rarely, while the receiving thread does so.
const REPORT_PERIOD_MAX: Duration = Duration::from_millis(4);

/// Periods without news before it sleeps.
const IDLE_PERIODS_MAX: u32 = 16;

/// A receiving end's.
pub(crate) struct ReleaseProgress {
    registration: Registration,
    /// Bytes after which the sender is told at once, as it may be waiting.
    report_now_bytes: u64,
    /// Up to where everything was released. Written by the receiving end, read by the pump.
    released: AtomicU64,
    /// The last position that was told. Written by whoever tells.
    reported: AtomicU64,
    /// Whether the pump looks by itself. Set by the receiving end, which calls it then; cleared by
    /// the pump, which looks at `released` once more.
    is_polled_by_io_thread: AtomicBool,
}

/// What only one thread at a time may have: the words on their way.
pub(crate) struct CreditReporter {
    writer: CreditWriter,
    idle_periods: u32,
    period: Duration,
    /// What had been told when the pump was here the last time.
    reported_last_turn: u64,
}

impl Default for CreditReporter {
    fn default() -> CreditReporter {
        CreditReporter {
            writer: CreditWriter::default(),
            idle_periods: 0,
            period: REPORT_PERIOD,
            reported_last_turn: 0,
        }
    }
}

impl ReleaseProgress {
    /// Of an end that has released nothing yet.
    pub(crate) fn new(registration: Registration, at_once_bytes: u64) -> ReleaseProgress {
        ReleaseProgress {
            registration,
            report_now_bytes: at_once_bytes,
            released: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            is_polled_by_io_thread: AtomicBool::new(false),
        }
    }

    /// Everything up to a position is released. `true`: the sender should be told at once.
    pub(crate) fn release(&self, position: u64) -> bool {
        self.released.store(position, Ordering::Release);
        // Pairs with the pump's: either it sees the position or we see that it sleeps.
        fence(Ordering::SeqCst);
        let is_attended = self.is_polled_by_io_thread.load(Ordering::Relaxed);
        if !is_attended && !self.is_polled_by_io_thread.swap(true, Ordering::AcqRel) {
            self.registration.request_turn();
        }
        position - self.reported.load(Ordering::Relaxed) >= self.report_now_bytes
    }

    /// Whether the sender was told less than there is to tell.
    pub(crate) fn has_unreported(&self) -> bool {
        self.released.load(Ordering::Relaxed) != self.reported.load(Ordering::Relaxed)
    }

    /// Tells what is new. `false`: there was nothing.
    pub(crate) fn report(&self, telling: &mut CreditReporter, credit: &TcpStream) -> bool {
        let released = self.released.load(Ordering::Acquire);
        let is_new = released != telling.writer.reported();
        if is_new {
            telling.writer.report(credit, released);
            self.reported
                .store(telling.writer.reported(), Ordering::Relaxed);
        }
        is_new
    }

    /// The pump's turn. When it has to come back, if it has to.
    pub(crate) fn report_periodically(
        &self,
        telling: &mut CreditReporter,
        credit: &TcpStream,
        now: Instant,
    ) -> Option<Instant> {
        if !self.is_polled_by_io_thread.load(Ordering::Relaxed) {
            return None;
        }
        let is_told = telling.writer.reported() != telling.reported_last_turn;
        telling.period = match is_told {
            true => (telling.period * 2).min(REPORT_PERIOD_MAX),
            false => REPORT_PERIOD,
        };
        let is_new = self.report(telling, credit);
        telling.reported_last_turn = telling.writer.reported();
        telling.idle_periods = match is_told || is_new {
            true => 0,
            false => telling.idle_periods + 1,
        };
        if telling.idle_periods < IDLE_PERIODS_MAX {
            return Some(now + telling.period);
        }
        telling.idle_periods = 0;
        self.is_polled_by_io_thread.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if !self.report(telling, credit) {
            return None;
        }
        self.is_polled_by_io_thread.store(true, Ordering::Release);
        Some(now + REPORT_PERIOD)
    }

    /// Another connection: what was told on the last one may be lost.
    pub(crate) fn restart(&self, telling: &mut CreditReporter) {
        *telling = CreditReporter::default();
        self.reported.store(0, Ordering::Relaxed);
    }

    /// Tells what is new, and that nothing follows.
    pub(crate) fn close(&self, telling: &mut CreditReporter, credit: &TcpStream) {
        self.report(telling, credit);
        telling.writer.send_goodbye(credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tcp_edge::loopback::loopback_pair;

    #[test]
    fn the_pump_comes_rarely_while_the_thread_tells_by_itself() {
        let (credit, _sender) = loopback_pair();
        let progress = ReleaseProgress::new(Registration::reserve().expect("a seat"), 100);
        let (mut telling, now) = (CreditReporter::default(), Instant::now());
        let mut position = 0;
        let mut turn = |bytes: u64, tells: bool| {
            position += bytes;
            progress.release(position);
            if tells {
                assert!(progress.report(&mut telling, &credit));
            }
            let next = progress.report_periodically(&mut telling, &credit, now);
            assert!(!progress.has_unreported());
            next.map(|next| next - now)
        };
        assert_eq!(turn(10, false), Some(REPORT_PERIOD));
        let periods: Vec<_> = (0..6).map(|_| turn(100, true)).collect();
        assert!(periods.is_sorted(), "{periods:?}");
        assert_eq!(periods.last(), Some(&Some(REPORT_PERIOD_MAX)));
        assert_eq!(
            turn(10, false),
            Some(REPORT_PERIOD),
            "it is the pump that has told"
        );
        let quiet = (0..IDLE_PERIODS_MAX).map(|_| turn(0, false)).last();
        assert_eq!(quiet, Some(None), "it sleeps");
    }
}
