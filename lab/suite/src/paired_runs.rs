//! A stream and its control, by turns.
//!
//! On a machine that is busy with other things both are slow or both are fast; so each run is
//! compared with its neighbour, and of these ratios the median is the result.

use control::{Error, RunArrivals, median};

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunLength {
    /// So many tuples.
    Tuples(u64),
    /// So many that they take about this time, in seconds.
    Seconds(f64),
}

impl RunLength {
    /// The same, but if it is a time not less than this.
    pub fn at_least(self, seconds_min: f64) -> RunLength {
        match self {
            RunLength::Seconds(seconds) => RunLength::Seconds(seconds.max(seconds_min)),
            RunLength::Tuples(_) => self,
        }
    }
}

/// How the turns go.
#[derive(Clone, Copy, Debug)]
pub struct PairedRunOptions {
    /// Of a run.
    pub length: RunLength,
    /// Runs of each.
    pub runs: u32,
    /// About how many tuples a second they will have, if that can be told.
    pub tuples_per_s_expected: Option<f64>,
}

/// What came of the turns.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedRunResults {
    /// Tuples a second of each run.
    pub samples: Vec<f64>,
    /// The same of the control.
    pub control_samples: Vec<f64>,
}

/// Something that can run with so many tuples.
pub type RunTuples<'a> = dyn FnMut(u64) -> Result<RunArrivals, Error> + 'a;

/// Tuples of the first run when the length is a time and nobody knows the pace.
const FIRST_RUN_TUPLES: u64 = 2_000;

/// How much longer the next run is at most, while the pace is being found out.
const RUN_GROWTH_MAX: f64 = 64.0;

/// A run this much shorter than asked for says enough about the pace.
const CALIBRATED_SHARE_MIN: f64 = 0.2;

/// If somebody knows it, the first run has this part of the tuples: enough, if they are right.
const EXPECTED_SHARE: f64 = 0.3;

/// So many runs find the pace of anything.
const CALIBRATION_RUNS_MAX: u32 = 8;

/// Runs both by turns.
///
/// # Errors
/// One of them fails, or they did not do the same.
pub fn run_by_turns(
    turns: PairedRunOptions,
    ours: &mut RunTuples<'_>,
    control: &mut RunTuples<'_>,
) -> Result<PairedRunResults, Error> {
    let tuples = match turns.length {
        RunLength::Tuples(tuples) => tuples,
        RunLength::Seconds(seconds) => {
            calibrate_tuples(seconds, turns.tuples_per_s_expected, ours)?
        }
    };
    let (mut samples, mut control_samples) = (Vec::new(), Vec::new());
    for _ in 0..turns.runs {
        let (bare, own) = (control(tuples)?, ours(tuples)?);
        if bare.sum != own.sum {
            let (own, bare) = (own.sum, bare.sum);
            return Err(Error::new(format!(
                "the sink adds up to {own} and its control to {bare}: they did not read the same"
            )));
        }
        control_samples.push(bare.tuples_per_s);
        samples.push(own.tuples_per_s);
    }
    Ok(PairedRunResults {
        samples,
        control_samples,
    })
}

/// How many tuples take about so long.
fn calibrate_tuples(
    seconds: f64,
    likely: Option<f64>,
    ours: &mut RunTuples<'_>,
) -> Result<u64, Error> {
    let mut tuples = likely.map_or(FIRST_RUN_TUPLES, |pace| {
        ((pace * seconds * EXPECTED_SHARE) as u64).max(2)
    });
    for _ in 0..CALIBRATION_RUNS_MAX {
        let run = ours(tuples)?;
        let growth = seconds / run.seconds;
        tuples = ((tuples as f64 * growth.min(RUN_GROWTH_MAX)) as u64).max(2);
        if growth * CALIBRATED_SHARE_MIN <= 1.0 {
            break;
        }
    }
    Ok(tuples)
}

