//! `thalweg man`: manual pages, made from the options of the command line.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Command};
use clap_mangen::Man;

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Arguments of `thalweg man`.
#[derive(Debug, ClapArgs)]
pub struct ManArgs {
    /// The sub-command, as in `plan draw`; without one, the page of the command
    #[arg(value_name = "COMMAND")]
    pub names: Vec<String>,

    /// Write the pages of the command and all sub-commands to this folder: `thalweg.1`,
    /// `thalweg-run.1`...
    #[arg(long, value_name = "DIR", conflicts_with = "names")]
    pub out: Option<PathBuf>,
}

/// Prints a page, or writes all of them.
pub fn run(args: ManArgs, mut command_line: Command) -> Result<(), CommandFailure> {
    // Names of pages and options of all sub-commands are there once the command is built.
    command_line.build();
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).map_err(|error| failure("create", folder, error))?;
        return write_pages(&command_line, folder);
    }
    let mut command = &command_line;
    for name in &args.names {
        let found = command.find_subcommand(name);
        command = found.ok_or_else(|| no_such_command(command, name))?;
    }
    write_stdout(&page(command))
}

/// Writes the page of a command and of all below it.
fn write_pages(command: &Command, folder: &Path) -> Result<(), CommandFailure> {
    let file = folder.join(format!("{}.1", page_name(command)));
    fs::write(&file, page(command)).map_err(|error| failure("write", &file, error))?;
    let is_own = |sub: &&Command| sub.get_name() != "help";
    let mut below = command.get_subcommands().filter(is_own);
    below.try_for_each(|sub| write_pages(sub, folder))
}

/// The name of a command's page: `thalweg-plan-draw`.
fn page_name(command: &Command) -> &str {
    command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
}

/// The page of a command, in the language of roff.
fn page(command: &Command) -> String {
    let mut text = Vec::new();
    let man = Man::new(command.clone());
    let man = man.source(concat!("thalweg ", env!("CARGO_PKG_VERSION")));
    // Writing to memory does not fail.
    let _ = man.render(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn failure(what: &str, path: &Path, error: std::io::Error) -> CommandFailure {
    CommandFailure::Program(format!("cannot {what} {}: {error}", path.display()))
}

fn no_such_command(command: &Command, name: &str) -> CommandFailure {
    let names = command.get_subcommands().map(Command::get_name);
    let names: Vec<_> = names.filter(|name| *name != "help").collect();
    CommandFailure::Usage(match names.is_empty() {
        true => format!("`{}` has no sub-commands", page_name(command)),
        false => format!(
            "there is no sub-command `{name}`; there are {}",
            names.join(", ")
        ),
    })
}
