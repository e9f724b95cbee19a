//! `thalweg bench`: how fast streams are here, beside raw controls, and what
//! became of it since.

mod args;
mod compare;
mod history;
mod report;
mod result_tables;

use std::path::PathBuf;

use measure::Outcome;
use suite::{
    BenchSession, BenchSettings, CodecKind, FanoutOptions, RoundTripOptions, RunLength, StreamPath,
    ThroughputOptions,
};

pub use args::BenchArgs;

use super::{CommandFailure, write_stderr, write_stdout};
use args::{BenchCommand, CommonArgs, TuplesArgs};

/// Sizes of quick runs.
const QUICK_SIZES: [u64; 3] = [64, 1024, 16384];

impl From<suite::Error> for CommandFailure {
    fn from(error: suite::Error) -> CommandFailure {
        CommandFailure::Program(error.to_string())
    }
}

/// Runs a benchmark and prints what it found.
pub fn bench(args: BenchArgs) -> Result<(), CommandFailure> {
    let (rate, trips) = (RunSeconds::RATE, RunSeconds::TRIPS);
    match args.command {
        BenchCommand::Throughput(args) => {
            let what = throughput_options(args.common.quick, &args.path, &args.tuples);
            run_session(&args.common, rate, |bench| suite::throughput(bench, &what))
        }
        BenchCommand::Hosts(args) => {
            let paths = or_default(&args.path, &suite::HOSTS_PATHS);
            let what = throughput_options(args.common.quick, &paths, &args.tuples);
            run_session(&args.common, rate, |bench| suite::hosts(bench, &what))
        }
        BenchCommand::Latency(args) => {
            let quick = args.common.quick;
            let what = latency_options(quick, args.hosts, &args.path, &args.rate, &args.size);
            run_session(&args.common, trips, |bench| suite::latency(bench, &what))
        }
        BenchCommand::Fanout(args) => {
            let what = fanout_options(args.common.quick, &args.path, &args.receivers, &args.size);
            run_session(&args.common, rate, |bench| suite::fanout(bench, &what))
        }
        BenchCommand::Chain(args) => {
            let sizes = chain_sizes(args.common.quick, &args.size);
            run_session(&args.common, rate, |bench| suite::chain(bench, &sizes))
        }
        BenchCommand::Operators(args) => run_session(&args, rate, suite::operators),
        BenchCommand::Expressions(args) => run_session(&args, rate, suite::expressions),
        BenchCommand::All(args) => run_session(&args, rate, |bench| measure_all(bench, &args)),
        BenchCommand::Compare(args) => compare::compare(&args),
        BenchCommand::Report(args) => report::report(&args),
        BenchCommand::Control(args) => Ok(suite::control::serve(&args.what)?),
    }
}

/// One after the other. Round trips take half their usual time: all of it is to be done in ten
/// minutes.
fn measure_all(bench: &mut BenchSession<'_>, args: &CommonArgs) -> Result<(), suite::Error> {
    let quick = args.quick;
    let tuples = TuplesArgs::default();
    suite::throughput(bench, &throughput_options(quick, &[], &tuples))?;
    let far = throughput_options(quick, &suite::HOSTS_PATHS, &tuples);
    suite::hosts(bench, &far)?;
    suite::fanout(bench, &fanout_options(quick, &[], &[], &[]))?;
    suite::chain(bench, &chain_sizes(quick, &[]))?;
    suite::operators(bench)?;
    suite::expressions(bench)?;
    bench.set_length(run_length(args, RunSeconds::TRIPS_IN_ALL));
    suite::latency(bench, &latency_options(quick, false, &[], &[], &[]))?;
    suite::latency(bench, &latency_options(quick, true, &[], &[], &[]))
}

fn throughput_options(quick: bool, paths: &[StreamPath], tuples: &TuplesArgs) -> ThroughputOptions {
    let usual_sizes = match quick {
        true => QUICK_SIZES.to_vec(),
        false => ThroughputOptions::report_sizes(),
    };
    ThroughputOptions {
        paths: or_default(paths, &StreamPath::ALL),
        codecs: or_default(&tuples.codec, &CodecKind::ALL),
        sizes: or_default(&tuples.size, &usual_sizes),
    }
}

