//! Reader of csv: a line to a tuple.

use std::sync::Arc;

use super::field::{field_end, read_field};
use crate::text::line_tracker::{LineTracker, RecordFault, SkipOutcome, line_end, skip_while};
use crate::text::number::ScanNumber;
use crate::text::record::{ReadStep, Record, RecordReader, chosen_attributes};
use crate::text::{ExpectedInput, ReadOptions};
use crate::{Layout, TupleBuf, Type};

/// Reads csv, from bytes straight into flat tuples.
#[derive(Debug)]
pub struct CsvReader {
    layout: Arc<Layout>,
    columns: Vec<CsvColumn>,
    options: ReadOptions,
    lines: LineTracker,
}

/// Attribute that a field is stored in.
#[derive(Debug)]
struct CsvColumn {
    attribute: usize,
    slot: usize,
    ty: Type,
}

/// How far a record has been read.
#[derive(Default)]
struct CsvRecordProgress {
    at: usize,
    /// Line ends within quotes.
    lines: u64,
    delay: f64,
}

/// Why a record has not been read.
enum CsvReadStop {
    /// The bytes end within it.
    Incomplete,
    Fault(RecordFault),
}

impl CsvReader {
    /// A reader into tuples of a layout.
    pub fn new(layout: Arc<Layout>, options: ReadOptions) -> CsvReader {
        let columns = chosen_attributes(&layout, &options.attributes)
            .into_iter()
            .map(|attribute| {
                let (slot, ty) = layout.attribute(attribute);
                CsvColumn {
                    attribute,
                    slot,
                    ty: ty.clone(),
                }
            });
        let columns = columns.collect();
        let lines = LineTracker::new(options.header_lines, options.record_bytes_max);
        CsvReader {
            layout,
            columns,
            options,
            lines,
        }
    }

    /// Reads the record at the progress's place, up to the end of its line.
    fn record(
        &self,
        bytes: &[u8],
        at_end: bool,
        progress: &mut CsvRecordProgress,
        out: &mut TupleBuf,
    ) -> Result<(), CsvReadStop> {
        if self.options.has_delay {
            self.delay(bytes, at_end, progress)?;
        }
        let separator = self.options.separator;
        let mut columns = self.columns.iter().peekable();
        while let Some(column) = columns.next() {
            self.field(bytes, column, progress, out)?;
            let Some(&next) = columns.peek() else { break };
            match bytes.get(progress.at) {
                Some(&byte) if byte == separator => progress.at += 1,
                None if !at_end => return Err(CsvReadStop::Incomplete),
                _ if self.options.reports_faults => {
                    let expected = ExpectedInput::Separator(separator);
                    return Err(self.fault(Some(next), progress.at, expected));
                }
                _ => {
                    // Unchecked: what is missing gives the default.
                    columns.for_each(|column| self.default(column, out));
                    break;
                }
            }
        }
        self.end(bytes, at_end, progress)
    }

    /// Reads one field and the blanks around it.
    #[inline]
    fn field(
        &self,
        bytes: &[u8],
        column: &CsvColumn,
        progress: &mut CsvRecordProgress,
        out: &mut TupleBuf,
    ) -> Result<(), CsvReadStop> {
        let separator = self.options.separator;
        let is_blank = |b: u8| matches!(b, b' ' | b'\t') && b != separator;
        let at = skip_while(bytes, progress.at, is_blank);
        progress.at = at;
        match bytes.get(at) {
            None | Some(b'\n' | b'\r') => self.default(column, out),
            Some(&byte) if byte == separator => self.default(column, out),
            Some(_) => match read_field(bytes, at, separator, &column.ty, out, column.slot) {
                Ok((end, lines)) => {
                    progress.at = skip_while(bytes, end, is_blank);
                    progress.lines += lines;
                }
                Err(error) if self.options.reports_faults => {
                    return Err(self.fault(Some(column), error.offset, error.expected));
                }
                Err(error) => progress.at = field_end(bytes, error.offset, separator),
            },
        }
        Ok(())
    }

