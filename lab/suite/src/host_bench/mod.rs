//! Throughput from one source to one sink on two hosts: tables 2 and 4 of the Streams 2.0 report.
//!
//! ```text
//!   near                                far
//!     Beacon ==1 Gbit/s, rum or tcp==>   Custom that reads every attribute
//! ```

pub(crate) mod host_pair;
mod rails;

use std::path::Path as FilePath;
use std::process::Command;

use control::{Error, RunArrivals, cores};
use host_pair::HostPair;

pub use rails::{RAILS_SIZES, rails};

use crate::bench::{BenchCase, BenchSession, run_control};
use crate::control_process::Control;
use crate::throughput::{ThroughputOptions, throughput_program};
use crate::{CodecKind, StreamPath};

/// Paths to other hosts that are measured unless others are named.
pub const HOSTS_PATHS: [StreamPath; 2] = [StreamPath::Rum, StreamPath::Tcp];

/// Measures every combination of path, codec and size between two hosts.
///
/// # Errors
/// A run fails, or a path does not lead to other hosts.
pub fn hosts(bench: &mut BenchSession<'_>, what: &ThroughputOptions) -> Result<(), Error> {
    let pair = make_hosts();
    for &path in &what.paths {
        check_path(path)?;
        for &codec in &what.codecs {
            for &size in &what.sizes {
                measure_one(bench, &pair, path, codec, size)?;
            }
        }
    }
    Ok(())
}

/// Both hosts, or the reason why there are none.
pub(crate) fn make_hosts() -> Result<HostPair, String> {
    match cores::missing_reason() {
        Some(why) => Err(why),
        None => HostPair::new(),
    }
}

/// Checks that a path leads to other hosts.
///
/// # Errors
/// The path stays on its host.
pub(crate) fn check_path(path: StreamPath) -> Result<(), Error> {
    match path.leads_to_hosts() {
        true => Ok(()),
        false => Err(Error::new(format!("{path} does not lead to other hosts"))),
    }
}

fn measure_one(
    bench: &mut BenchSession<'_>,
    pair: &Result<HostPair, String>,
    path: StreamPath,
    codec: CodecKind,
    size: u64,
) -> Result<(), Error> {
    let control = Control::for_path(path);
    let case = BenchCase {
        bench: "hosts",
        path: path.to_string(),
        codec: Some(codec),
        size_bytes: Some(size),
        receivers: Some(1),
        control: control.description(),
        seconds_min: control.seconds_min(),
        ..BenchCase::default()
    };
    let pair = match (pair, path.missing_reason()) {
        (Ok(pair), None) => pair,
        (Err(why), _) => {
            bench.add_unavailable(case, why.clone());
            return Ok(());
        }
        (Ok(_), Some(why)) => {
            bench.add_unavailable(case, why);
            return Ok(());
        }
    };
    let job = bench
        .job(&throughput_program(size), &plan(path, codec))?
        .with_hosts(&host_options(pair));
    let (thalweg, binary) = bench.settings.commands();
    let mut ours = |tuples: u64| {
        let output = job.run(&thalweg, &[("tuples", tuples.to_string())])?;
        RunArrivals::parse_output(&output, 1)
    };
    let mut bare = |tuples| {
        let command = command_on_near(
            pair,
            &binary,
            &control.throughput_command(&binary, size, tuples, 1),
        );
        run_control(command, 1)
    };
    bench.measure_case(case, &mut ours, &mut bare)
}

/// The hosts as values of `--host`.
pub(crate) fn host_options(pair: &HostPair) -> [String; 2] {
    [("near", &pair.near), ("far", &pair.far)].map(|(name, host)| {
        let prefix = host.prefix().join(",");
        format!("{name}={},{prefix}", host.address)
    })
}

/// The command that runs a control on the near host, whose other side it starts on the far one.
pub(crate) fn command_on_near(pair: &HostPair, binary: &FilePath, control: &Command) -> Command {
    let mut command = pair.near.command(&binary.to_string_lossy());
    command.args(control.get_args());
    command.args([pair.near.address, &pair.far.path()]);
    command
}

/// The plan of the program of throughputs, with the source on the host `near` and the sink on
/// `far`.
pub(crate) fn plan(path: StreamPath, codec: CodecKind) -> String {
    let ((source, sink), codec) = (cores::pair(), codec.name());
    let medium = path.medium_words();
    format!(
        "pe 0\n operators Data\n host near\n cores {source}\n\
         pe 1\n operators Sink\n host far\n cores {sink}\n\
         crossing Data.0 -> pe 1 on {medium} codec {codec}\n"
    )
}
