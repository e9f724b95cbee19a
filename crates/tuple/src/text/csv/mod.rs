//! The csv format: fields with a separator between, a tuple a line.
//!
//! * Fields are attributes in order, in their serialised form; an unquoted string that is an
//!   attribute runs to the separator or the end of the line.
//! * Blanks before a field, and behind one that is not an unquoted string, are skipped.
//! * An empty field gives the default, of the type or of a default tuple; `""` does not.
//! * Blank lines and lines that begin with `#` are skipped. Lines end with `\n`, `\r` or `\r\n`;
//!   only a string in quotes goes on behind one.
//! * Too few fields are an error, and so are too many unless they are to be ignored.

mod column;
mod field;
mod field_ends;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::CsvReader;
pub use writer::CsvWriter;
