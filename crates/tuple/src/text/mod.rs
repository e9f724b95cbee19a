//! SPL's text form of values, and the record formats of files.
//!
//! [`print`] and [`read`] are the *serialised form*: what `print` writes, what a cast to rstring
//! gives, what txt and csv files hold. Strings are quoted, composites are written as their
//! literals:
//! `{a=1,b=["x","y"],c={1:true}}`. [`print_raw`] and [`parse_whole`] are the casts to and from a
//! string, where a string itself stands without quotes.
//!
//! [`reader`] and [`writer`] make the readers and writers of files' formats: [`csv`], [`txt`],
//! [`line`], [`block`] and [`bin`].

pub mod bin;
pub mod block;
pub mod csv;
mod error;
mod float;
pub mod line;
mod lines;
mod number;
mod print;
mod print_slot;
mod quote;
mod read;
mod read_slot;
mod record;
pub mod txt;
mod unquote;

pub use error::{Expected, ReadError};
pub use float::{print_f32, print_f64};
pub use print::{print, print_raw, to_text};
pub use print_slot::{print_raw_slot, print_slot, print_tuple};
pub use quote::{print_bytes_quoted, print_units_quoted};
pub use read::{Reader, parse_whole, read};
pub use read_slot::{read_slot, read_tuple};
pub use record::{
    Format, FormatError, ReadOptions, Record, RecordError, RecordReader, RecordWriter, Step,
    WriteOptions, reader, writer,
};
pub use unquote::{unquote_bytes, unquote_units};

#[cfg(test)]
mod tests;
