//! The output of a turn, written and read.
//!
//! ```text
//!   arrived COUNT FIRST LAST SUM      control::Arrivals, of a turn of throughput
//!   latency NS NS ...                 of one way, in nanoseconds; as many lines as one likes
//! ```
//! The SPL programs print the same lines.

use control::RunArrivals;
use measure::LatencyHistogram;

use crate::BoxError;

/// The messages a second of a turn of `messages` messages of `words` words, from its output.
///
/// # Errors
/// No message arrived, or not those that were sent.
pub fn parse_rate(printed: &str, messages: u64, words: u64) -> Result<f64, BoxError> {
    let (run, expected) = (
        RunArrivals::parse_output(printed, 1)?,
        expected_sum(messages, words),
    );
    match run.sum == expected {
        true => Ok(run.tuples_per_s),
        false => Err(format!(
            "what came adds up to {}, what was sent to {expected}",
            run.sum
        )
        .into()),
    }
}

/// The sum of all messages of a turn: each word of message `n` is `n`.
fn expected_sum(messages: u64, words: u64) -> i64 {
    let numbers = i128::from(messages) * i128::from(messages.saturating_sub(1)) / 2;
    (numbers * i128::from(words)) as i64
}

/// The line with latencies in nanoseconds.
pub fn latency_line(times_ns: &[u64]) -> String {
    let times: Vec<String> = times_ns.iter().map(u64::to_string).collect();
    format!("latency {}", times.join(" "))
}

/// Reads the latencies of a turn from its output.
///
/// # Errors
/// The output has fewer or more latencies than messages.
pub fn parse_latencies(printed: &str, messages: u64) -> Result<LatencyHistogram, BoxError> {
    let mut histogram = LatencyHistogram::new();
    let lines = printed.lines();
    for line in lines.filter_map(|line| line.strip_prefix("latency ")) {
        for number in line.split(' ') {
            histogram.record(number.parse()?);
        }
    }
    if histogram.count() != messages {
        let count = histogram.count();
        return Err(format!("{count} of {messages} messages were timed").into());
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_rate_is_found() {
        // 1,001 messages of 2 words, one a microsecond: numbers 0 to 1,000 add up to 500,500.
        let printed = "other output\narrived 1001 5000 1005000 1001000\n";
        let found = parse_rate(printed, 1001, 2).unwrap();
        assert!((found - 1e6).abs() < 1.0, "{found}");
    }

    #[test]
    fn what_was_left_out_is_missed() {
        let unread = parse_rate("arrived 1001 5000 1005000 1000999\n", 1001, 2);
        assert!(unread.unwrap_err().to_string().contains("adds up to"));
        assert!(parse_rate("arrived 1000 5000 1005000 999000\n", 1001, 2).is_err());
        assert!(parse_rate("", 1, 2).is_err());
    }

    #[test]
    fn latencies_are_read_as_they_are_written() {
        let printed = format!("latency 100\n{}\n", latency_line(&[300, 200]));
        let timed = parse_latencies(&printed, 3).unwrap();
        assert_eq!(timed.quantile_ns(0.5), 200);
        assert!(parse_latencies("latency 100\n", 2).is_err());
        assert!(parse_latencies("latency 100 x\n", 2).is_err());
    }

    #[test]
    fn large_sums_wrap_as_the_receivers_do() {
        let messages = 3_000_000_000_u64;
        let exact = (u128::from(messages) * u128::from(messages - 1) / 2) * 2048;
        assert_eq!(expected_sum(messages, 2048), exact as u64 as i64);
    }
}
