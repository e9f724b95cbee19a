//! Failures of a PE as lines for people.

use std::sync::Arc;

use graph::inserted_operators;
use runtime::FailureReport;
use serde::{Deserialize, Serialize};

use super::unfired_windows::UnfiredWindows;
use crate::error::Error;

/// How a PE ended by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeEnding {
    /// What failed, the first one first; empty: nothing.
    pub failures: Vec<PeFailure>,
    /// Nobody reads its output any more: no reason to say anything.
    pub is_quiet: bool,
    /// What its windows held in the end, if nothing failed.
    pub leftovers: Vec<UnfiredWindows>,
}

/// What failed in a PE.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct PeFailure {
    /// Where and what, as a fused job would say it.
    pub line: String,
    /// It was noticed at a crossing edge, so perhaps it only follows from another PE's death.
    pub is_crossing: bool,
}

/// One line a failure: `file:failure_line:column: Operator (kind): sentence`.
pub fn pe_ending(files: &[Arc<str>], report: &FailureReport) -> PeEnding {
    let failures = report.failures.iter().map(|failure| PeFailure {
        line: failure_line(files, failure),
        is_crossing: matches!(
            &*failure.kind,
            inserted_operators::SEND | inserted_operators::RECEIVE
        ),
    });
    PeEnding {
        failures: failures.collect(),
        is_quiet: report.is_stdout_closed,
        leftovers: Vec::new(),
    }
}

/// The error of a program whose only PE failed.
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
