//! `thalweg profile`: merging profiles that `thalweg run --profile` has written.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use engine::Profile;

use crate::failure::CommandFailure;
use crate::output::write_stdout;
use crate::output_file::OutputFile;

/// Arguments of `thalweg profile`.
#[derive(Debug, ClapArgs)]
pub struct ProfileArgs {
    /// The sub-command to run.
    #[command(subcommand)]
    command: ProfileCommand,
}

/// Sub-commands with their arguments; a doc here is the sub-command's help text.
#[derive(Debug, Subcommand)]
enum ProfileCommand {
    /// Add up profiles of runs of one program on one machine
    Merge(MergeArgs),
}

/// Arguments of `thalweg profile merge`.
#[derive(Debug, ClapArgs)]
struct MergeArgs {
    /// Files of profiles, of which the first says the program and the machine
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Runs the sub-command that was asked for.
pub fn run(args: ProfileArgs) -> Result<(), CommandFailure> {
    let ProfileCommand::Merge(args) = args.command;
    let mut sum: Option<Profile> = None;
    for file in &args.files {
        let profile = engine::load_profile(file)?.profile;
        match &mut sum {
            None => sum = Some(profile),
            Some(sum) => sum.merge(&profile).map_err(|error| {
                let (first, file) = (args.files[0].display(), file.display());
                CommandFailure::Program(format!("cannot merge {file} with {first}: {error}"))
            })?,
        }
    }
    let text = sum.unwrap_or_default().to_text();
    match args.out {
        Some(file) => OutputFile::create(&file)?.write(&text),
        None => write_stdout(&text),
    }
}
