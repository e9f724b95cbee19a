//! Writing to the standard streams, as `--color` and `--quiet` ask.

use std::io::Write;
use std::sync::OnceLock;

use clap::ColorChoice;
use engine::Findings;

use crate::failure::CommandFailure;
use crate::terminal;

/// How messages are written: the options of every sub-command. Global, because every part of the
/// command writes messages.
static MESSAGE_STYLE: OnceLock<MessageStyle> = OnceLock::new();

/// How messages on standard error are written.
#[derive(Clone, Copy, Debug)]
pub struct MessageStyle {
    /// Whether they are coloured; `Auto`: if a terminal reads them.
    pub color: ColorChoice,
    /// Whether only errors are written: no warning, no note, no progress line.
    pub quiet: bool,
}

/// Sets how messages are written from now on. Only the first call counts.
pub fn set_message_style(style: MessageStyle) {
    let _ = MESSAGE_STYLE.set(style);
}

/// Whether only errors are written.
pub fn is_quiet() -> bool {
    MESSAGE_STYLE.get().is_some_and(|style| style.quiet)
}

/// Whether messages on standard error are coloured. Without `--color`, <https://no-color.org> says
/// when not.
pub fn colour() -> bool {
    match MESSAGE_STYLE.get().map(|style| style.color) {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        None | Some(ColorChoice::Auto) => {
            let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !is_refused && terminal::supports_escapes(&std::io::stderr())
        }
    }
}

/// Writes the findings of the compiler to standard error.
pub fn write_findings(findings: &Findings) {
    let shown = match is_quiet() {
        true => findings.errors_text(colour()),
        false => findings.to_text(colour()),
    };
    write_stderr(&shown);
}

/// Writes a note of one sentence to standard error, unless only errors are asked for.
pub fn note(sentence: &str) {
    if !is_quiet() {
        write_stderr(&format!("note: {sentence}\n"));
    }
}

/// Writes a warning of one sentence to standard error, unless only errors are asked for.
pub fn warn(sentence: &str) {
    if !is_quiet() {
        write_stderr(&format!("thalweg: warning: {sentence}\n"));
    }
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
    write_or_closed(text.as_bytes()).map(drop)
}

/// Writes to standard output, and returns whether its reader is still there.
///
/// # Errors
/// [`CommandFailure::Program`] for every other error.
pub fn write_or_closed(text: &[u8]) -> Result<bool, CommandFailure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let message = format!("cannot write to standard output: {error}");
            Err(CommandFailure::Program(message))
        }
    }
}
