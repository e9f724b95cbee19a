//! Query 12: bids by person in windows of the clock.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use super::fields::EventLine;
use super::query_loop::QueryLoop;
use super::result_lines::ResultLines;

/// Length of a window of the clock.
const WINDOW: Duration = Duration::from_secs(10);

/// Bids between two looks at the clock, which takes longer than to count a bid.
const BIDS_A_LOOK: u64 = 256;

/// Counts of the window that is not over.
pub struct ClockWindows {
    start: Instant,
    seen: u64,
    counts: HashMap<i64, i64>,
}

impl ClockWindows {
    /// A window that begins now.
    pub fn new() -> ClockWindows {
        ClockWindows {
            start: Instant::now(),
            seen: 0,
            counts: HashMap::new(),
        }
    }
}

impl QueryLoop for ClockWindows {
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()> {
        let EventLine::Bid(bid) = event else {
            return Ok(());
        };
        *self.counts.entry(bid.bidder).or_default() += 1;
        self.seen += 1;
        if self.seen.is_multiple_of(BIDS_A_LOOK) && self.start.elapsed() >= WINDOW {
            self.start += WINDOW;
            for (bidder, bids) in self.counts.drain() {
                out.number(bidder).number(bids).end()?;
            }
        }
        Ok(())
    }
}
