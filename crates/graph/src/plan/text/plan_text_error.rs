//! Mistakes in the text of a plan, with their positions.

use std::fmt;

/// A mistake in the text of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTextError {
    /// The line of the mistake, from 1.
    pub line: u32,
    /// The column of the mistake, from 1, in characters.
    pub column: u32,
    /// The mistake and how to mend it: a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for PlanTextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for PlanTextError {}

/// A position in the text of a plan; line and column count from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanTextPos {
    pub line: u32,
    pub column: u32,
}

impl PlanTextPos {
    /// A mistake at this position.
    pub fn error(self, message: impl Into<String>) -> PlanTextError {
        PlanTextError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}

/// Adds the candidate that was probably meant by a name to a message about it.
pub(super) fn did_you_mean<'n>(
    message: String,
    name: &str,
    candidates: impl IntoIterator<Item = &'n str>,
) -> String {
    match syntax::nearest(name, candidates) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => message,
    }
}
