//! The arrivals at a sink: the times of its first and its last tuple, and their number.
//!
//! ```text
//!   arrived COUNT FIRST LAST SUM      times in nanoseconds of a clock that never goes back
//! ```

use crate::Error;

/// Arrivals at one sink, which it prints as a line when its last tuple has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// Number of tuples that arrived.
    pub count: u64,
    /// Arrival of the first tuple, in nanoseconds of a monotonic clock.
    pub first_ns: i64,
    /// Arrival of the last tuple, in nanoseconds of a monotonic clock.
    pub last_ns: i64,
    /// Wrapping sum of all attributes of all tuples.
    pub sum: i64,
}

const LINE_PREFIX: &str = "arrived";

impl Arrivals {
    /// The line that a sink prints, without a line end.
    pub fn to_line(&self) -> String {
        let Arrivals {
            count,
            first_ns,
            last_ns,
            sum,
        } = self;
        format!("{LINE_PREFIX} {count} {first_ns} {last_ns} {sum}")
    }

    /// Reads a line of output; `None` if it is not a line of arrivals.
    fn parse(line: &str) -> Option<Arrivals> {
        let mut words = line.split(' ');
        (words.next() == Some(LINE_PREFIX)).then_some(())?;
        Some(Arrivals {
            count: words.next()?.parse().ok()?,
            first_ns: words.next()?.parse().ok()?,
            last_ns: words.next()?.parse().ok()?,
            sum: words.next()?.parse().ok()?,
        })
    }
}

/// The arrivals at all sinks of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunArrivals {
    /// Seconds from the first arrival at any sink to the last.
    pub seconds: f64,
    /// Tuples a second at all sinks together.
    pub tuples_per_s: f64,
    /// Wrapping sum of all attributes of all tuples at all sinks.
    pub sum: i64,
}

impl RunArrivals {
    /// Reads the arrivals at `sinks` sinks from the output of a run; other lines are skipped.
    ///
    /// # Errors
    /// The output has another number of arrivals, or the arrivals give no rate.
    pub fn parse_output(output: &str, sinks: u32) -> Result<RunArrivals, Error> {
        let arrivals: Vec<_> = output.lines().filter_map(Arrivals::parse).collect();
        if arrivals.len() != sinks as usize {
            let found = arrivals.len();
            return Err(Error::new(format!(
                "{found} of {sinks} sinks have said what arrived; printed was: {output}"
            )));
        }
        RunArrivals::from_arrivals(&arrivals)
    }

    /// Sets the rate to that of the `tuples` that the operator was given.
    pub fn per_input(self, tuples: u64) -> RunArrivals {
        RunArrivals {
            tuples_per_s: tuples as f64 / self.seconds,
            ..self
        }
    }

    /// Computes the rate of a run. The time from the first arrival to the last was spent on the
    /// tuples after the first, so the first does not count.
    fn from_arrivals(arrivals: &[Arrivals]) -> Result<RunArrivals, Error> {
        let first = arrivals.iter().map(|one| one.first_ns).min();
        let last = arrivals.iter().map(|one| one.last_ns).max();
        let nanos = last.zip(first).map_or(0, |(last, first)| last - first);
        let behind = arrivals.iter().map(|one| one.count.saturating_sub(1));
        let behind: u64 = behind.sum();
        if nanos <= 0 || behind == 0 {
            return Err(Error::new("too few tuples to tell a rate"));
        }
        let seconds = nanos as f64 / 1e9;
        Ok(RunArrivals {
            seconds,
            tuples_per_s: behind as f64 / seconds,
            sum: arrivals
                .iter()
                .fold(0, |sum: i64, one| sum.wrapping_add(one.sum)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrivals at these times, in nanoseconds.
    fn sink(times: impl Iterator<Item = i64>) -> Arrivals {
        let times: Vec<_> = times.collect();
        Arrivals {
            count: times.len() as u64,
            first_ns: times[0],
            last_ns: times[times.len() - 1],
            sum: 3,
        }
    }

    fn assert_rate(run: &RunArrivals, should: f64) {
        let off = (run.tuples_per_s - should).abs() / should;
        assert!(off < 0.01, "{} is not {should}", run.tuples_per_s);
    }

    #[test]
    fn a_known_rate_is_found() {
        for gap in [3, 1000, 1_000_000] {
            let one = sink((0..1000).map(|n| 77 + n * gap));
            assert_rate(
                &RunArrivals::from_arrivals(&[one]).unwrap(),
                1e9 / gap as f64,
            );
        }
    }

    #[test]
    fn a_pause_counts_as_time() {
        let pause = |n: i64| if n >= 500 { 1_000_000 } else { 0 };
        let one = sink((0..1000).map(|n| n * 1000 + pause(n)));
        assert_rate(&RunArrivals::from_arrivals(&[one]).unwrap(), 1000.0 / 2e-3);
    }

    #[test]
    fn sinks_count_together_from_the_first_to_the_last() {
        let early = sink((0..1000).map(|n| n * 1000));
        let late = sink((0..1000).map(|n| 1_000_000 + n * 1000));
        let run = RunArrivals::from_arrivals(&[early, late]).unwrap();
        assert_rate(&run, 2000.0 / 2e-3);
        assert_eq!(run.sum, 6);
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let one = sink([5, 9].into_iter());
        let output = format!("other output\n{}\n", one.to_line());
        assert_eq!(
            RunArrivals::parse_output(&output, 1).unwrap(),
            RunArrivals::from_arrivals(&[one]).unwrap()
        );
        assert!(RunArrivals::parse_output(&output, 2).is_err());
        assert!(RunArrivals::parse_output("arrived 5 x\n", 1).is_err());
        assert!(RunArrivals::from_arrivals(&[sink([5].into_iter())]).is_err());
        assert!(RunArrivals::from_arrivals(&[]).is_err());
    }
}