    /// Reads the end of a record: that of its line, behind extra fields perhaps.
    fn end(
        &self,
        bytes: &[u8],
        at_end: bool,
        progress: &mut CsvRecordProgress,
    ) -> Result<(), CsvReadStop> {
        match bytes.get(progress.at) {
            None if at_end => Ok(()),
            None => Err(CsvReadStop::Incomplete),
            Some(b'\n' | b'\r') => Ok(()),
            Some(&byte) => {
                let is_extra = byte == self.options.separator && self.options.ignore_extra;
                if !is_extra && self.options.reports_faults {
                    return Err(self.fault(None, progress.at, ExpectedInput::EndOfLine));
                }
                match line_end(bytes, progress.at) {
                    Some(end) => progress.at = end,
                    None if at_end => progress.at = bytes.len(),
                    None => return Err(CsvReadStop::Incomplete),
                }
                Ok(())
            }
        }
    }

    /// Reads the delay field and its comma.
    fn delay(
        &self,
        bytes: &[u8],
        at_end: bool,
        progress: &mut CsvRecordProgress,
    ) -> Result<(), CsvReadStop> {
        let at = skip_while(bytes, progress.at, |b| matches!(b, b' ' | b'\t'));
        let Ok((delay, len)) = f64::scan(&bytes[at..]) else {
            return Err(self.fault(None, at, ExpectedInput::Value(Type::Float64)));
        };
        let end = skip_while(bytes, at + len, |b| matches!(b, b' ' | b'\t'));
        match bytes.get(end) {
            Some(b',') => {
                progress.at = end + 1;
                progress.delay = delay;
                Ok(())
            }
            None if !at_end => Err(CsvReadStop::Incomplete),
            _ => Err(self.fault(None, end, ExpectedInput::Separator(b','))),
        }
    }

    /// Sets a slot for an empty field. The slot is zero before, which is the type's default.
    #[inline]
    fn default(&self, column: &CsvColumn, out: &mut TupleBuf) {
        if let Some(defaults) = &self.options.defaults {
            out.copy_slot(column.slot, defaults.as_ref(), column.slot, &column.ty);
        }
    }

    /// Skips from a fault to the end of its field; the end of a quoted field is not looked for.
    #[cold]
    fn field_len(&self, bytes: &[u8], at: usize) -> usize {
        match bytes.get(at) {
            Some(b'"' | b'\'') => usize::MAX,
            _ => field_end(bytes, at, self.options.separator) - at,
        }
    }

    #[cold]
    fn fault(&self, column: Option<&CsvColumn>, at: usize, expected: ExpectedInput) -> CsvReadStop {
        CsvReadStop::Fault(RecordFault {
            attribute: column.map(|c| c.attribute),
            at,
            expected,
        })
    }
}

impl RecordReader for CsvReader {
    fn read(&mut self, bytes: &[u8], at_end: bool, out: &mut TupleBuf) -> ReadStep {
        let start = match self.lines.skip(bytes, at_end) {
            SkipOutcome::RecordAt(start) => start,
            SkipOutcome::NoRecord(step) => return step,
        };
        out.begin(&self.layout);
        let mut progress = CsvRecordProgress {
            at: start,
            ..CsvRecordProgress::default()
        };
        match self.record(bytes, at_end, &mut progress, out) {
            Ok(()) => {
                self.lines.count_line_ends(progress.lines);
                let consumed = self.lines.pass_line_end(bytes, progress.at);
                ReadStep {
                    consumed,
                    record: Record::Tuple {
                        delay: progress.delay,
                    },
                }
            }
            Err(CsvReadStop::Incomplete) => {
                self.lines.incomplete_record(bytes, start, &self.layout)
            }
            Err(CsvReadStop::Fault(fault)) => {
                let field = fault.attribute.map(|_| self.field_len(bytes, fault.at));
                let mut step = self
                    .lines
                    .record_fault(bytes, start, at_end, &self.layout, fault);
                if let (Record::Rejected(error), Some(len)) = (&mut step.record, field) {
                    error.text.truncate(len);
                }
                step
            }
        }
    }

    fn restart(&mut self) {
        self.lines.restart();
    }
}
