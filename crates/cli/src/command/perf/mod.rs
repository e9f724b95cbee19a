//! `thalweg perf`: rates and latencies of a topic.

mod args;

use std::io::stdout;

use perf::SubscribeLimit;

use crate::failure::CommandFailure;
use args::PerfCommand;

pub use args::PerfArgs;

/// Runs one of the programs of smx_perf.
pub fn run(args: PerfArgs) -> Result<(), CommandFailure> {
    let out = &mut stdout();
    let done = match args.command {
        PerfCommand::Pub(args) => perf::publish(&args.into(), out),
        PerfCommand::Sub(args) => perf::subscribe(&args.into(), SubscribeLimit::Unlimited, out),
        PerfCommand::Jitter(args) => perf::jitter(&args.into(), out),
    };
    done.map_err(|error| match error {
        perf::Error::Option(why) => CommandFailure::Usage(why),
        error => CommandFailure::Program(error.to_string()),
    })
}
