//! Writing to the standard streams.

use std::io::Write;

use crate::failure::CommandFailure;
use crate::terminal;

/// Whether messages on standard error may be coloured: <https://no-color.org> says when not.
pub fn colour() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && terminal::supports_escapes(&std::io::stderr())
}

/// Writes to standard error. Errors are ignored: no other stream is left to report them, and the
/// program runs all the same.
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output. A reader that has gone away is no failure.
///
/// # Errors
/// [`CommandFailure::Program`] for every other error.
pub fn write_stdout(text: &str) -> Result<(), CommandFailure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(
            CommandFailure::Program(format!("cannot write to standard output: {error}")),
        ),
        _ => Ok(()),
    }
}
