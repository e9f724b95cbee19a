//! Records: tuples and punctuation as bytes of a file, a socket or a blob.
//!
//! A [`RecordReader`] turns a growing piece of bytes into tuples, one a call; a [`RecordWriter`]
//! the other way. Where bytes come from, compression and character sets are the caller's business.
//!
//! ```text
//!   bytes: |.. comment, blank lines ..|.. record ..|.. rest ..
//!          |<------------ consumed --------------->|
//! ```
//! The caller drops what is consumed, and calls again with the rest, or with the rest and more
//! bytes behind it after [`Record::NeedMore`]; `at_end` says that nothing more will follow.

use std::fmt;
use std::sync::Arc;

use super::ExpectedInput;
use crate::{Layout, Punctuation, TupleBuf, TupleRef};

/// Result of one call of [`RecordReader::read`].
#[derive(Debug)]
pub struct ReadStep {
    /// Bytes at the start that are done with.
    pub consumed: usize,
    /// Record that these bytes held.
    pub record: Record,
}

/// One item of a stream of records.
#[derive(Debug)]
pub enum Record {
    /// A tuple, now in the buffer that was handed in.
    Tuple {
        /// Seconds to wait before it, from the delay field; 0 without one.
        delay: f64,
    },
    /// A punctuation (bin only).
    Punctuation(Punctuation),
    /// Not a tuple of the schema; the reader is behind the line, and can go on.
    Rejected(Box<RecordError>),
    /// The bytes end within a record.
    NeedMore,
    /// The input has ended, and all of it was read.
    End,
}

/// Reads records of one format.
pub trait RecordReader: Send {
    /// Reads the next record. The buffer holds a whole tuple only after [`Record::Tuple`].
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep;

    /// Begins a new file: counts lines from 1, skips header lines again.
    fn restart(&mut self);
}

/// Writes records of one format.
pub trait RecordWriter: Send {
    /// Appends a tuple, behind its delay in seconds if it is to have that field.
    fn write(&mut self, tuple: TupleRef<'_>, delay: Option<f64>, out: &mut Vec<u8>);

    /// Appends a punctuation, in formats that have one.
    fn punctuate(&mut self, punctuation: Punctuation, out: &mut Vec<u8>);
}

/// How to read. Each field concerns the formats named.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The attributes that a record holds, in order; the others stay default. All: all of them.
    pub attributes: Option<Vec<usize>>,
    /// A tuple of the schema: what an empty field gives (csv).
    pub defaults: Option<TupleBuf>,
    /// Whether a delay in seconds comes first (csv, txt, bin).
    pub has_delay: bool,
    /// Byte between two fields (csv).
    pub separator: u8,
    /// Whether fields behind the last attribute's are skipped (csv).
    pub ignore_extra: bool,
    /// Lines to skip at the start (csv, txt).
    pub header_lines: u32,
    /// Whether faults are looked for; if not, a faulty field leaves its attribute default (csv,
    /// txt).
    pub reports_faults: bool,
    /// One or two bytes that end a line (line).
    pub eol: Vec<u8>,
    /// Bytes of a block; without, all there is (block).
    pub block_bytes: Option<usize>,
    /// Whether a marker byte comes before each item (bin).
    pub punctuations: bool,
    /// A record that is longer is rejected, so that a lost quote cannot fill the memory.
    pub record_bytes_max: usize,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            attributes: None,
            defaults: None,
            has_delay: false,
            separator: b',',
            ignore_extra: false,
            header_lines: 0,
            reports_faults: true,
            eol: b"\n".to_vec(),
            block_bytes: None,
            punctuations: false,
            record_bytes_max: 1 << 28,
        }
    }
}

/// How to write. Each field concerns the formats named.
#[derive(Clone, Debug)]
pub struct WriteOptions {
    /// The attributes to write, in order. `None`: all of them.
    pub attributes: Option<Vec<usize>>,
    /// Byte between two fields (csv).
    pub separator: u8,
    /// Whether strings that are attributes stand in quotes (csv).
    pub quote_strings: bool,
    /// Ends a line (line).
    pub eol: Vec<u8>,
    /// Whether punctuation is written (csv, txt, bin).
    pub punctuations: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            attributes: None,
            separator: b',',
            quote_strings: true,
            eol: b"\n".to_vec(),
            punctuations: false,
        }
    }
}

/// The attributes a record holds.
pub(super) fn chosen_attributes(layout: &Layout, chosen: &Option<Vec<usize>>) -> Vec<usize> {
    chosen
        .clone()
        .unwrap_or_else(|| (0..layout.offsets.len()).collect())
}

/// A record that is not a tuple of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The attribute being read, if it was one.
    pub attribute: Option<usize>,
    /// Name of that attribute.
    pub name: Option<Arc<str>>,
    /// Line of the fault, from 1; of a format without lines the record's number.
    pub line: u64,
    /// Byte of that line or record, from 1.
    pub column: usize,
    /// Input that stands there, cut to some length.
    pub text: Vec<u8>,
    /// Input that should stand there.
    pub expected: ExpectedInput,
    /// Line in which the record begins, if that is another one.
    pub begins_in: Option<u64>,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if let Some(name) = &self.name {
            write!(f, "attribute {name}: ")?;
        }
        write!(f, "expected {}", self.expected)?;
        if !self.text.is_empty() {
            write!(f, ", found '{}'", shown(&self.text))?;
        }
        match self.begins_in {
            Some(line) => write!(f, " in the record that begins in line {line}"),
            None => Ok(()),
        }
    }
}

/// Input as it is shown on one line.
fn shown(text: &[u8]) -> String {
    let mut shown = String::new();
    for c in String::from_utf8_lossy(text).chars() {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    shown
}

impl std::error::Error for RecordError {}
