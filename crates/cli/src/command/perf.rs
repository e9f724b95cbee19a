//! `thalweg perf ARGS`: becomes `thalweg-bench perf ARGS`.

use std::ffi::OsString;

use clap::Args as ClapArgs;

use super::lab_command::become_lab_command;
use crate::failure::CommandFailure;

/// Arguments that `thalweg-bench` parses, help among them.
#[derive(Debug, ClapArgs)]
#[command(disable_help_flag = true)]
pub struct PerfArgs {
    /// Sub-command and options of `thalweg-bench perf`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

/// Replaces this process by `thalweg-bench perf ARGS`.
///
/// # Errors
/// Always, if it returns: there is no such binary, or it cannot be started.
pub fn run(args: PerfArgs) -> Result<(), CommandFailure> {
    become_lab_command("thalweg-bench", &["perf"], &args.args)
}
