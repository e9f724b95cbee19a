//! Release progress: how far a receiving end has released, and how much of it was reported to its
//! sender.
//!
//! The receiving thread stores a position and goes on. It reports a position itself only if the
//! sender may be waiting for it; the IO thread reports the rest, once a period while there is news.
//! The periods grow while the receiving thread reports enough by itself, because each turn of the
//! IO thread takes a core from another thread.

use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::time::{Duration, Instant};

use super::credit::{CreditReport, CreditWriter};
use super::io_thread::Registration;

/// Shortest period at which the IO thread reports positions, while there is news.
const REPORT_PERIOD: Duration = Duration::from_millis(1);

/// Longest period at which the IO thread reports positions, while the receiving thread reports too.
const REPORT_PERIOD_MAX: Duration = Duration::from_millis(4);

/// Periods without news after which the IO thread stops looking.
const IDLE_PERIODS_MAX: u32 = 16;

/// Released and reported positions of a receiving end.
pub(crate) struct ReleaseProgress {
    registration: Registration,
    /// Unreported bytes after which the sender is told at once, as it may be waiting.
    report_now_bytes: u64,
    /// Position up to which everything was released. Written by the receiving end, read by the IO
    /// thread.
    released: AtomicU64,
    /// The last position that was reported. Written by the thread that reports.
    reported: AtomicU64,
    /// Number of batches received by this rail; 0 without rails. Written by the receiving end.
    batches: AtomicU64,
    /// The last number of batches that was reported. Written by the thread that reports.
    reported_batches: AtomicU64,
    /// Whether the IO thread looks by itself. Set by the receiving end, which then requests a turn;
    /// cleared by the IO thread, which then looks at `released` once more.
    is_polled_by_io_thread: AtomicBool,
}

/// Writer and timing of the reports, used by one thread at a time.
pub(crate) struct CreditReporter {
    writer: CreditWriter,
    idle_periods: u32,
    period: Duration,
    /// Progress that had been reported at the IO thread's last turn.
    reported_last_turn: CreditReport,
}

impl Default for CreditReporter {
    fn default() -> CreditReporter {
        CreditReporter {
            writer: CreditWriter::default(),
            idle_periods: 0,
            period: REPORT_PERIOD,
            reported_last_turn: CreditReport::default(),
        }
    }
}

impl ReleaseProgress {
    /// Progress of an end that has released nothing yet.
    pub(crate) fn new(registration: Registration, at_once_bytes: u64) -> ReleaseProgress {
        ReleaseProgress {
            registration,
            report_now_bytes: at_once_bytes,
            released: AtomicU64::new(0),
            reported: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            reported_batches: AtomicU64::new(0),
            is_polled_by_io_thread: AtomicBool::new(false),
        }
    }

    /// Notes that everything up to a position is released. `true`: the sender should be told at
    /// once.
    pub(crate) fn release(&self, position: u64) -> bool {
        self.released.store(position, Ordering::Release);
        // Pairs with the IO thread's fence: either it sees the position, or this thread sees that
        // it sleeps.
        fence(Ordering::SeqCst);
        let is_polled = self.is_polled_by_io_thread.load(Ordering::Relaxed);
        if !is_polled && !self.is_polled_by_io_thread.swap(true, Ordering::AcqRel) {
            self.registration.request_turn();
        }
        position - self.reported.load(Ordering::Relaxed) >= self.report_now_bytes
    }

    /// Notes that everything up to a position is released, for the next report.
    pub(crate) fn set_released(&self, position: u64) {
        self.released.store(position, Ordering::Release);
    }

    /// Whether a released position was not reported yet.
    pub(crate) fn has_unreported(&self) -> bool {
        self.released.load(Ordering::Relaxed) != self.reported.load(Ordering::Relaxed)
    }

    /// Notes the number of batches received by a rail.
    pub(crate) fn set_batches(&self, batches: u64) {
        self.batches.store(batches, Ordering::Relaxed);
    }

    /// Number of batches received by a rail and not reported yet.
    pub(crate) fn unreported_batches(&self) -> u64 {
        let reported = self.reported_batches.load(Ordering::Relaxed);
        self.batches.load(Ordering::Relaxed).abs_diff(reported)
    }

    /// Reports new progress. `false`: there was none.
    pub(crate) fn report(&self, reporter: &mut CreditReporter, credit: &TcpStream) -> bool {
        let progress = CreditReport {
            position: self.released.load(Ordering::Acquire),
            batches: self.batches.load(Ordering::Relaxed),
        };
        let is_new = progress != reporter.writer.reported();
        if is_new {
            reporter.writer.report(credit, progress);
            let reported = reporter.writer.reported();
            self.reported.store(reported.position, Ordering::Relaxed);
            self.reported_batches
                .store(reported.batches, Ordering::Relaxed);
        }
        is_new
    }

    /// A turn of the IO thread: reports a new position, and returns the time of the next turn, if
    /// one is needed.
    pub(crate) fn report_periodically(
        &self,
        reporter: &mut CreditReporter,
        credit: &TcpStream,
        now: Instant,
    ) -> Option<Instant> {
        if !self.is_polled_by_io_thread.load(Ordering::Relaxed) {
            return None;
        }
        let was_reported = reporter.writer.reported() != reporter.reported_last_turn;
        reporter.period = match was_reported {
            true => (reporter.period * 2).min(REPORT_PERIOD_MAX),
            false => REPORT_PERIOD,
        };
        let is_new = self.report(reporter, credit);
        reporter.reported_last_turn = reporter.writer.reported();
        reporter.idle_periods = match was_reported || is_new {
            true => 0,
            false => reporter.idle_periods + 1,
        };
        if reporter.idle_periods < IDLE_PERIODS_MAX {
            return Some(now + reporter.period);
        }
        reporter.idle_periods = 0;
        self.is_polled_by_io_thread.store(false, Ordering::Release);
        fence(Ordering::SeqCst);
        if !self.report(reporter, credit) {
            return None;
        }
        self.is_polled_by_io_thread.store(true, Ordering::Release);
        Some(now + REPORT_PERIOD)
    }

    /// Begins with another connection: reports on the last one may be lost.
    pub(crate) fn restart(&self, reporter: &mut CreditReporter) {
        *reporter = CreditReporter::default();
        self.reported.store(0, Ordering::Relaxed);
        self.reported_batches.store(0, Ordering::Relaxed);
    }

    /// Reports the last position, and that the receiver leaves.
    pub(crate) fn close(&self, reporter: &mut CreditReporter, credit: &TcpStream) {
        self.report(reporter, credit);
        reporter.writer.send_goodbye(credit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::tcp_edge::loopback::loopback_pair;

    #[test]
    fn the_io_thread_comes_rarely_while_the_thread_tells_by_itself() {
        let (credit, _sender) = loopback_pair();
        let progress = ReleaseProgress::new(Registration::reserve().expect("an IO thread"), 100);
        let (mut reporter, now) = (CreditReporter::default(), Instant::now());
        let mut position = 0;
        let mut turn = |bytes: u64, tells: bool| {
            position += bytes;
            progress.release(position);
            if tells {
                assert!(progress.report(&mut reporter, &credit));
            }
            let next = progress.report_periodically(&mut reporter, &credit, now);
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
            "the IO thread has reported it"
        );
        let quiet = (0..IDLE_PERIODS_MAX).map(|_| turn(0, false)).last();
        assert_eq!(quiet, Some(None), "it sleeps");
    }
}
