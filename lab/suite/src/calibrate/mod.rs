//! The calibration of a machine, or of a pair of hosts: what tuples cost on each medium.
//!
//! ```text
//!   media  ──which──>  turns: every medium at every size, one after the other, several times
//!                        |  medians
//!                      fits: nanoseconds for a tuple, for a byte
//! ```
//! Source and sink are the SPL programs of the benchmarks, run by `thalweg run`, so the costs are
//! those of programs: with encoding, operators and counters.

mod contenders;
mod turns;
mod utc_time;

use control::Error;
use planner::{Calibration, CostFit, MediumCost, processor_name};

pub use contenders::{CalibratedHosts, CalibrationOptions};
use contenders::{CalibratedMedium, contenders};
use turns::{Samples, latency_of, measure};

use crate::BenchSettings;

/// A calibration, and the media that it lacks.
#[derive(Clone, Debug)]
pub struct CalibrationResult {
    /// The costs of all media that were measured.
    pub calibration: Calibration,
    /// A sentence for each medium that could not be measured.
    pub passed_over: Vec<String>,
}

/// Measures the media of this machine, and of a pair of hosts if there is one. `progress` is called
/// with a few words about each step.
///
/// # Errors
/// A run on a medium that needs nothing but Thalweg fails.
pub fn calibrate(
    settings: &BenchSettings,
    options: &CalibrationOptions,
    progress: &mut dyn FnMut(&str),
) -> Result<CalibrationResult, Error> {
    let (mut contenders, mut passed_over) = contenders(options);
    let rates = measure(
        settings,
        options,
        &mut contenders,
        &mut passed_over,
        progress,
    )?;
    let latencies = latency_of(settings, options, &contenders, progress)?;
    let costs = contenders.iter().zip(&rates).zip(&latencies);
    let media = costs.map(|((contender, rates), latency)| cost(contender, rates, latency));
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo");
    let calibration = Calibration {
        time: utc_time::now(),
        processor: processor_name(&cpuinfo.unwrap_or_default()),
        cores: std::thread::available_parallelism().map_or(0, |count| count.get() as u32),
        media: media.collect::<Result<_, _>>()?,
    };
    Ok(CalibrationResult {
        calibration,
        passed_over,
    })
}

/// The cost of a medium from its samples.
fn cost(
    contender: &CalibratedMedium,
    sizes: &[(u64, Samples)],
    latency: &Samples,
) -> Result<MediumCost, Error> {
    let times: Vec<_> = sizes
        .iter()
        .map(|(bytes, samples)| (*bytes, samples.median()))
        .collect();
    let fit = CostFit::through(&times);
    let fit = fit.ok_or_else(|| Error::new(format!("{contender} took no time at all")))?;
    let noise = sizes
        .iter()
        .filter_map(|(_, samples)| samples.noise_percent());
    Ok(MediumCost {
        reach: contender.reach,
        medium: contender.medium.clone(),
        settings: contender.settings.clone(),
        fit: CostFit {
            tuple_ns: rounded(fit.tuple_ns),
            byte_ns: rounded(fit.byte_ns),
            error_percent: rounded(fit.error_percent),
        },
        latency_ns: rounded(latency.median()),
        noise_percent: noise.reduce(f64::max).map(rounded),
    })
}

/// A number with the four digits that a measurement has at most.
fn rounded(number: f64) -> f64 {
    let digits = format!("{number:.3e}");
    digits.parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn numbers_have_four_digits() {
        for (number, expected) in [
            (0.0, 0.0),
            (1234.56, 1235.0),
            (0.012_345_6, 0.012_35),
            (7.0, 7.0),
        ] {
            assert_eq!(rounded(number), expected);
        }
    }
}
