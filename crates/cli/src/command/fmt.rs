//! `thalweg fmt`: programs in the canonical layout.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Failure, colour, print, tell};
use crate::args::FmtArgs;

/// Formats every file; says which ones it could not, and goes on.
pub fn fmt(args: FmtArgs) -> Result<(), Failure> {
    if args.files.is_empty() || args.files == [PathBuf::from("-")] {
        let text = engine::bounded::read_from(std::io::stdin().lock())
            .map_err(|error| Failure::Program(format!("cannot read standard input: {error}")))?;
        return print(&formatted(Path::new("standard input"), &text)?);
    }
    let mut failed = false;
    for file in &args.files {
        match fmt_file(file, &args) {
            Ok(()) => {}
            Err(Failure::Program(message)) => {
                tell(&format!("thalweg: {message}\n"));
                failed = true;
            }
            Err(_) => failed = true,
        }
    }
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}

fn fmt_file(file: &Path, args: &FmtArgs) -> Result<(), Failure> {
    let failure = |what: &str, error: std::io::Error| {
        Failure::Program(format!("cannot {what} {}: {error}", file.display()))
    };
    if engine::is_mixed(file) {
        let file = file.display();
        let message = format!("cannot format {file}: it is Perl and SPL; format `.spl` files");
        return Err(Failure::Program(message));
    }
    let text = engine::bounded::read_text(file).map_err(|error| failure("read", error))?;
    let formatted = formatted(file, &text)?;
    if args.stdout {
        return print(&formatted);
    }
    if formatted == text {
        return Ok(());
    }
    if args.check {
        return Err(Failure::Program(format!(
            "{} is not formatted",
            file.display()
        )));
    }
    replace(file, &formatted).map_err(|error| failure("write", error))
}

/// Writes beside the file and renames, so that the program is never half written.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(".fmt");
    fs::write(&beside, text)?;
    fs::set_permissions(&beside, fs::metadata(file)?.permissions())?;
    fs::rename(&beside, file)
}

fn formatted(file: &Path, text: &str) -> Result<String, Failure> {
    engine::format(file, text).map_err(|findings| {
        tell(&findings.text(colour()));
        Failure::Reported
    })
}
