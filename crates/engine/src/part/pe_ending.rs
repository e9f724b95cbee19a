//! How a PE ended: its failures as lines for people.

use std::sync::Arc;

use graph::inserted_operators;
use runtime::FailureReport;
use serde::{Deserialize, Serialize};

use super::unfired_windows::UnfiredWindows;
use crate::error::Error;

/// The ending that a PE reports of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeEnding {
    /// Failures in order of time; empty if nothing failed.
    pub failures: Vec<PeFailure>,
    /// Whether the PE ended because the reader of its output has gone, which is no error to report.
    pub is_quiet: bool,
    /// Windows that still held tuples in the end, if nothing failed.
    pub leftovers: Vec<UnfiredWindows>,
}

/// One failure in a PE.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeFailure {
    /// Position and message, as a job of one PE reports them.
    pub line: String,
    /// Whether a crossing failed: perhaps only because the PE at its other end has died.
    pub is_crossing: bool,
    /// The words of the line that other streams may have in theirs, which name neither stream nor
    /// PE; empty if there are none.
    pub shared_reason: String,
}

/// The ending of a PE that failed; a failure's line is `file:line:column: Operator (kind):
/// sentence`.
pub fn pe_ending(files: &[Arc<str>], report: &FailureReport) -> PeEnding {
    let failures = report.failures.iter().map(|failure| PeFailure {
        line: failure_line(files, failure),
        is_crossing: matches!(
            &*failure.kind,
            inserted_operators::SEND | inserted_operators::RECEIVE
        ),
        shared_reason: String::new(),
    });
    PeEnding {
        failures: failures.collect(),
        is_quiet: report.is_stdout_closed,
        leftovers: Vec::new(),
    }
}

/// The error of a job whose only PE failed.
pub fn job_error(files: &[Arc<str>], report: &FailureReport) -> Error {
    if report.is_stdout_closed {
        return Error::OutputClosed;
    }
    let lines: Vec<_> = report
        .failures
        .iter()
        .map(|f| failure_line(files, f))
        .collect();
    Error::Program(lines.join("\n"))
}

fn failure_line(files: &[Arc<str>], failure: &runtime::Failure) -> String {
    match failure.fault.pos() {
        Some(pos) if pos.line > 0 => {
            let file = files.get(pos.file as usize).map_or("?", |file| &**file);
            format!("{file}:{}:{}: {failure}", pos.line, pos.column)
        }
        _ => failure.to_string(),
    }
}
