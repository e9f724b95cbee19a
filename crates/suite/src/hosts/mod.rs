//! One source, one sink, on two hosts: tables 2 and 4 of the Streams 2.0 report.
//!
//! ```text
//!   near                                far
//!     Beacon ==1 Gbit/s, rum or tcp==>   Custom that reads every attribute
//! ```

pub(crate) mod pair;

use std::path::Path as FilePath;
use std::process::Command;

use crate::arrivals::Run;
use crate::bench::{Bench, Question, run_control};
use crate::control::Control;
use crate::throughput::{Throughput, program};
use crate::{Codec, Error, Path, cores};
use pair::Pair;

/// Paths that lead to other hosts.
pub const HOSTS_PATHS: [Path; 2] = [Path::Rum, Path::Tcp];

/// Measures it.
///
/// # Errors
/// A run fails, or a path does not lead to other hosts.
pub fn hosts(bench: &mut Bench<'_>, what: &Throughput) -> Result<(), Error> {
    let pair = both();
    for &path in &what.paths {
        check(path)?;
        for &codec in &what.codecs {
            for &size in &what.sizes {
                one(bench, &pair, path, codec, size)?;
            }
        }
    }
    Ok(())
}

/// Both hosts, or why there are none.
pub(crate) fn both() -> Result<Pair, String> {
    match cores::lack() {
        Some(why) => Err(why),
        None => Pair::new(),
    }
}

/// Whether a path leads to other hosts.
///
/// # Errors
/// That it does not.
pub(crate) fn check(path: Path) -> Result<(), Error> {
    match HOSTS_PATHS.contains(&path) {
        true => Ok(()),
        false => Err(Error::new(format!("{path} does not lead to other hosts"))),
    }
}

fn one(
    bench: &mut Bench<'_>,
    pair: &Result<Pair, String>,
    path: Path,
    codec: Codec,
    size: u64,
) -> Result<(), Error> {
    let control = Control::of(path);
    let question = Question {
        bench: "hosts",
        path: path.to_string(),
        codec: Some(codec),
        size_bytes: Some(size),
        receivers: Some(1),
        control: control.what(),
        seconds_min: control.seconds_min(),
        ..Question::default()
    };
    let pair = match pair {
        Ok(pair) => pair,
        Err(why) => {
            bench.unavailable(question, why.clone());
            return Ok(());
        }
    };
    let job = bench
        .job(&program(size), &plan(path, codec))?
        .on_hosts(&hosts_of(pair));
    let binary = bench.settings.binary.clone();
    let mut ours = |tuples: u64| {
        let output = job.run(&binary, &[("tuples", tuples.to_string())])?;
        Run::read(&output, 1)
    };
    let mut bare = |tuples| {
        let command = on_near(pair, &binary, &control.throughput(&binary, size, tuples, 1));
        run_control(command, 1)
    };
    bench.contest(question, &mut ours, &mut bare)
}

/// As `--host` takes them.
pub(crate) fn hosts_of(pair: &Pair) -> [String; 2] {
    [("near", &pair.near), ("far", &pair.far)].map(|(name, host)| {
        let prefix = host.prefix().join(",");
        format!("{name}={},{prefix}", host.address)
    })
}

/// A control on the near host; it starts its other side on the far one.
pub(crate) fn on_near(pair: &Pair, binary: &FilePath, control: &Command) -> Command {
    let mut command = pair.near.command(&binary.to_string_lossy());
    command.args(control.get_args());
    command.args([pair.near.address, &pair.far.path()]);
    command
}

fn plan(path: Path, codec: Codec) -> String {
    let ((source, sink), codec) = (cores::pair(), codec.name());
    format!(
        "pe 0\n operators Data\n host near\n cores {source}\n\
         pe 1\n operators Sink\n host far\n cores {sink}\n\
         crossing Data.0 -> pe 1 on {path} codec {codec}\n"
    )
}
