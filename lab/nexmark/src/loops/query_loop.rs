//! The contract of a loop by hand.

use std::io;

use super::fields::EventLine;
use super::result_lines::ResultLines;

/// A query, as a loop that is given one event after the other.
pub trait QueryLoop {
    /// Works on an event, and writes the results that it causes.
    fn event(&mut self, event: &EventLine<'_>, out: &mut ResultLines) -> io::Result<()>;

    /// Writes what is held back, at the end of the input.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
