//! The reader of the record format json: objects, a line each, or as the elements of an array.
//!
//! ```text
//!   {"n": 1}          an object a line
//!   {"n": 2} {"n": 3} or several
//!   {                 or one over several lines
//!     "n": 4
//!   }
//!   [{"n": 5},        or arrays of objects
//!    {"n": 6}]
//! ```
//! A malformed line is rejected alone: the next object that begins a line is read again.

use std::sync::Arc;

use serde::de::DeserializeSeed;

use super::super::ExpectedInput;
use super::super::line_tracker::skip_while;
use super::super::record::{
    ReadOptions, ReadStep, Record, RecordError, RecordReader, chosen_attributes,
};
use super::failure::{JsonFailure, JsonNotes, parser_input};
use super::slot_seed::RecordSeed;
use super::value_extent::ValueExtent;
use super::value_seed::{JsonOptions, JsonReading};
use crate::{Layout, TupleBuf};

/// Reads records of the json format.
#[derive(Debug)]
pub struct JsonReader {
    layout: Arc<Layout>,
    /// For each attribute whether records have it.
    chosen: Vec<bool>,
    reports_faults: bool,
    record_bytes_max: usize,
    options: JsonOptions,
    /// Number of the line that the next byte belongs to, from 1.
    line: u64,
    /// The records are elements of an array.
    in_array: bool,
    /// A malformed line was rejected: what follows it is passed over up to a line that begins with
    /// a brace.
    is_recovering: bool,
    /// The end of a record that has not come whole, searched so far.
    extent: Option<ValueExtent>,
}

/// Outcome of parsing bytes as a record.
enum Parsed {
    /// The tuple is read.
    Whole,
    /// More follows behind the object.
    Trailing,
    /// The bytes end within the object.
    CutOff(JsonFailure),
    /// The bytes are no object of the schema.
    Wrong(JsonFailure),
}

