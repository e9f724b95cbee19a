//! Jitter: interruptions of a thread that does nothing but read the clock.

use std::io::Write;

use measure::LatencyHistogram;
use transport::monotonic_ns;

use crate::affinity::pin_thread;
use crate::error::Error;
use crate::options::JitterOptions;
use crate::result_line::{ResultLine, print_line};

/// Reads the clock twice in a row, again and again, and prints the shortest and the longest time
/// between: the cost of a reading, and the longest interruption.
///
/// # Errors
/// The processor is not available, or the output cannot be written.
pub fn jitter(options: &JitterOptions, out: &mut dyn Write) -> Result<(), Error> {
    pin_thread(options.affinity_cpu)?;
    let mut gaps = LatencyHistogram::new();
    let (mut min_ns, mut max_ns) = (u64::MAX, 0);
    for _ in 0..options.jitter_loops {
        let first = monotonic_ns();
        let gap = monotonic_ns() - first;
        min_ns = min_ns.min(gap);
        max_ns = max_ns.max(gap);
        gaps.record(gap);
    }
    if options.jitter_loops == 0 {
        min_ns = 0;
    }
    print_line(out, &format!("ts_min_ns={min_ns}, ts_max_ns={max_ns}, "))?;
    ResultLine::new("gaps_ns").latencies(&gaps).print(out)?;
    Ok(())
}
