//! A session of measuring: the chosen benchmark, its settings, its printed results.

use measure::Outcome;
use suite::{BenchSession, BenchSettings};

use crate::args::{BenchCommand, CommonArgs, TuplesArgs};
use crate::cases::{chain_sizes, fanout_options, latency_options, or_default, throughput_options};
use crate::commands::{own_binary, thalweg_binary};
use crate::failure::BenchFailure;
use crate::output::{write_stderr, write_stdout};
use crate::paths::{check_crossing, check_hosts, paths_of};
use crate::run_lengths::{RunSeconds, run_length};
use crate::{report, result_tables};

/// Runs a benchmark and prints its results.
///
/// # Errors
/// A run fails, or results cannot be written; all results so far are printed nevertheless.
pub fn measure(command: BenchCommand) -> Result<(), BenchFailure> {
    let (rate, trips) = (RunSeconds::RATE, RunSeconds::TRIPS);
    match command {
        BenchCommand::Throughput(args) => {
            let paths = paths_of(&args.path, &args.common.media_path)?;
            let what = throughput_options(args.common.quick, &paths, &args.tuples);
            run_session(&args.common, rate, |bench| suite::throughput(bench, &what))
        }
        BenchCommand::Hosts(args) => {
            let paths = paths_of(&args.path, &args.common.media_path)?;
            check_hosts(&paths)?;
            let paths = or_default(&paths, &suite::HOSTS_PATHS);
            let what = throughput_options(args.common.quick, &paths, &args.tuples);
            run_session(&args.common, rate, |bench| suite::hosts(bench, &what))
        }
        BenchCommand::Rails(args) => {
            let sizes = or_default(&args.size, &suite::RAILS_SIZES);
            run_session(&args.common, rate, |bench| suite::rails(bench, &sizes))
        }
        BenchCommand::Latency(args) => {
            let quick = args.common.quick;
            let paths = paths_of(&args.path, &args.common.media_path)?;
            let what = latency_options(quick, args.hosts, &paths, &args.rate, &args.size);
            run_session(&args.common, trips, |bench| suite::latency(bench, &what))
        }
        BenchCommand::Fanout(args) => {
            let paths = paths_of(&args.path, &args.common.media_path)?;
            check_crossing(&paths)?;
            let what = fanout_options(args.common.quick, &paths, &args.receivers, &args.size);
            run_session(&args.common, rate, |bench| suite::fanout(bench, &what))
        }
        BenchCommand::Chain(args) => {
            let sizes = chain_sizes(args.common.quick, &args.size);
            run_session(&args.common, rate, |bench| suite::chain(bench, &sizes))
        }
        BenchCommand::Operators(args) => run_session(&args, rate, suite::operators),
        BenchCommand::Expressions(args) => run_session(&args, rate, suite::expressions),
        BenchCommand::All(args) => run_session(&args, rate, |bench| measure_all(bench, &args)),
        BenchCommand::Nexmark(args) => {
            let what = args.to_options();
            run_session(&args.common, rate, |bench| suite::nexmark(bench, &what))
        }
        BenchCommand::Vwap(args) => {
            let what = args.to_options();
            run_session(&args.common, rate, |bench| suite::vwap(bench, &what))
        }
        BenchCommand::Adapt(args) => {
            let seconds = args.seconds.unwrap_or(if args.quick { 0.5 } else { 10.0 });
            run_session(&args, rate, |bench| suite::adapt(bench, seconds))
        }
        BenchCommand::Plans(args) => {
            let what = args.to_options()?;
            run_session(&args.common, rate, |bench| suite::plans(bench, &what))
        }
        BenchCommand::Compare(_)
        | BenchCommand::Report(_)
        | BenchCommand::Control(_)
        | BenchCommand::NexmarkEvents(_) => Ok(()),
    }
}

/// Measures all benchmarks one by one. Round trips take half their usual time, so that all of it
/// takes at most ten minutes.
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

/// Runs `measure` in a session with these settings, reports progress on standard error, and prints
/// the results.
fn run_session(
    common: &CommonArgs,
    lengths: RunSeconds,
    measure: impl FnOnce(&mut BenchSession<'_>) -> Result<(), suite::Error>,
) -> Result<(), BenchFailure> {
    let settings = bench_settings(common, lengths)?;
    // Before the first measurement, since a failure after the last would lose hours.
    common.out.as_deref().map_or(Ok(()), report::prepare)?;
    if cfg!(debug_assertions) {
        write_stderr("note: this is a build for debugging; a release build is what counts\n");
    }
    let mut progress = result_tables::progress_lines();
    let mut bench = BenchSession::new(settings, &mut progress);
    let measured = measure(&mut bench);
    // If one benchmark fails, the results of those before it are still worth printing.
    publish_results(common, &bench.into_outcomes())?;
    Ok(measured?)
}

/// Writes results to the folder of `--out` and prints them as a table or as JSON.
fn publish_results(common: &CommonArgs, outcomes: &[Outcome]) -> Result<(), BenchFailure> {
    if let Some(out) = &common.out {
        report::write(out, outcomes)?;
    }
    if !common.json {
        return write_stdout(&result_tables::result_tables(outcomes));
    }
    let json = serde_json::to_string_pretty(outcomes);
    let json = json.map_err(|error| BenchFailure::Failed(format!("cannot print: {error}")))?;
    write_stdout(&(json + "\n"))
}

fn bench_settings(common: &CommonArgs, lengths: RunSeconds) -> Result<BenchSettings, BenchFailure> {
    Ok(BenchSettings {
        thalweg: thalweg_binary()?,
        binary: own_binary()?,
        runs: common.runs.unwrap_or(if common.quick { 1 } else { 3 }),
        length: run_length(common, lengths),
        idle: common.idle,
        media_path: common.media_path.clone(),
        options: std::env::args().skip(1).collect::<Vec<_>>().join(" "),
    })
}
