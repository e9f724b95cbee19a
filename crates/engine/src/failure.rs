//! Failures of a PE as lines for people.

use std::sync::Arc;

use graph::inserted;
use runtime::Report;

use crate::Error;
use crate::control::{Ending, Failure};

/// One line a failure: `file:line:column: Operator (kind): sentence`.
pub fn ending(files: &[Arc<str>], report: &Report) -> Ending {
    let failures = report.failures.iter().map(|failure| Failure {
        line: line(files, failure),
        is_crossing: matches!(&*failure.kind, inserted::SEND | inserted::RECEIVE),
    });
    Ending {
        failures: failures.collect(),
        is_quiet: report.is_quiet,
        leftovers: Vec::new(),
    }
}

/// The error of a program whose only PE failed.
pub fn error(files: &[Arc<str>], report: &Report) -> Error {
    if report.is_quiet {
        return Error::Quiet;
    }
    let lines: Vec<_> = report.failures.iter().map(|f| line(files, f)).collect();
    Error::Program(lines.join("\n"))
}

fn line(files: &[Arc<str>], failure: &runtime::Failure) -> String {
    match failure.fault.pos() {
        Some(pos) if pos.line > 0 => {
            let file = files.get(pos.file as usize).map_or("?", |file| &**file);
            format!("{file}:{}:{}: {failure}", pos.line, pos.column)
        }
        _ => failure.to_string(),
    }
}
