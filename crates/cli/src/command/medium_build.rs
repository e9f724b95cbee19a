//! `thalweg medium build`: compiles the library of the medium `mpi`.
//!
//! The binary interface of MPI differs between its makers, so the library is compiled where it is
//! used, by the compiler wrapper of the MPI that starts the ranks. The source is part of this
//! program.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Args as ClapArgs, ValueEnum};

use crate::failure::CommandFailure;
use crate::output::write_stdout;

/// Source of the library.
const SOURCE: &str = include_str!("../../../plugin/media/mpi.c");

/// Files that the source includes, by the names that it has for them.
const PARTS: [(&str, &str); 8] = [
    (
        "thalweg_medium.h",
        include_str!("../../../plugin/include/thalweg_medium.h"),
    ),
    ("mpi/job.c", include_str!("../../../plugin/media/mpi/job.c")),
    (
        "mpi/peer.c",
        include_str!("../../../plugin/media/mpi/peer.c"),
    ),
    (
        "mpi/sender.c",
        include_str!("../../../plugin/media/mpi/sender.c"),
    ),
    (
        "mpi/receiver.c",
        include_str!("../../../plugin/media/mpi/receiver.c"),
    ),
    (
        "mpi/receiver_calls.c",
        include_str!("../../../plugin/media/mpi/receiver_calls.c"),
    ),
    (
        "mpi/rounds.c",
        include_str!("../../../plugin/media/mpi/rounds.c"),
    ),
    (
        "mpi/membership.c",
        include_str!("../../../plugin/media/mpi/membership.c"),
    ),
];

/// Arguments of `thalweg medium build`.
#[derive(Debug, ClapArgs)]
pub struct MediumBuildArgs {
    /// Medium whose library is compiled
    medium: BuiltMedium,

    /// The folder for the library, libthalweg_medium_mpi.so
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,

    /// The compiler wrapper of the MPI whose mpirun or srun starts the ranks
    #[arg(long, value_name = "COMMAND", env = "MPICC", default_value = "mpicc")]
    mpicc: PathBuf,
}

/// Media whose libraries can be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BuiltMedium {
    Mpi,
}

/// Compiles the library, and prints its path.
///
/// # Errors
/// [`CommandFailure`]: the folder cannot be made, the compiler wrapper is missing, the library does
/// not compile, or the folder cannot be written.
pub fn run(args: &MediumBuildArgs) -> Result<(), CommandFailure> {
    let BuiltMedium::Mpi = args.medium;
    let library = args.out.join("libthalweg_medium_mpi.so");
    fs::create_dir_all(&args.out).map_err(|error| {
        let out = args.out.display();
        CommandFailure::Usage(format!("there is no folder {out} for the library: {error}"))
    })?;
    // A process that has loaded the library keeps the old file.
    let unfinished = args
        .out
        .join(format!(".libthalweg_medium_mpi.{}.so", std::process::id()));
    let compiled = compile(&args.mpicc, &unfinished).and_then(|()| {
        let renamed = fs::rename(&unfinished, &library);
        renamed.map_err(|error| {
            CommandFailure::Program(format!("cannot write {}: {error}", library.display()))
        })
    });
    if compiled.is_err() {
        // The compiler may have written none.
        let _ = fs::remove_file(&unfinished);
    }
    compiled?;
    write_stdout(&format!("{}\n", library.display()))
}

fn compile(mpicc: &Path, library: &Path) -> Result<(), CommandFailure> {
    let name = mpicc.display();
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => CommandFailure::Program(format!(
            "there is no `{name}`: install the compiler wrapper of your MPI (Debian: libopenmpi-dev \
             or libmpich-dev), or name it by --mpicc COMMAND"
        )),
        _ => CommandFailure::Program(format!("cannot run `{name}`: {error}")),
    };
    let mut child = Command::new(mpicc)
        .args(["-std=c11", "-O2", "-fPIC", "-shared", "-pthread", "-o"])
        .arg(library)
        .args(["-x", "c", "-", "-ldl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A compiler that stops reading says why.
        let _ = stdin.write_all(whole_source().as_bytes());
    }
    let done = child.wait_with_output().map_err(failed)?;
    if done.status.success() {
        return Ok(());
    }
    let said = first_lines(&done.stderr);
    Err(CommandFailure::Program(match lacks_header(&said) {
        true => format!(
            "`{name}` does not find mpi.h, so it is not the compiler wrapper of an MPI: \
             name that, mostly `mpicc`, by --mpicc COMMAND (Debian: libopenmpi-dev or \
             libmpich-dev); it said: {said}"
        ),
        false => format!(
            "`{name}` cannot compile the library of mpi ({}): {said}",
            done.status
        ),
    }))
}

/// The source with its parts in the places where it includes them.
fn whole_source() -> String {
    let mut whole = String::from("#line 1 \"mpi.c\"\n");
    for (number, line) in SOURCE.lines().enumerate() {
        let included = line
            .strip_prefix("#include \"")
            .and_then(|rest| rest.strip_suffix('"'));
        let part = PARTS.iter().find(|(name, _)| Some(*name) == included);
        whole += &match part {
            Some((name, text)) => {
                let next = number + 2;
                format!("#line 1 \"{name}\"\n{text}#line {next} \"mpi.c\"\n")
            }
            None => format!("{line}\n"),
        };
    }
    whole
}

/// Whether a compiler says, in whatever language, that it does not find the header of MPI. One that
/// finds it names its folder too.
fn lacks_header(said: &str) -> bool {
    let own = said.lines().filter(|line| line.starts_with("mpi.c:"));
    let mut own = own.filter(|line| line.contains("mpi.h"));
    own.any(|line| !line.contains("/mpi.h"))
}

/// The first lines that a compiler says, which are about the first mistake.
fn first_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<_> = text.lines().take(5).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_without_the_header_is_known() {
        for said in [
            "mpi.c:37:10: fatal error: mpi.h: No such file or directory\ncompilation terminated.",
            "mpi.c:37:10: fatal error: 'mpi.h' file not found",
        ] {
            assert!(lacks_header(said), "{said}");
        }
        let within = "In file included from mpi.c:37:\n/usr/include/mpi.h:7:1: error: unknown type";
        assert!(!lacks_header(within));
        assert!(!lacks_header(
            "mpi.c:40:10: fatal error: poll.h: No such file or directory"
        ));
    }

    #[test]
    fn the_source_includes_each_part_once() {
        let whole = whole_source();
        assert!(!whole.contains("#include \""), "a part is missing");
        for (name, text) in PARTS {
            assert_eq!(whole.matches(text).count(), 1, "{name}");
        }
    }
}
