//! Round trips at a pace: figures 16 to 19 of the Streams 2.0 report.
//!
//! ```text
//!   source ==path==> relay ==path==> sink     source and sink in a PE, the relay in another
//! ```
//! Tuples carry the time at which they should have been sent, so a delay of the source is in the
//! latencies and the histogram needs no correction. The system places the three threads on the two
//! cores. The control has as many threads in as many processes, and they wait in the same way: see
//! [`control::round_trip`].

use control::pace::PaceWait;
use control::round_trip::trip_stages;
use control::{Error, median};
use measure::{LatencyHistogram, LatencyPercentiles};

use crate::bench::{BenchCase, BenchSession};
use crate::control_process::Control;
use crate::host_bench::host_pair::HostPair;
use crate::job;
use crate::paired_runs::RunLength;
use crate::schema::PayloadSchema;
use crate::{CodecKind, StreamPath, host_bench};

const PROGRAM: &str = include_str!("../programs/latency.spl");

/// The cases of the latency benchmark.
#[derive(Clone, Debug)]
pub struct RoundTripOptions {
    /// Paths between source, relay and sink.
    pub paths: Vec<StreamPath>,
    /// Tuples a second that the source offers.
    pub rates: Vec<f64>,
    /// Bytes of a tuple's attributes, eight of which are the time stamp.
    pub sizes: Vec<u64>,
    /// Whether the relay is on another host: figures 17 and 19.
    pub between_hosts: bool,
}

impl RoundTripOptions {
    /// Tuple sizes of the report, in bytes.
    pub const SIZES: [u64; 3] = [128, 256, 512];

    /// Rates of the report, in tuples a second.
    pub const RATES: [f64; 2] = [1000.0, 5000.0];

    /// Bytes of a tuple that hold its time stamp.
    pub const STAMP_BYTES: u64 = trip_stages::STAMP_BYTES as u64;
}

/// The round trips of one run, and the sum of the payloads that came back.
#[derive(Debug, PartialEq)]
pub(crate) struct RunTrips {
    pub trip_ns: Vec<u64>,
    sum: i64,
}

/// Measures every combination of path, rate and size.
///
/// # Errors
/// A run fails, or a path does not lead to other hosts though it should.
pub fn latency(bench: &mut BenchSession<'_>, what: &RoundTripOptions) -> Result<(), Error> {
    let pair = what.between_hosts.then(host_bench::make_hosts);
    for &path in &what.paths {
        if what.between_hosts {
            host_bench::check_path(path)?;
        }
        for &rate in &what.rates {
            for &size in &what.sizes {
                measure_one(bench, pair.as_ref(), path, (rate, size))?;
            }
        }
    }
    Ok(())
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    pair: Option<&Result<HostPair, String>>,
    path: StreamPath,
    (rate, size): (f64, u64),
) -> Result<(), Error> {
    let control = Control::for_path(path);
    let case = BenchCase {
        bench: if pair.is_some() {
            "hosts-latency"
        } else {
            "latency"
        },
        path: path.to_string(),
        codec: path.is_crossing().then_some(CodecKind::Facade),
        size_bytes: Some(size),
        receivers: Some(1),
        rate_offered: Some(rate),
        control: control.round_trip_description(),
        ..BenchCase::default()
    };
    let lack = match pair {
        Some(Err(why)) => Some(why.clone()),
        _ => path.missing_reason(),
    };
    if let Some(why) = lack {
        bench.add_unavailable(case, why);
        return Ok(());
    }
    let pair = pair.and_then(|pair| pair.as_ref().ok());
    let tuples = match bench.settings.length {
        RunLength::Tuples(tuples) => tuples,
        RunLength::Seconds(seconds) => ((seconds * rate) as u64).max(2),
    };
    let hosts = pair.map(host_bench::host_options);
    let job = bench.job(&program(size, path), &plan(path, pair.is_some()))?;
    let job = job.with_hosts(hosts.as_ref().map_or(&[], |hosts| &hosts[..]));
    let (thalweg, binary) = bench.settings.commands();
    let idle = bench.settings.idle.unwrap_or_default();
    let values = [("tuples", tuples.to_string()), ("rate", rate.to_string())];
    let (mut own, mut bare) = (TripSamples::default(), TripSamples::default());
    for _ in 0..bench.settings.runs {
        let command = control.round_trip_command(&binary, (size, tuples, rate), idle);
        let command = match pair {
            Some(pair) => host_bench::command_on_near(pair, &binary, &command),
            None => command,
        };
        let control = RunTrips::parse_output(&job::run_to_end(command)?, tuples)?;
        let ours = RunTrips::parse_output(&job.run(&thalweg, &values)?, tuples)?;
        if ours.sum != control.sum {
            return Err(Error::new("a sink and its control did not read the same"));
        }
        bare.add(&control);
        own.add(&ours);
    }
    let mut outcome = bench.empty_outcome(case);
    let ratios = bare
        .medians
        .iter()
        .zip(&own.medians)
        .map(|(bare, own)| bare / own);
    outcome.ratio = Some(median(ratios));
    outcome.latency_ns = own.latency();
    outcome.control_latency_ns = bare.latency();
    outcome.runs = bench.settings.runs;
    outcome.samples = own.medians;
    outcome.control_samples = bare.medians;
    bench.add_outcome(outcome);
    Ok(())
}

