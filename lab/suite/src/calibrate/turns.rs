//! The runs of a calibration, by turns: a machine that is busy for a while slows one turn of each
//! medium, and not all turns of one.

use control::{Error, RunArrivals, median};
use planner::MediumReach;

use super::contenders::{CalibratedMedium, CalibrationOptions};
use crate::job::SplJob;
use crate::latency::{self, RunTrips};
use crate::paired_runs::calibrate_tuples;
use crate::throughput::{throughput_plan, throughput_program};
use crate::{BenchSettings, CodecKind, RoundTripOptions, host_bench};

/// Round trips a second of latencies: few enough that each finds the machine at rest.
const TRIPS_PER_S: f64 = 1000.0;

/// Bytes of the tuples whose latencies are measured.
const TRIP_BYTES: u64 = 64;

/// Round trips of the first turn at least, of which the median is taken.
const TRIPS_MIN: u64 = 20;

/// Measurements of one medium at one size, a sample each turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples(Vec<f64>);

impl Samples {
    /// The median of all turns.
    pub fn median(&self) -> f64 {
        median(self.0.iter().copied())
    }

    /// Half the range of the turns, as percent of their median; `None`: one turn has no range.
    pub fn noise_percent(&self) -> Option<f64> {
        if self.0.len() < 2 {
            return None;
        }
        let (least, most) = self
            .0
            .iter()
            .fold((f64::MAX, 0.0), |(least, most), &sample| {
                (f64::min(least, sample), f64::max(most, sample))
            });
        Some((most - least) / 2.0 / self.median() * 100.0)
    }
}

/// Nanoseconds from a tuple to the next, by medium and size.
type Rates = Vec<Vec<(u64, Samples)>>;

/// Measures all media at all sizes. Media that need a library and fail are taken out of
/// `contenders`, and a sentence says why.
pub(super) fn measure(
    settings: &BenchSettings,
    options: &CalibrationOptions,
    contenders: &mut Vec<CalibratedMedium>,
    passed_over: &mut Vec<String>,
    progress: &mut dyn FnMut(&str),
) -> Result<Rates, Error> {
    let (mut jobs, mut measured): (Vec<Vec<RateJob>>, Vec<CalibratedMedium>) = Default::default();
    for contender in contenders.drain(..) {
        progress(&format!("{contender}: how many tuples"));
        match rate_jobs(settings, options, &contender) {
            Ok(found) => {
                jobs.push(found);
                measured.push(contender);
            }
            Err(error) if contender.may_fail => passed_over.push(format!("{contender}: {error}")),
            Err(error) => return Err(error),
        }
    }
    *contenders = measured;
    let of_sizes = || {
        options
            .sizes
            .iter()
            .map(|&size| (size, Samples::default()))
            .collect()
    };
    let mut rates: Rates = contenders.iter().map(|_| of_sizes()).collect();
    for turn in 1..=options.turns {
        for ((contender, jobs), sizes) in contenders.iter().zip(&jobs).zip(&mut rates) {
            progress(&format!("{contender}: turn {turn} of {}", options.turns));
            for (job, (_, samples)) in jobs.iter().zip(sizes) {
                samples.0.push(job.tuple_ns(settings)?);
            }
        }
    }
    Ok(rates)
}

/// A program on one medium at one size, with its number of tuples.
struct RateJob {
    job: SplJob,
    tuples: u64,
}

impl RateJob {
    /// Runs the program; the nanoseconds from a tuple to the next.
    fn tuple_ns(&self, settings: &BenchSettings) -> Result<f64, Error> {
        let run = run(&self.job, settings, self.tuples)?;
        Ok(1e9 / run.tuples_per_s)
    }
}

fn run(job: &SplJob, settings: &BenchSettings, tuples: u64) -> Result<RunArrivals, Error> {
    let output = job.run(&settings.thalweg, &[("tuples", tuples.to_string())])?;
    RunArrivals::parse_output(&output, 1)
}

/// The programs of a medium, one a size, and the number of tuples that fills a run of each.
fn rate_jobs(
    settings: &BenchSettings,
    options: &CalibrationOptions,
    contender: &CalibratedMedium,
) -> Result<Vec<RateJob>, Error> {
    let codec = CodecKind::Facade;
    let plan = match contender.reach {
        MediumReach::WithinHost => throughput_plan(contender.path, Some(codec)),
        MediumReach::BetweenHosts => host_bench::plan(contender.path, codec),
    };
    let (mut jobs, mut expected) = (Vec::new(), None);
    for &size in &options.sizes {
        let job = settings.job(&throughput_program(size), &plan)?;
        let job = job.with_hosts(&hosts(options, contender));
        let tuples = calibrate_tuples(options.seconds, expected, &mut |tuples| {
            let done = run(&job, settings, tuples)?;
            expected = Some(done.tuples_per_s);
            Ok(done)
        })?;
        jobs.push(RateJob { job, tuples });
    }
    Ok(jobs)
}

/// Values of `--host`: none within a host, or the pair by the names that plans of benchmarks have.
fn hosts(options: &CalibrationOptions, contender: &CalibratedMedium) -> Vec<String> {
    match (&options.hosts, contender.reach) {
        (Some(hosts), MediumReach::BetweenHosts) => {
            let renamed = |name: &str, host: &str| match host.split_once('=') {
                Some((_, where_to)) => format!("{name}={where_to}"),
                None => host.to_owned(),
            };
            vec![renamed("near", &hosts.near), renamed("far", &hosts.far)]
        }
        _ => Vec::new(),
    }
}

/// Measures the latencies of all media: half of the median round trip of each turn.
pub(super) fn latency_of(
    settings: &BenchSettings,
    options: &CalibrationOptions,
    contenders: &[CalibratedMedium],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Samples>, Error> {
    let trips = ((options.seconds * TRIPS_PER_S) as u64).max(TRIPS_MIN);
    let values = [
        ("tuples", trips.to_string()),
        ("rate", TRIPS_PER_S.to_string()),
    ];
    let job = |contender: &CalibratedMedium| {
        let is_far = contender.reach == MediumReach::BetweenHosts;
        let program = latency::program(TRIP_BYTES + RoundTripOptions::STAMP_BYTES, contender.path);
        let job = settings.job(&program, &latency::plan(contender.path, is_far))?;
        Ok(job.with_hosts(&hosts(options, contender)))
    };
    let jobs: Vec<SplJob> = contenders.iter().map(job).collect::<Result<_, Error>>()?;
    let mut latencies = vec![Samples::default(); contenders.len()];
    for turn in 1..=options.turns {
        for ((contender, job), samples) in contenders.iter().zip(&jobs).zip(&mut latencies) {
            progress(&format!(
                "{contender}: latency, turn {turn} of {}",
                options.turns
            ));
            let output = job.run(&settings.thalweg, &values)?;
            let run = RunTrips::parse_output(&output, trips)?;
            let trip_ns = median(run.trip_ns.iter().map(|&ns| ns as f64));
            // A round trip takes its path twice.
            samples.0.push(trip_ns / 2.0);
        }
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::Samples;

    #[test]
    fn noise_is_half_the_range() {
        let samples = Samples(vec![9.0, 10.0, 12.0]);
        assert_eq!(samples.median(), 10.0);
        assert_eq!(samples.noise_percent(), Some(15.0));
        assert_eq!(Samples(vec![4.0; 2]).noise_percent(), Some(0.0));
        assert_eq!(Samples(vec![4.0]).noise_percent(), None);
    }
}