impl JsonReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> JsonReader {
        let mut chosen = vec![false; layout.offsets.len()];
        for at in chosen_attributes(&layout, &options.attributes) {
            chosen[at] = true;
        }
        JsonReader {
            layout,
            chosen,
            reports_faults: options.reports_faults,
            record_bytes_max: options.record_bytes_max,
            options: JsonOptions {
                // Values that do not fit get the default of their types, as fields of csv do.
                is_lenient: !options.reports_faults,
                ..JsonOptions::default()
            },
            line: 1,
            in_array: false,
            is_recovering: false,
            extent: None,
        }
    }

    fn parse(&self, text: &[u8], out: &mut TupleBuf) -> Parsed {
        out.begin(&self.layout);
        let notes = JsonNotes::default();
        let seed = RecordSeed {
            layout: &self.layout,
            chosen: &self.chosen,
            buf: out,
            reading: JsonReading {
                options: &self.options,
                notes: &notes,
            },
        };
        let text = match parser_input(text) {
            Ok(text) => text,
            Err(failure) => return Parsed::Wrong(failure),
        };
        let mut parser = sonic_rs::Deserializer::from_str(&text).utf8_lossy();
        if let Err(error) = seed.deserialize(&mut parser) {
            let failure = JsonFailure::new(&error, text.as_bytes(), notes);
            return match failure.is_cut_off {
                true => Parsed::CutOff(failure),
                false => Parsed::Wrong(failure),
            };
        }
        match parser.end() {
            Ok(()) => Parsed::Whole,
            Err(_) => Parsed::Trailing,
        }
    }

    /// Passes what stands between records, and the lines that a rejected one leaves behind; returns
    /// the offset of the next record.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    at += 1;
                }
                b' ' | b'\t' | b'\r' => {
                    at = skip_while(bytes, at, |b| matches!(b, b' ' | b'\t' | b'\r'));
                }
                b'[' if !self.in_array && !self.is_recovering => {
                    self.in_array = true;
                    at += 1;
                }
                b']' if self.in_array => {
                    self.in_array = false;
                    at += 1;
                }
                b',' if self.in_array => at += 1,
                b'{' => break,
                _ if self.is_recovering => match memchr::memchr(b'\n', &bytes[at..]) {
                    Some(end) => at += end,
                    None => at = bytes.len(),
                },
                _ => break,
            }
        }
        self.is_recovering &= at == bytes.len();
        at
    }

    /// The step of bytes in which no record begins.
    fn no_record(&mut self, bytes: &[u8], at_end: bool) -> ReadStep {
        if at_end && self.in_array {
            self.in_array = false;
            let failure = JsonFailure::unexpected(ExpectedInput::Either(b',', b']'));
            return self.reject(bytes, bytes.len(), bytes.len(), failure);
        }
        ReadStep {
            consumed: bytes.len(),
            record: match at_end {
                true => Record::End,
                false => Record::NeedMore,
            },
        }
    }

    /// The record that begins a line.
    fn read_line(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        out: &mut TupleBuf,
    ) -> ReadStep {
        let Some(end) = line_end(bytes, start, at_end) else {
            return self.need_more(bytes, start);
        };
        match self.parse(&bytes[start..end], out) {
            Parsed::Whole => self.tuple(bytes, start, end),
            Parsed::Trailing => {
                let extent = ValueExtent::default().find(&bytes[start..end]);
                let end = start + extent.unwrap_or(end - start);
                self.read_extent(bytes, start, end, out)
            }
            Parsed::Wrong(failure) => self.reject_line(bytes, start, failure),
            Parsed::CutOff(failure) if at_end && end == bytes.len() => {
                self.reject_line(bytes, start, failure)
            }
            Parsed::CutOff(failure) => {
                // A line that lacks its end makes no sense with the next one either.
                let Some(next) = line_end(bytes, end + 1, at_end) else {
                    return self.need_more(bytes, start);
                };
                // Where another object begins, it is the line before that lacks something.
                let begins_object = bytes[end..next].trim_ascii_start().starts_with(b"{");
                match self.parse(&bytes[start..next], out) {
                    Parsed::Wrong(_) if begins_object => self.reject_line(bytes, start, failure),
                    Parsed::Wrong(failure) => self.reject_line(bytes, start, failure),
                    _ => self.read_on(bytes, start, at_end, out),
                }
            }
        }
    }

    /// The record from `start`, whose end the brackets tell.
    fn read_on(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        out: &mut TupleBuf,
    ) -> ReadStep {
        let mut extent = self.extent.take().unwrap_or_default();
        if let Some(len) = extent.find(&bytes[start..]) {
            // A comma or bracket in the place of a record is one byte of nonsense.
            return self.read_extent(bytes, start, start + len.max(1), out);
        }
        if !at_end {
            self.extent = Some(extent);
            return self.need_more(bytes, start);
        }
        match self.parse(&bytes[start..], out) {
            Parsed::Whole | Parsed::Trailing => self.tuple_of_lines(bytes, start, bytes.len()),
            Parsed::CutOff(failure) | Parsed::Wrong(failure) => {
                self.reject_line(bytes, start, failure)
            }
        }
    }

    /// The record of an extent.
    fn read_extent(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        out: &mut TupleBuf,
    ) -> ReadStep {
        match self.parse(&bytes[start..end], out) {
            Parsed::Whole | Parsed::Trailing => self.tuple_of_lines(bytes, start, end),
            Parsed::CutOff(failure) | Parsed::Wrong(failure) => {
                self.reject(bytes, start, end, failure)
            }
        }
    }

    /// The step of a tuple that may extend over several lines.
    fn tuple_of_lines(&mut self, bytes: &[u8], start: usize, end: usize) -> ReadStep {
        self.extent = None;
        let step = self.tuple(bytes, start, end);
        if matches!(step.record, Record::Tuple { .. }) {
            self.line += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64;
        }
        step
    }

    fn tuple(&mut self, bytes: &[u8], start: usize, end: usize) -> ReadStep {
        if end - start > self.record_bytes_max {
            return self.reject_long(bytes, end);
        }
        ReadStep {
            consumed: end,
            record: Record::Tuple { delay: 0.0 },
        }
    }

    fn need_more(&mut self, bytes: &[u8], start: usize) -> ReadStep {
        if bytes.len() - start > self.record_bytes_max {
            self.is_recovering = true;
            return self.reject_long(bytes, bytes.len());
        }
        ReadStep {
            consumed: start,
            record: Record::NeedMore,
        }
    }

    /// Rejects a record that is too long, and consumes what there is of it.
    fn reject_long(&mut self, bytes: &[u8], end: usize) -> ReadStep {
        let expected = ExpectedInput::ShorterRecord(self.record_bytes_max);
        let failure = JsonFailure::unexpected(expected);
        self.reject(bytes, 0, end, failure)
    }

    /// Rejects the line from `start`. Unless its brackets match, it is the beginning of something
    /// that is left out as well.
    fn reject_line(&mut self, bytes: &[u8], start: usize, failure: JsonFailure) -> ReadStep {
        let end = line_end(bytes, start, true).unwrap_or(bytes.len());
        let line = &bytes[start..end];
        self.is_recovering = line.starts_with(b"{") && ValueExtent::default().find(line).is_none();
        self.reject(bytes, start, end, failure)
    }

    #[cold]
    fn reject(&mut self, bytes: &[u8], start: usize, end: usize, failure: JsonFailure) -> ReadStep {
        self.extent = None;
        let line = self.line + failure.line as u64 - 1;
        self.line += memchr::memchr_iter(b'\n', &bytes[start..end]).count() as u64;
        if !self.reports_faults && !failure.is_malformed {
            return ReadStep {
                consumed: end,
                record: Record::Tuple { delay: 0.0 },
            };
        }
        let name: Option<Arc<str>> =
            (!failure.path.is_empty()).then(|| failure.path.as_str().into());
        let first = failure.path.split('.').next().unwrap_or_default();
        let error = RecordError {
            attribute: self.layout.schema.find(first).map(|(index, _)| index),
            name,
            line,
            column: failure.column,
            text: failure.found,
            expected: failure.expected,
            begins_in: None,
        };
        ReadStep {
            consumed: end,
            record: Record::Rejected(Box::new(error)),
        }
    }
}

impl RecordReader for JsonReader {
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        let start = match self.extent {
            // The bytes begin with a record that is searched for its end.
            Some(_) => 0,
            None => self.skip(bytes),
        };
        if start == bytes.len() {
            return self.no_record(bytes, at_end);
        }
        match self.in_array || self.extent.is_some() {
            true => self.read_on(bytes, start, at_end, out),
            false => self.read_line(bytes, start, at_end, out),
        }
    }

    fn restart(&mut self) {
        self.line = 1;
        self.in_array = false;
        self.is_recovering = false;
        self.extent = None;
    }
}

/// The offset of the end of the line that holds a byte; `None` if it is still to come.
fn line_end(bytes: &[u8], from: usize, at_end: bool) -> Option<usize> {
    let from = from.min(bytes.len());
    match memchr::memchr(b'\n', &bytes[from..]) {
        Some(end) => Some(from + end),
        None => at_end.then_some(bytes.len()),
    }
}
