//! Mistakes in the text of a calibration or a profile.

use std::fmt;

/// A mistake in the text of a calibration or a profile, with its place; it prints as
/// `LINE:COLUMN: sentence`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementError {
    /// Line of the mistake, from 1.
    pub line: u32,
    /// Column of the mistake in characters, from 1.
    pub column: u32,
    /// The mistake, and what would be right.
    pub message: String,
}

impl fmt::Display for MeasurementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MeasurementError {
            line,
            column,
            message,
        } = self;
        write!(f, "{line}:{column}: {message}")
    }
}

impl std::error::Error for MeasurementError {}
