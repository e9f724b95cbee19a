//! SPL's text form of values, and the record formats of files.
//!
//! [`print()`] and [`read()`] write and read the *serialised form*: that of casts to rstring, and
//! of txt and csv files. Strings are quoted, composites are written as their literals:
//! `{a=1,b=["x","y"],c={1:true}}`. [`print_raw`] and [`parse_whole`] are the casts to and from a
//! string, where a string itself stands without quotes.
//!
//! [`new_reader`] and [`new_writer`] make the readers and writers of files' formats: [`csv`],
//! [`txt`], [`mod@line`], [`block`], [`bin`] and [`json`].

pub mod bin;
pub mod block;
pub mod csv;
mod error;
mod float;
pub mod json;
pub mod line;
mod line_tracker;
mod number;
mod plain_number;
mod print;
mod print_flat;
mod quote;
mod read;
mod read_flat;
mod record;
mod record_format;
pub mod txt;
mod unquote;

pub use error::{ExpectedInput, ValueParseError};
pub use float::{print_f32, print_f64};
pub use print::{print, print_raw, to_text};
pub use print_flat::{print_raw_slot, print_slot, print_tuple};
pub use quote::{print_bytes_quoted, print_units_quoted};
pub use read::{TextReader, parse_whole, read};
pub use read_flat::{read_slot, read_tuple};
pub use record::{
    ReadOptions, ReadStep, Record, RecordError, RecordReader, RecordWriter, WriteOptions,
};
pub use record_format::{FormatError, RecordFormat, new_reader, new_writer};
pub use unquote::{unquote_bytes, unquote_units};

#[cfg(test)]
mod tests;