impl PairedRunResults {
    /// The median of the ratios of neighbours.
    pub fn ratio(&self) -> f64 {
        let pairs = self.samples.iter().zip(&self.control_samples);
        median(pairs.map(|(own, bare)| own / bare))
    }

    /// The median of the runs.
    pub fn tuples_per_s(&self) -> f64 {
        median(self.samples.iter().copied())
    }

    /// The median of the control's runs.
    pub fn control_tuples_per_s(&self) -> f64 {
        median(self.control_samples.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(length: RunLength, runs: u32) -> PairedRunOptions {
        PairedRunOptions {
            length,
            runs,
            tuples_per_s_expected: None,
        }
    }

    /// A run at a known pace, and a note of how many tuples it had.
    fn run(tuples: u64, tuples_per_s: f64, asked: &mut Vec<u64>) -> Result<RunArrivals, Error> {
        asked.push(tuples);
        Ok(RunArrivals {
            seconds: tuples as f64 / tuples_per_s,
            tuples_per_s,
            sum: tuples as i64,
        })
    }

    #[test]
    fn runs_take_the_time_that_was_asked_for() {
        for rate in [1e3, 1e6, 5e8] {
            let (mut own, mut bare) = (Vec::new(), Vec::new());
            let ours = &mut |tuples| run(tuples, rate, &mut own);
            let control = &mut |tuples| run(tuples, 2.0 * rate, &mut bare);
            let figures = run_by_turns(turns(RunLength::Seconds(0.2), 3), ours, control).unwrap();
            assert_eq!(figures.ratio(), 0.5);
            let last = own[own.len() - 1] as f64 / rate;
            assert!((last - 0.2).abs() < 0.002, "{rate}: {last} s");
            assert_eq!(bare, own[own.len() - 3..]);
        }
    }

    /// However wrong it is.
    #[test]
    fn a_likely_pace_saves_runs() {
        for (likely, at_most) in [(1e6, 1), (5e5, 2), (1e7, 1), (1e4, 3)] {
            let (mut own, mut bare) = (Vec::new(), Vec::new());
            let ours = &mut |tuples| run(tuples, 1e6, &mut own);
            let control = &mut |tuples| run(tuples, 1e6, &mut bare);
            let turns = PairedRunOptions {
                tuples_per_s_expected: Some(likely),
                ..turns(RunLength::Seconds(0.2), 3)
            };
            run_by_turns(turns, ours, control).unwrap();
            assert!(own.len() <= 3 + at_most, "{likely}: {own:?}");
            assert!(own[own.len() - 1].abs_diff(200_000) < 2000, "{own:?}");
        }
    }

    #[test]
    fn times_have_a_least_and_counts_have_none() {
        let length = RunLength::Seconds(0.05);
        assert_eq!(length.at_least(0.2), RunLength::Seconds(0.2));
        assert_eq!(length.at_least(0.0), length);
        assert_eq!(RunLength::Tuples(5).at_least(0.2), RunLength::Tuples(5));
    }

    #[test]
    fn ratios_are_those_of_neighbours() {
        // A machine that is half as fast in each turn as in the one before.
        let figures = PairedRunResults {
            samples: vec![80.0, 40.0, 20.0],
            control_samples: vec![100.0, 50.0, 40.0],
        };
        assert_eq!(figures.ratio(), 0.8);
        assert_eq!(figures.tuples_per_s(), 40.0);
        assert_eq!(figures.control_tuples_per_s(), 50.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
    }

    #[test]
    fn contenders_have_to_do_the_same() {
        let (mut own, mut bare) = (Vec::new(), Vec::new());
        let ours = &mut |tuples| run(tuples, 1.0, &mut own);
        let control = &mut |tuples| run(tuples - 1, 1.0, &mut bare);
        let refused = run_by_turns(turns(RunLength::Tuples(9), 1), ours, control);
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains("did not read the same"), "{refused}");
    }
}
