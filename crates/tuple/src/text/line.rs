//! The line format: each line is one rstring attribute, without its end.
//!
//! Lines end with a marker of one or two bytes; an empty line is a tuple; a last line may lack its
//! end. Of a marker of two bytes the first one alone stays in the line.

use std::sync::Arc;

use super::record::{ReadStep, Record, RecordError, RecordReader, RecordWriter, chosen_attributes};
use super::{ExpectedInput, ReadOptions, WriteOptions, print_raw_slot};
use crate::{Layout, Punctuation, TupleBuf, TupleRef, Type};

/// Reads records of the line format.
#[derive(Debug)]
pub struct LineReader {
    layout: Arc<Layout>,
    attribute: usize,
    eol: Vec<u8>,
    record_bytes_max: usize,
    line: u64,
    /// Bytes at the start of what comes that are known to hold no line end.
    searched: usize,
}

impl LineReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> LineReader {
        let attribute = chosen_attributes(&layout, &options.attributes)[0];
        let eol = if options.eol.is_empty() {
            b"\n".to_vec()
        } else {
            options.eol
        };
        LineReader {
            layout,
            attribute,
            eol,
            record_bytes_max: options.record_bytes_max,
            line: 1,
            searched: 0,
        }
    }

    fn find_end(&self, bytes: &[u8]) -> Option<usize> {
        let from = self.searched.min(bytes.len());
        let found = match *self.eol {
            [byte] => memchr::memchr(byte, &bytes[from..]),
            _ => memchr::memmem::find(&bytes[from..], &self.eol),
        };
        found.map(|at| from + at)
    }

    fn too_long(&mut self, bytes: &[u8]) -> ReadStep {
        let error = RecordError {
            attribute: Some(self.attribute),
            name: Some(self.layout.schema.attributes[self.attribute].name.clone()),
            line: self.line,
            column: self.record_bytes_max + 1,
            text: Vec::new(),
            expected: ExpectedInput::ShorterRecord(self.record_bytes_max),
            begins_in: None,
        };
        ReadStep {
            consumed: bytes.len(),
            record: Record::Rejected(Box::new(error)),
        }
    }
}

impl RecordReader for LineReader {
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        let (end, consumed) = match self.find_end(bytes) {
            Some(end) => (end, end + self.eol.len()),
            None if !at_end => {
                // A marker may be cut in two.
                self.searched = (bytes.len() + 1).saturating_sub(self.eol.len());
                if bytes.len() > self.record_bytes_max {
                    self.searched = 0;
                    return self.too_long(bytes);
                }
                return ReadStep {
                    consumed: 0,
                    record: Record::NeedMore,
                };
            }
            None if bytes.is_empty() => {
                return ReadStep {
                    consumed: 0,
                    record: Record::End,
                };
            }
            None => (bytes.len(), bytes.len()),
        };
        self.searched = 0;
        self.line += 1;
        out.begin(&self.layout);
        let (slot, ty) = self.layout.attribute(self.attribute);
        out.put_text(slot, ty, &bytes[..end]);
        ReadStep {
            consumed,
            record: Record::Tuple { delay: 0.0 },
        }
    }

    fn restart(&mut self) {
        self.line = 1;
        self.searched = 0;
    }
}

/// Writes records of the line format.
#[derive(Debug)]
pub struct LineWriter {
    slot: usize,
    ty: Type,
    eol: Vec<u8>,
}

impl LineWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> LineWriter {
        let (slot, ty) = layout.attribute(chosen_attributes(&layout, &options.attributes)[0]);
        LineWriter {
            slot,
            ty: ty.clone(),
            eol: options.eol,
        }
    }
}

impl RecordWriter for LineWriter {
    fn write(&mut self, tuple: TupleRef<'_>, _delay: Option<f64>, out: &mut Vec<u8>) {
        print_raw_slot(tuple, self.slot, &self.ty, out);
        out.extend_from_slice(&self.eol);
    }

    fn punctuate(&mut self, _punctuation: Punctuation, _out: &mut Vec<u8>) {}
}

/// The line that csv and txt files have for a punctuation.
pub(super) fn write_punctuation(punctuation: Punctuation, out: &mut Vec<u8>) {
    out.extend_from_slice(match punctuation {
        Punctuation::Window => b"Punctuation received: WindowMarker\n",
        Punctuation::Final => b"Punctuation received: FinalMarker\n",
    });
}
