//! What a sink has seen: when its first and its last tuple came, and how many there were.
//!
//! ```text
//!   arrived COUNT FIRST LAST SUM      times in nanoseconds of a clock that never goes back
//! ```

use crate::Error;

/// The line of one sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// How many tuples.
    pub count: u64,
    /// When the first of them came, in nanoseconds.
    pub first_ns: i64,
    /// When the last of them came, in nanoseconds.
    pub last_ns: i64,
    /// What all their attributes add up to.
    pub sum: i64,
}

const LINE_PREFIX: &str = "arrived";

impl Arrivals {
    /// As sinks print it.
    pub fn to_line(&self) -> String {
        let Arrivals {
            count,
            first_ns,
            last_ns,
            sum,
        } = self;
        format!("{LINE_PREFIX} {count} {first_ns} {last_ns} {sum}")
    }

    /// From one line of output; `None` if it is another one.
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

/// What all sinks of a run have seen.
#[derive(Clone, Debug, PartialEq)]
pub struct RunArrivals {
    /// From the first arrival anywhere to the last, in seconds.
    pub seconds: f64,
    /// Tuples a second, of all sinks together.
    pub tuples_per_s: f64,
    /// What all attributes of all tuples add up to.
    pub sum: i64,
}

impl RunArrivals {
    /// From what the processes of a run have printed.
    ///
    /// # Errors
    /// Fewer or more sinks than there are, or arrivals that give no rate.
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

    /// The same, counted in tuples that went in.
    pub fn per_input(self, tuples: u64) -> RunArrivals {
        RunArrivals {
            tuples_per_s: tuples as f64 / self.seconds,
            ..self
        }
    }

    /// From arrivals. The tuples behind the first one are what the time between the first and the
    /// last arrival was for.
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

    /// A sink that tuples reach at these times, in nanoseconds.
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
