//! `thalweg perf`: rates and latencies of a topic.

use std::io::stdout;

use perf::Until;

use super::Failure;
use crate::args::{PerfArgs, PerfCommand};

/// Runs one of the programs.
pub fn perf(args: PerfArgs) -> Result<(), Failure> {
    let out = &mut stdout();
    let done = match args.command {
        PerfCommand::Pub(args) => perf::publish(&args.into(), out),
        PerfCommand::Sub(args) => perf::subscribe(&args.into(), Until::Killed, out),
        PerfCommand::Jitter(args) => perf::jitter(&args.into(), out),
    };
    done.map_err(|error| match error {
        perf::Error::Option(why) => Failure::Usage(why),
        error => Failure::Program(error.to_string()),
    })
}
