//! The sub-commands, one file each.

mod bench;
mod bench_command;
mod check;
mod cores;
mod doc;
mod dump;
mod fmt;
mod new;
mod pe;
mod perf;
mod plan;
mod run;
mod signal_listener;
mod signals;
mod top;

pub use bench::{BenchArgs, bench};
pub use check::check;
pub use doc::doc;
pub use dump::dump;
pub use fmt::fmt;
pub use new::new;
pub use pe::pe;
pub use perf::{PerfArgs, run as perf};
pub use run::run;
pub use signals::ignore_file_size_signal;
pub use top::top;

use crate::args::ShellWords;
use plan::plan;
use signal_listener::SignalListener;
use std::path::PathBuf;

use crate::terminal;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum CommandFailure {
    /// The program or its run failed; everything has been said.
    Reported,
    /// The program or its run failed, in one sentence.
    Program(String),
    /// The command was used wrongly, in one sentence.
    Usage(String),
}

impl From<engine::Error> for CommandFailure {
    fn from(error: engine::Error) -> CommandFailure {
        CommandFailure::Program(error.to_string())
    }
}

/// Splits lists of directories as in PATH; warns of those that are not there, which otherwise shows
/// only in names that nobody defines.
fn toolkit_path(lists: &[String]) -> Vec<PathBuf> {
    let path: Vec<PathBuf> = lists.iter().flat_map(std::env::split_paths).collect();
    let is_named = |root: &&PathBuf| !root.as_os_str().is_empty();
    for root in path.iter().filter(is_named).filter(|root| !root.is_dir()) {
        let root = root.display();
        write_stderr(&format!(
            "thalweg: warning: there is no toolkit directory {root}\n"
        ));
    }
    path
}

/// The arguments of the Perl code in `.splmm` files: of all options, one after the other.
fn mixed_args(given: Vec<ShellWords>) -> Vec<String> {
    given.into_iter().flat_map(|words| words.0).collect()
}

/// Whether messages on standard error may be coloured: <https://no-color.org> says when not.
fn colour() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && terminal::supports_escapes(&std::io::stderr())
}

/// Writes to standard error. Nobody is left to be told that this cannot be done, and a program runs
/// for all that.
pub fn write_stderr(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output; a reader that has gone away is no failure of the program.
fn write_stdout(text: &str) -> Result<(), CommandFailure> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(
            CommandFailure::Program(format!("cannot write to standard output: {error}")),
        ),
        _ => Ok(()),
    }
}
