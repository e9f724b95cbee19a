//! `thalweg calibrate ARGS`: becomes `thalweg-bench calibrate ARGS`.

use std::ffi::OsString;

use clap::Args as ClapArgs;

use super::lab_command::become_lab_command;
use crate::failure::CommandFailure;

/// Arguments that `thalweg-bench calibrate` parses, help among them.
#[derive(Debug, ClapArgs)]
#[command(disable_help_flag = true)]
pub struct CalibrateArgs {
    /// Options of `thalweg-bench calibrate`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

/// Replaces this process by `thalweg-bench calibrate ARGS`.
///
/// # Errors
/// Always, if it returns: there is no such binary, or it cannot be started.
pub fn run(args: CalibrateArgs) -> Result<(), CommandFailure> {
    become_lab_command("thalweg-bench", &["calibrate"], &args.args)
}
