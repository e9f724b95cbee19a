//! Standard output and standard error of the command.

use std::io::Write;

use crate::failure::BenchFailure;

/// Writes to standard error. A failure to write is ignored: no channel is left to report it on.
pub fn write_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes to standard output; a reader that has closed its end is no failure.
///
/// # Errors
/// The system refuses the write.
pub fn write_stdout(text: &str) -> Result<(), BenchFailure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(BenchFailure::Failed(
            format!("cannot write to standard output: {error}"),
        )),
        _ => Ok(()),
    }
}
