//! Texts of measured numbers: lines of words, with a place for each mistake.

mod measurement_error;
mod text_line;

pub use measurement_error::MeasurementError;
pub use text_line::{TextLine, TextWord, set_once};
