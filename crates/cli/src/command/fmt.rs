//! `thalweg fmt`: writes programs in the canonical layout.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args as ClapArgs;

use crate::failure::CommandFailure;
use crate::file_search::files_of;
use crate::output::{write_findings, write_stderr, write_stdout};

/// Arguments of `thalweg fmt`.
#[derive(Debug, ClapArgs)]
pub struct FmtArgs {
    /// The files; for a folder, all `.spl` files below it; `-` or none for standard input
    pub files: Vec<PathBuf>,

    /// Change nothing; fail if a file is not in the canonical layout
    #[arg(long)]
    pub check: bool,

    /// Print the result instead of writing it back
    #[arg(long, conflicts_with = "check")]
    pub stdout: bool,
}

/// Formats every file. A file that fails is reported, and the others are still formatted.
pub fn run(args: FmtArgs) -> Result<(), CommandFailure> {
    let standard_input = [PathBuf::from("-")];
    let files = match &args.files[..] {
        [] => &standard_input[..],
        files => files,
    };
    let files = files_of(files, is_spl, "`.spl` file")?;
    let mut failed = false;
    for file in &files {
        let done = match file.as_os_str() == "-" {
            true => fmt_input(&args),
            false => fmt_file(file, &args),
        };
        match done {
            Ok(()) => {}
            Err(CommandFailure::Program(message)) => {
                write_stderr(&format!("thalweg: {message}\n"));
                failed = true;
            }
            Err(_) => failed = true,
        }
    }
    if failed {
        Err(CommandFailure::Reported)
    } else {
        Ok(())
    }
}

/// Formats standard input to standard output, or only compares.
fn fmt_input(args: &FmtArgs) -> Result<(), CommandFailure> {
    let name = Path::new("standard input");
    let text = engine::bounded::read_from(std::io::stdin().lock()).map_err(|error| {
        CommandFailure::Program(format!("cannot read {}: {error}", name.display()))
    })?;
    let formatted = formatted(name, &text)?;
    match args.check {
        true => compare(name, &text, &formatted),
        false => write_stdout(&formatted),
    }
}

fn fmt_file(file: &Path, args: &FmtArgs) -> Result<(), CommandFailure> {
    let failure = |what: &str, error: std::io::Error| {
        CommandFailure::Program(format!("cannot {what} {}: {error}", file.display()))
    };
    if engine::is_mixed(file) {
        let file = file.display();
        let message = format!("cannot format {file}: it is Perl and SPL; format `.spl` files");
        return Err(CommandFailure::Program(message));
    }
    let text = engine::bounded::read_text(file).map_err(|error| failure("read", error))?;
    let formatted = formatted(file, &text)?;
    if args.stdout {
        return write_stdout(&formatted);
    }
    if args.check {
        return compare(file, &text, &formatted);
    }
    if formatted == text {
        return Ok(());
    }
    replace(file, &formatted).map_err(|error| failure("write", error))
}

/// Fails unless a text is in the canonical layout.
fn compare(name: &Path, text: &str, formatted: &str) -> Result<(), CommandFailure> {
    match text == formatted {
        true => Ok(()),
        false => Err(CommandFailure::Program(format!(
            "{} is not formatted",
            name.display()
        ))),
    }
}

/// Writes a new file and renames it, so that the program is never half written.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".fmt");
    fs::write(&beside, text)?;
    fs::set_permissions(&beside, fs::metadata(file)?.permissions())?;
    fs::rename(&beside, file)
}

fn formatted(file: &Path, text: &str) -> Result<String, CommandFailure> {
    engine::format(file, text).map_err(|findings| {
        write_findings(&findings);
        CommandFailure::Reported
    })
}

/// Whether a file is one that can be formatted, by its name.
fn is_spl(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "spl")
}
