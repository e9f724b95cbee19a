//! `thalweg bench`: how fast streams are here, beside raw controls, and what
//! became of it since.

mod args;
mod compare;
mod history;
mod picture;
mod report;

use std::path::PathBuf;

use suite::{Bench, Codec, Length, Path, Settings, Throughput};

pub use args::BenchArgs;

use super::{Failure, print};
use args::{CommonArgs, ThroughputArgs, Which};

/// Sizes of quick runs.
const QUICK_SIZES: [u64; 2] = [64, 1024];

impl From<suite::Error> for Failure {
    fn from(error: suite::Error) -> Failure {
        Failure::Program(error.to_string())
    }
}

/// Runs a benchmark and prints what it found.
pub fn bench(args: BenchArgs) -> Result<(), Failure> {
    match args.which {
        Which::Throughput(args) => {
            let common = args.common.clone();
            sitting(&common, |bench| suite::throughput(bench, &throughput(args)))
        }
        Which::Compare(args) => compare::compare(&args),
        Which::Report(args) => report::report(&args),
        Which::Control(args) => Ok(suite::control::serve(&args.what)?),
    }
}

fn throughput(args: ThroughputArgs) -> Throughput {
    let is_quick = args.common.quick;
    Throughput {
        paths: or(args.path, || Path::ALL.to_vec()),
        codecs: or(args.codec, || Codec::ALL.to_vec()),
        sizes: or(args.size, || match is_quick {
            true => QUICK_SIZES.to_vec(),
            false => Throughput::report_sizes(),
        }),
    }
}

/// What was asked for, or if that is nothing, what is the rule.
fn or<T>(asked: Vec<T>, rule: impl FnOnce() -> Vec<T>) -> Vec<T> {
    if asked.is_empty() { rule() } else { asked }
}

/// Measures with these settings, tells on standard error how far it is, and prints the results.
fn sitting(
    common: &CommonArgs,
    measure: impl FnOnce(&mut Bench<'_>) -> Result<(), suite::Error>,
) -> Result<(), Failure> {
    let settings = settings(common)?;
    if cfg!(debug_assertions) {
        eprintln!("note: this is a build for debugging; a release build is what counts");
    }
    let mut progress = picture::progress();
    let mut bench = Bench::new(settings, &mut progress);
    measure(&mut bench)?;
    let outcomes = bench.into_outcomes();
    if let Some(out) = &common.out {
        report::write(out, &outcomes)?;
    }
    match common.json {
        true => {
            let json = serde_json::to_string_pretty(&outcomes);
            let json = json.map_err(|error| Failure::Program(format!("cannot print: {error}")))?;
            print(&(json + "\n"))
        }
        false => print(&picture::tables(&outcomes)),
    }
}

fn settings(common: &CommonArgs) -> Result<Settings, Failure> {
    let (runs, seconds) = if common.quick { (1, 0.05) } else { (3, 0.2) };
    Ok(Settings {
        binary: own_binary()?,
        runs: common.runs.unwrap_or(runs),
        length: match common.tuples {
            Some(tuples) => Length::Tuples(tuples.into()),
            None => Length::Seconds(common.seconds.unwrap_or(seconds)),
        },
        options: std::env::args().skip(2).collect::<Vec<_>>().join(" "),
    })
}

/// This command, even if its file has been replaced meanwhile.
fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .map_err(|error| Failure::Program(format!("cannot find this command: {error}")))
}
