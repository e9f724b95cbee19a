//! `thalweg medium`: the media that there are, tests of a library that is one, and the library of
//! MPI.

use std::ffi::OsString;

use clap::{Args as ClapArgs, Subcommand};
use engine::{ListedCapabilities, ListedMedium};

use super::lab_command::become_lab_command;
use super::medium_build::{self, MediumBuildArgs};
use crate::failure::CommandFailure;
use crate::output::{write_stderr, write_stdout};
use crate::program::MediaPathArgs;
use crate::text_table::TextTable;

/// Arguments of `thalweg medium`.
#[derive(Debug, ClapArgs)]
pub struct MediumArgs {
    /// The sub-command to run.
    #[command(subcommand)]
    command: MediumCommand,
}

/// Sub-commands with their arguments; a doc here is the sub-command's help text.
#[derive(Debug, Subcommand)]
enum MediumCommand {
    /// List all media, what they can do, and those that cannot be used here, with the reason
    List(MediumListArgs),
    /// List the RDMA fabrics on which this host has a port: provider, fabric and device
    Fabrics,
    /// Compile the library of a medium that needs a compiler of this host: mpi, by mpicc
    Build(MediumBuildArgs),
    /// Test a library that is a medium: which behaviours it shows, and where it crashes or blocks
    Check(SuiteArgs),
}

/// Arguments of `thalweg medium list`.
#[derive(Debug, ClapArgs)]
struct MediumListArgs {
    /// Folders with libraries that are media.
    #[command(flatten)]
    media: MediaPathArgs,

    /// Print one JSON array instead of a table
    #[arg(long)]
    json: bool,
}

/// Arguments that `thalweg-conformance check` parses, help among them.
#[derive(Debug, ClapArgs)]
#[command(disable_help_flag = true)]
struct SuiteArgs {
    /// Library and options of `thalweg-conformance check`
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGS"
    )]
    args: Vec<OsString>,
}

/// Lists media or fabrics, compiles a library, or replaces this process by
/// `thalweg-conformance check ARGS`.
///
/// # Errors
/// Standard output cannot be written, there is no libfabric, the library does not compile, or there
/// is no `thalweg-conformance`.
pub fn run(args: MediumArgs) -> Result<(), CommandFailure> {
    match args.command {
        MediumCommand::List(args) => list(&args),
        MediumCommand::Fabrics => {
            let lines = engine::fabric_lines().map_err(CommandFailure::Program)?;
            if lines.is_empty() {
                write_stderr("no port of an RDMA adapter is on this host\n");
            }
            write_stdout(&lines)
        }
        MediumCommand::Build(args) => medium_build::run(&args),
        MediumCommand::Check(args) => {
            become_lab_command("thalweg-conformance", &["check"], &args.args)
        }
    }
}

fn list(args: &MediumListArgs) -> Result<(), CommandFailure> {
    let media = engine::list_media(&args.media.folders());
    let text = match args.json {
        true => format!("{:#}\n", serde_json::json!(media)),
        false => to_text(&media),
    };
    write_stdout(&text)
}

/// A table of the media that can be used, and a line for each that cannot.
fn to_text(media: &[ListedMedium]) -> String {
    let mut table = TextTable::new(&[
        "medium",
        "joins",
        "receivers",
        "cost",
        "how it works",
        "library",
    ]);
    for medium in media.iter().filter(|medium| medium.problem.is_none()) {
        let Some(capabilities) = &medium.capabilities else {
            continue;
        };
        table.add_row(vec![
            medium.name.clone().unwrap_or_default(),
            joins(capabilities).to_owned(),
            capabilities
                .receivers_max
                .map_or("any".to_owned(), |most| most.to_string()),
            cost(capabilities),
            medium.description.clone(),
            medium
                .file
                .as_ref()
                .map_or(String::new(), |file| file.display().to_string()),
        ]);
    }
    let problems = media.iter().filter_map(|medium| {
        let why = medium.problem.as_deref()?;
        let name = medium.name.as_deref().map(|name| format!("{name}: "));
        Some(format!(
            "cannot be used: {}{why}\n",
            name.unwrap_or_default()
        ))
    });
    table.to_text() + &problems.collect::<String>()
}

fn joins(capabilities: &ListedCapabilities) -> &'static str {
    match capabilities {
        ListedCapabilities {
            crosses_hosts: true,
            ..
        } => "hosts",
        ListedCapabilities {
            crosses_processes: true,
            ..
        } => "processes",
        _ => "threads",
    }
}

/// The cost that a library states.
fn cost(capabilities: &ListedCapabilities) -> String {
    match (capabilities.frame_ns, capabilities.byte_ps) {
        (Some(frame_ns), Some(byte_ps)) => format!("{frame_ns} ns + {byte_ps} ps a byte"),
        _ => "-".to_owned(),
    }
}
