//! The command line of `thalweg-conformance`, which users call as `thalweg medium`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

/// Test a library that is a medium against the rules of thalweg_medium.h
#[derive(Debug, Parser)]
#[command(name = "thalweg medium", version, max_term_width = 100)]
pub struct ConformanceCommandLine {
    /// The sub-command to run.
    #[command(subcommand)]
    pub command: ConformanceCommand,
}

/// Sub-commands with their arguments; a doc here is the sub-command's help text.
#[derive(Debug, Subcommand)]
pub enum ConformanceCommand {
    /// Run the conformance suite against a library, and say which behaviours it does not show
    Check(MediumCheckArgs),
    /// Print the names of the behaviours that a library's capabilities promise
    #[command(hide = true)]
    List(ListArgs),
    /// Test one behaviour of a library in this process
    #[command(hide = true)]
    Test(TestArgs),
}

/// Arguments of the sub-command `check`.
#[derive(Debug, Args)]
pub struct MediumCheckArgs {
    /// The library, a file such as ./libthalweg_medium_pipe.so
    pub library: PathBuf,

    /// Test only the behaviours whose names contain this
    #[arg(long, value_name = "PART")]
    pub only: Option<String>,

    /// Most seconds that a step of a behaviour may take before it fails
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub timeout: Duration,

    /// Most seconds that a behaviour may take before its process is killed
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub deadline: Duration,

    /// Command that starts ranks, for a library that joins ranks, as in `mpirun -n 3`. Without it,
    /// behaviours between processes are passed over
    #[arg(long, value_name = "COMMAND")]
    pub launcher: Option<String>,

    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

/// Arguments of the sub-command `list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The library, a file
    pub library: PathBuf,
}

/// Arguments of the sub-command `test`.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// The library, a file
    pub library: PathBuf,

    /// Name of the behaviour
    pub name: String,

    /// Most milliseconds that a step may take
    pub timeout_ms: u64,

    /// Socket on which rank 0 gives roles to the other ranks, if the processes are ranks
    pub rank_socket: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "must be a number of seconds above 0".to_owned())
}
