//! `thalweg bench`: how fast streams are here, beside raw controls, and what
//! became of it since.

mod args;
mod compare;
mod history;
mod picture;
mod report;

use std::path::PathBuf;

use measure::Outcome;
use suite::{Bench, Codec, Fanout, Length, Path, RoundTrip, Settings, Throughput};

pub use args::BenchArgs;

use super::{Failure, print, tell};
use args::{CommonArgs, TuplesArgs, Which};

/// Sizes of quick runs.
const QUICK_SIZES: [u64; 3] = [64, 1024, 16384];

impl From<suite::Error> for Failure {
    fn from(error: suite::Error) -> Failure {
        Failure::Program(error.to_string())
    }
}

/// Runs a benchmark and prints what it found.
pub fn bench(args: BenchArgs) -> Result<(), Failure> {
    let (rate, trips) = (Lengths::RATE, Lengths::TRIPS);
    match args.which {
        Which::Throughput(args) => {
            let what = throughput(args.common.quick, &args.path, &args.tuples);
            sitting(&args.common, rate, |bench| suite::throughput(bench, &what))
        }
        Which::Hosts(args) => {
            let paths = or(&args.path, &suite::HOSTS_PATHS);
            let what = throughput(args.common.quick, &paths, &args.tuples);
            sitting(&args.common, rate, |bench| suite::hosts(bench, &what))
        }
        Which::Latency(args) => {
            let quick = args.common.quick;
            let what = latency(quick, args.hosts, &args.path, &args.rate, &args.size);
            sitting(&args.common, trips, |bench| suite::latency(bench, &what))
        }
        Which::Fanout(args) => {
            let what = fanout(args.common.quick, &args.path, &args.receivers, &args.size);
            sitting(&args.common, rate, |bench| suite::fanout(bench, &what))
        }
        Which::Chain(args) => {
            let sizes = chain(args.common.quick, &args.size);
            sitting(&args.common, rate, |bench| suite::chain(bench, &sizes))
        }
        Which::Operators(args) => sitting(&args, rate, suite::operators),
        Which::Expressions(args) => sitting(&args, rate, suite::expressions),
        Which::All(args) => sitting(&args, rate, |bench| all(bench, &args)),
        Which::Compare(args) => compare::compare(&args),
        Which::Report(args) => report::report(&args),
        Which::Control(args) => Ok(suite::control::serve(&args.what)?),
    }
}

/// One after the other. Round trips take half their usual time: all of it is to be done in ten
/// minutes.
fn all(bench: &mut Bench<'_>, args: &CommonArgs) -> Result<(), suite::Error> {
    let quick = args.quick;
    let tuples = TuplesArgs::default();
    suite::throughput(bench, &throughput(quick, &[], &tuples))?;
    let far = throughput(quick, &suite::HOSTS_PATHS, &tuples);
    suite::hosts(bench, &far)?;
    suite::fanout(bench, &fanout(quick, &[], &[], &[]))?;
    suite::chain(bench, &chain(quick, &[]))?;
    suite::operators(bench)?;
    suite::expressions(bench)?;
    bench.set_length(length(args, Lengths::TRIPS_OF_ALL));
    suite::latency(bench, &latency(quick, false, &[], &[], &[]))?;
    suite::latency(bench, &latency(quick, true, &[], &[], &[]))
}

fn throughput(quick: bool, paths: &[Path], tuples: &TuplesArgs) -> Throughput {
    let usual_sizes = match quick {
        true => QUICK_SIZES.to_vec(),
        false => Throughput::report_sizes(),
    };
    Throughput {
        paths: or(paths, &Path::ALL),
        codecs: or(&tuples.codec, &Codec::ALL),
        sizes: or(&tuples.size, &usual_sizes),
    }
}

