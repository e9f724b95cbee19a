//! Runs of a program and of its control by turns.
//!
//! On a busy machine neighbouring runs are slow together or fast together. So each run is compared
//! with its neighbour, and the median of these ratios is the result.

use control::{Error, RunArrivals, median};

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RunLength {
    /// A number of tuples.
    Tuples(u64),
    /// A number of seconds, from which the number of tuples is found by trial.
    Seconds(f64),
}

impl RunLength {
    /// The longer one of this length and `seconds_min`; a number of tuples stays as it is.
    pub fn at_least(self, seconds_min: f64) -> RunLength {
        match self {
            RunLength::Seconds(seconds) => RunLength::Seconds(seconds.max(seconds_min)),
            RunLength::Tuples(_) => self,
        }
    }
}

/// Number and length of the runs.
#[derive(Clone, Copy, Debug)]
pub struct PairedRunOptions {
    /// Length of each run.
    pub length: RunLength,
    /// Number of runs of each contender.
    pub runs: u32,
    /// Tuples a second that are expected; `None` if there is no estimate.
    pub tuples_per_s_expected: Option<f64>,
}

/// The rates of all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairedRunResults {
    /// Tuples a second of each run of Thalweg.
    pub samples: Vec<f64>,
    /// Messages a second of each run of the control.
    pub control_samples: Vec<f64>,
}

/// A contender: runs with a number of tuples.
pub type RunTuples<'a> = dyn FnMut(u64) -> Result<RunArrivals, Error> + 'a;

/// Tuples of the first run when the length is a time and no rate is expected.
const FIRST_RUN_TUPLES: u64 = 2_000;

/// Factor by which a run may exceed the one before, while the number of tuples is being found.
const RUN_GROWTH_MAX: f64 = 64.0;

/// Share of the wanted time from which a run tells the rate well enough.
const CALIBRATED_SHARE_MIN: f64 = 0.2;

/// Share of the wanted time that the first run takes if the expected rate is right.
const EXPECTED_SHARE: f64 = 0.3;

/// Limit on the runs that find the number of tuples: 64 times longer each, they reach any rate.
const CALIBRATION_RUNS_MAX: u32 = 8;

/// Runs the control and Thalweg by turns with an equal number of tuples.
///
/// # Errors
/// A run fails, or the sums of two neighbours differ.
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

/// The number of tuples that take about `seconds` seconds.
pub(crate) fn calibrate_tuples(
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
    /// The median of the ratios of neighbouring runs, Thalweg's to the control's.
    pub fn ratio(&self) -> f64 {
        let pairs = self.samples.iter().zip(&self.control_samples);
        median(pairs.map(|(own, bare)| own / bare))
    }

    /// The median of Thalweg's runs, in tuples a second.
    pub fn tuples_per_s(&self) -> f64 {
        median(self.samples.iter().copied())
    }

    /// The median of the control's runs, in messages a second.
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

    /// A run at a known rate; notes its number of tuples.
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

    /// An estimate saves runs, even a wrong one.
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
