//! `thalweg perf`: rates and latencies of a topic.

use std::io::stdout;

use perf::SubscribeLimit;

use crate::failure::BenchFailure;
use crate::perf_args::PerfCommand;

/// Runs one of smx_perf's programs.
///
/// # Errors
/// An option is wrong, or the program fails.
pub fn perf(command: PerfCommand) -> Result<(), BenchFailure> {
    let out = &mut stdout();
    let done = match command {
        PerfCommand::Pub(args) => perf::publish(&args.into(), out),
        PerfCommand::Sub(args) => perf::subscribe(&args.into(), SubscribeLimit::Unlimited, out),
        PerfCommand::Jitter(args) => perf::jitter(&args.into(), out),
    };
    done.map_err(|error| match error {
        perf::Error::Option(why) => BenchFailure::Usage(why),
        error => BenchFailure::Failed(error.to_string()),
    })
}