fn latency(
    quick: bool,
    between_hosts: bool,
    paths: &[Path],
    rates: &[f64],
    sizes: &[u64],
) -> RoundTrip {
    let usual_paths = match between_hosts {
        true => &suite::HOSTS_PATHS[..],
        false => &Path::ALL[..],
    };
    let (usual_rates, usual_sizes) = match quick {
        true => (&RoundTrip::RATES[..1], &RoundTrip::SIZES[..1]),
        false => (&RoundTrip::RATES[..], &RoundTrip::SIZES[..]),
    };
    RoundTrip {
        between_hosts,
        paths: or(paths, usual_paths),
        rates: or(rates, usual_rates),
        sizes: or(sizes, usual_sizes),
    }
}

fn fanout(quick: bool, paths: &[Path], receivers: &[u32], sizes: &[u64]) -> Fanout {
    let (usual_receivers, usual_sizes) = match quick {
        true => (&Fanout::RECEIVERS[..2], &Fanout::SIZES[1..2]),
        false => (&Fanout::RECEIVERS[..], &Fanout::SIZES[..]),
    };
    Fanout {
        paths: or(paths, &Fanout::PATHS),
        receivers: or(receivers, usual_receivers),
        sizes: or(sizes, usual_sizes),
    }
}

fn chain(quick: bool, sizes: &[u64]) -> Vec<u64> {
    match quick {
        true => or(sizes, &QUICK_SIZES),
        false => or(sizes, &suite::CHAIN_SIZES),
    }
}

/// What was asked for, or if that is nothing, what is usual.
fn or<T: Copy>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() { usual } else { asked }.to_vec()
}

/// Measures with these settings, tells on standard error how far it is, and prints the results.
fn sitting(
    common: &CommonArgs,
    lengths: Lengths,
    measure: impl FnOnce(&mut Bench<'_>) -> Result<(), suite::Error>,
) -> Result<(), Failure> {
    let settings = settings(common, lengths)?;
    // Before the first measurement: it would be a pity after the last.
    common.out.as_deref().map_or(Ok(()), report::prepare)?;
    if cfg!(debug_assertions) {
        tell("note: this is a build for debugging; a release build is what counts\n");
    }
    let mut progress = picture::progress();
    let mut bench = Bench::new(settings, &mut progress);
    let measured = measure(&mut bench);
    // Whatever came of the last one, the others have been measured.
    show(common, &bench.into_outcomes())?;
    Ok(measured?)
}

/// Writes and prints results.
fn show(common: &CommonArgs, outcomes: &[Outcome]) -> Result<(), Failure> {
    if let Some(out) = &common.out {
        report::write(out, outcomes)?;
    }
    if !common.json {
        return print(&picture::tables(outcomes));
    }
    let json = serde_json::to_string_pretty(outcomes);
    let json = json.map_err(|error| Failure::Program(format!("cannot print: {error}")))?;
    print(&(json + "\n"))
}

/// Seconds of a run, unless they are said.
#[derive(Clone, Copy)]
struct Lengths {
    usual: f64,
    quick: f64,
}

impl Lengths {
    /// Where tuples go as fast as they can.
    const RATE: Lengths = Lengths {
        usual: 0.2,
        quick: 0.05,
    };

    /// Where tuples go there and back at a pace: the rare ones count.
    const TRIPS: Lengths = Lengths {
        usual: 1.0,
        quick: 0.3,
    };

    /// The same where everything is measured.
    const TRIPS_OF_ALL: Lengths = Lengths {
        usual: 0.5,
        quick: 0.3,
    };
}

fn settings(common: &CommonArgs, lengths: Lengths) -> Result<Settings, Failure> {
    Ok(Settings {
        binary: own_binary()?,
        runs: common.runs.unwrap_or(if common.quick { 1 } else { 3 }),
        length: length(common, lengths),
        idle: common.idle,
        options: std::env::args().skip(2).collect::<Vec<_>>().join(" "),
    })
}

fn length(common: &CommonArgs, lengths: Lengths) -> Length {
    let usual = if common.quick {
        lengths.quick
    } else {
        lengths.usual
    };
    match common.tuples {
        Some(tuples) => Length::Tuples(tuples.into()),
        None => Length::Seconds(common.seconds.unwrap_or(usual)),
    }
}

/// This command, even if its file has been replaced meanwhile.
fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Program(format!("cannot find this command: {error}")))
}