/// The round trips of all runs of a contender.
#[derive(Default)]
struct TripSamples {
    histogram: LatencyHistogram,
    /// Median of each run, in nanoseconds.
    medians: Vec<f64>,
}

impl TripSamples {
    fn add(&mut self, trips: &RunTrips) {
        let mut one = LatencyHistogram::new();
        trips.trip_ns.iter().for_each(|ns| one.record(*ns));
        self.medians.push(one.quantile_ns(0.5) as f64);
        self.histogram.merge(&one);
    }

    fn latency(&self) -> Option<LatencyPercentiles> {
        self.histogram.percentiles()
    }
}

impl RunTrips {
    /// Reads the output of a run: `took NANOSECONDS` for each trip, then `sum SUM`.
    pub(crate) fn parse_output(output: &str, expected: u64) -> Result<RunTrips, Error> {
        let words = output.lines().filter_map(|line| line.split_once(' '));
        let (mut took_ns, mut sum) = (Vec::new(), None);
        for (word, value) in words {
            match word {
                "took" => took_ns.extend(value.parse::<i64>().ok().map(|ns| ns.max(0) as u64)),
                "sum" => sum = value.parse().ok(),
                _ => {}
            }
        }
        let count = took_ns.len() as u64;
        match sum {
            Some(sum) if count == expected => Ok(RunTrips {
                trip_ns: took_ns,
                sum,
            }),
            _ => Err(Error::new(format!(
                "{count} of {expected} tuples came back"
            ))),
        }
    }
}

pub(crate) fn program(size: u64, path: StreamPath) -> String {
    let waiting = match path {
        StreamPath::Fused => PaceWait::Spin,
        _ => PaceWait::Sleep,
    };
    let schema = PayloadSchema::with_bytes(size - RoundTripOptions::STAMP_BYTES);
    let and = |list: String| {
        if list.is_empty() {
            list
        } else {
            format!(", {list}")
        }
    };
    PROGRAM
        .replace("%schema%", &and(schema.types()))
        .replace("%values%", &and(schema.values("n")))
        .replace("%sum%", &schema.sum("Back", "sum"))
        .replace("%awake%", &waiting.spin_ns().to_string())
}

pub(crate) fn plan(path: StreamPath, between_hosts: bool) -> String {
    let (near, far) = match between_hosts {
        true => (" host near\n", " host far\n"),
        false => ("", ""),
    };
    let medium = path.medium_words();
    match path {
        StreamPath::Fused => "pe 0\n operators *\n".to_owned(),
        StreamPath::Threaded => "pe 0\n operators *\n queue Back.0\n queue Sink.0\n".to_owned(),
        _ => format!(
            "pe 0\n operators Data Sink\n{near}pe 1\n operators Back\n{far}\
             crossing Data.0 -> pe 1 on {medium} codec facade\n\
             crossing Back.0 -> pe 0 on {medium} codec facade\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_read_whole_or_refused() {
        let trips = RunTrips {
            trip_ns: vec![5, 0],
            sum: -3,
        };
        let output = "took 5\nother\ntook -1\nsum -3\n";
        assert_eq!(RunTrips::parse_output(output, 2).unwrap(), trips);
        assert!(RunTrips::parse_output(output, 3).is_err());
        assert!(RunTrips::parse_output("took 5\n", 1).is_err());
    }
}
