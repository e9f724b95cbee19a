//! Mistakes in the text of a calibration.

use std::fmt;

/// A mistake in the text of a calibration, with its place; it prints as `LINE:COLUMN: sentence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationError {
    /// Line of the mistake, from 1.
    pub line: u32,
    /// Column of the mistake in characters, from 1.
    pub column: u32,
    /// The mistake, and what would be right.
    pub message: String,
}

impl fmt::Display for CalibrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CalibrationError {
            line,
            column,
            message,
        } = self;
        write!(f, "{line}:{column}: {message}")
    }
}

impl std::error::Error for CalibrationError {}