fn latency_options(
    quick: bool,
    between_hosts: bool,
    paths: &[StreamPath],
    rates: &[f64],
    sizes: &[u64],
) -> RoundTripOptions {
    let usual_paths = match between_hosts {
        true => &suite::HOSTS_PATHS[..],
        false => &StreamPath::ALL[..],
    };
    let (usual_rates, usual_sizes) = match quick {
        true => (&RoundTripOptions::RATES[..1], &RoundTripOptions::SIZES[..1]),
        false => (&RoundTripOptions::RATES[..], &RoundTripOptions::SIZES[..]),
    };
    RoundTripOptions {
        between_hosts,
        paths: or_default(paths, usual_paths),
        rates: or_default(rates, usual_rates),
        sizes: or_default(sizes, usual_sizes),
    }
}

fn fanout_options(
    quick: bool,
    paths: &[StreamPath],
    receivers: &[u32],
    sizes: &[u64],
) -> FanoutOptions {
    let (usual_receivers, usual_sizes) = match quick {
        true => (&FanoutOptions::RECEIVERS[..2], &FanoutOptions::SIZES[1..2]),
        false => (&FanoutOptions::RECEIVERS[..], &FanoutOptions::SIZES[..]),
    };
    FanoutOptions {
        paths: or_default(paths, &FanoutOptions::PATHS),
        receivers: or_default(receivers, usual_receivers),
        sizes: or_default(sizes, usual_sizes),
    }
}

fn chain_sizes(quick: bool, sizes: &[u64]) -> Vec<u64> {
    match quick {
        true => or_default(sizes, &QUICK_SIZES),
        false => or_default(sizes, &suite::CHAIN_SIZES),
    }
}

/// What was asked for, or if that is nothing, what is usual.
fn or_default<T: Copy>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() { usual } else { asked }.to_vec()
}

/// Measures with these settings, tells on standard error how far it is, and prints the results.
fn run_session(
    common: &CommonArgs,
    lengths: RunSeconds,
    measure: impl FnOnce(&mut BenchSession<'_>) -> Result<(), suite::Error>,
) -> Result<(), CommandFailure> {
    let settings = bench_settings(common, lengths)?;
    // Before the first measurement: it would be a pity after the last.
    common.out.as_deref().map_or(Ok(()), report::prepare)?;
    if cfg!(debug_assertions) {
        write_stderr("note: this is a build for debugging; a release build is what counts\n");
    }
    let mut progress = result_tables::progress_lines();
    let mut bench = BenchSession::new(settings, &mut progress);
    let measured = measure(&mut bench);
    // Whatever came of the last one, the others have been measured.
    publish_results(common, &bench.into_outcomes())?;
    Ok(measured?)
}

/// Writes and prints results.
fn publish_results(common: &CommonArgs, outcomes: &[Outcome]) -> Result<(), CommandFailure> {
    if let Some(out) = &common.out {
        report::write(out, outcomes)?;
    }
    if !common.json {
        return write_stdout(&result_tables::result_tables(outcomes));
    }
    let json = serde_json::to_string_pretty(outcomes);
    let json = json.map_err(|error| CommandFailure::Program(format!("cannot print: {error}")))?;
    write_stdout(&(json + "\n"))
}

/// Seconds of a run, unless they are said.
#[derive(Clone, Copy)]
struct RunSeconds {
    usual: f64,
    quick: f64,
}

impl RunSeconds {
    /// Where tuples go as fast as they can.
    const RATE: RunSeconds = RunSeconds {
        usual: 0.2,
        quick: 0.05,
    };

    /// Where tuples go there and back at a pace: the rare ones count.
    const TRIPS: RunSeconds = RunSeconds {
        usual: 1.0,
        quick: 0.3,
    };

    /// The same where everything is measured.
    const TRIPS_IN_ALL: RunSeconds = RunSeconds {
        usual: 0.5,
        quick: 0.3,
    };
}

fn bench_settings(
    common: &CommonArgs,
    lengths: RunSeconds,
) -> Result<BenchSettings, CommandFailure> {
    Ok(BenchSettings {
        binary: own_binary()?,
        runs: common.runs.unwrap_or(if common.quick { 1 } else { 3 }),
        length: run_length(common, lengths),
        idle: common.idle,
        options: std::env::args().skip(2).collect::<Vec<_>>().join(" "),
    })
}

fn run_length(common: &CommonArgs, lengths: RunSeconds) -> RunLength {
    let usual = if common.quick {
        lengths.quick
    } else {
        lengths.usual
    };
    match common.tuples {
        Some(tuples) => RunLength::Tuples(tuples.into()),
        None => RunLength::Seconds(common.seconds.unwrap_or(usual)),
    }
}

/// This command, even if its file has been replaced meanwhile.
fn own_binary() -> Result<PathBuf, CommandFailure> {
    std::env::current_exe()
        .map_err(|error| CommandFailure::Program(format!("cannot find this command: {error}")))
}
