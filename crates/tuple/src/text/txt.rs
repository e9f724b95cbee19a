//! The txt format: a tuple literal a line, `{a=1,b="x"}`.
//!
//! Blank lines and lines that begin with `#` are skipped; names must be those of the attributes, in
//! order. Only a string goes on behind the end of a line.

use std::sync::Arc;

use super::line::write_punctuation;
use super::line_tracker::{LineTracker, RecordFault, SkipOutcome, count_lines};
use super::read_flat::read_slot;
use super::record::{ReadStep, Record, RecordReader, RecordWriter, chosen_attributes};
use super::{
    ExpectedInput, ReadOptions, TextReader, ValueParseError, WriteOptions, print_f64, print_slot,
};
use crate::{Layout, Punctuation, TupleBuf, TupleRef, TupleType, Type};

/// Reads records of the txt format.
#[derive(Debug)]
pub struct TxtReader {
    layout: Arc<Layout>,
    /// The attributes of a line, and which ones of the layout they are.
    line: TupleType,
    attributes: Vec<usize>,
    has_delay: bool,
    checked: bool,
    lines: LineTracker,
}

impl TxtReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> TxtReader {
        let chosen = chosen_attributes(&layout, &options.attributes);
        TxtReader {
            line: tuple_type_of_attributes(&layout, &chosen),
            attributes: chosen,
            has_delay: options.has_delay,
            checked: options.reports_faults,
            lines: LineTracker::new(options.header_lines, options.record_bytes_max),
            layout,
        }
    }

    /// Reads a line; returns its delay.
    fn record(
        &self,
        reader: &mut TextReader<'_>,
        out: &mut TupleBuf,
        reading: &mut Option<usize>,
    ) -> Result<f64, ValueParseError> {
        let mut delay = 0.0;
        if self.has_delay {
            reader.skip_blanks();
            delay = reader.number(&Type::Float64)?;
            reader.expect(b',')?;
        }
        reader.tuple(&self.line, |reader, index| {
            let attribute = self.attributes[index];
            *reading = Some(attribute);
            let (slot, ty) = self.layout.attribute(attribute);
            read_slot(reader, ty, out, slot)?;
            *reading = None;
            Ok(())
        })?;
        reader.skip_blanks();
        match reader.peek() {
            None | Some(b'\n' | b'\r') => Ok(delay),
            Some(_) => Err(reader.error(ExpectedInput::EndOfLine)),
        }
    }
}

impl RecordReader for TxtReader {
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        let start = match self.lines.skip(bytes, at_end) {
            SkipOutcome::RecordAt(start) => start,
            SkipOutcome::NoRecord(step) => return step,
        };
        out.begin(&self.layout);
        let (mut reader, mut attribute) = (TextReader::new_at(bytes, start), None);
        match self.record(&mut reader, out, &mut attribute) {
            Ok(_) if reader.peek().is_none() && !at_end => {
                self.lines.incomplete_record(bytes, start, &self.layout)
            }
            Ok(delay) => {
                self.lines
                    .count_line_ends(count_lines(&bytes[start..reader.offset()]));
                let consumed = self.lines.pass_line_end(bytes, reader.offset());
                ReadStep {
                    consumed,
                    record: Record::Tuple { delay },
                }
            }
            Err(error) => {
                let ValueParseError {
                    offset: at,
                    expected,
                } = error;
                let fault = RecordFault {
                    attribute,
                    at,
                    expected,
                };
                let step = self
                    .lines
                    .record_fault(bytes, start, at_end, &self.layout, fault);
                match step.record {
                    // Unchecked: what could be read is the tuple.
                    Record::Rejected(_) if !self.checked => ReadStep {
                        record: Record::Tuple { delay: 0.0 },
                        ..step
                    },
                    _ => step,
                }
            }
        }
    }

    fn restart(&mut self) {
        self.lines.restart();
    }
}

/// Writes records of the txt format.
#[derive(Debug)]
pub struct TxtWriter {
    fields: Vec<(usize, Arc<str>, Type)>,
    punctuations: bool,
}

impl TxtWriter {
    /// A writer of tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: WriteOptions) -> TxtWriter {
        let chosen = chosen_attributes(&layout, &options.attributes);
        let part = tuple_type_of_attributes(&layout, &chosen)
            .attributes
            .into_iter()
            .zip(chosen);
        let fields = part.map(|(a, index)| (layout.offsets[index] as usize, a.name, a.ty));
        TxtWriter {
            fields: fields.collect(),
            punctuations: options.punctuations,
        }
    }
}

impl RecordWriter for TxtWriter {
    fn write(&mut self, tuple: TupleRef<'_>, delay: Option<f64>, out: &mut Vec<u8>) {
        if let Some(delay) = delay {
            print_f64(delay, out);
            out.push(b',');
        }
        out.push(b'{');
        for (at, (slot, name, ty)) in self.fields.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            print_slot(tuple, *slot, ty, out);
        }
        out.extend_from_slice(b"}\n");
    }

    fn punctuate(&mut self, punctuation: Punctuation, out: &mut Vec<u8>) {
        if self.punctuations {
            write_punctuation(punctuation, out);
        }
    }
}

/// A tuple type of some attributes of a layout.
fn tuple_type_of_attributes(layout: &Layout, chosen: &[usize]) -> TupleType {
    let attributes = chosen
        .iter()
        .map(|&at| layout.schema.attributes[at].clone());
    TupleType {
        attributes: attributes.collect(),
    }
}
