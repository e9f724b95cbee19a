//! Reader of csv: a line to a tuple.

use std::sync::Arc;

use super::column::CsvColumn;
use super::field::{field_end, read_field};
use super::field_ends::FieldEnds;
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
    /// Whether fields may be told from each other before they are read: no number and no quote
    /// holds a separator.
    pub(super) splits_first: bool,
    lines: LineTracker,
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
            .map(|attribute| CsvColumn::new(attribute, layout.attribute(attribute)));
        let columns: Vec<CsvColumn> = columns.collect();
        let lines = LineTracker::new(options.header_lines, options.record_bytes_max);
        CsvReader {
            layout,
            splits_first: may_split_first(options.separator) && !columns.is_empty(),
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
        if self.splits_first {
            self.fields_by_ends(bytes, at_end, progress, out)?;
        } else {
            self.fields(bytes, at_end, progress, out)?;
        }
        self.end(bytes, at_end, progress)
    }

    /// Reads the fields of a record, of which most are empty, plain numbers or plain strings.
    fn fields_by_ends(
        &self,
        bytes: &[u8],
        at_end: bool,
        progress: &mut CsvRecordProgress,
        out: &mut TupleBuf,
    ) -> Result<(), CsvReadStop> {
        let separator = self.options.separator;
        let mut ends = FieldEnds::new(separator, bytes, progress.at);
        let mut columns = self.columns.iter();
        let mut at = progress.at;
        while let Some(column) = columns.next() {
            let end = ends.next(bytes, at);
            if end == at {
                // Nothing, and perhaps nothing in some fields behind it.
                let empty = ends.separators_from(at).min(columns.len()).max(1);
                let (others, rest) = columns.as_slice().split_at(empty - 1);
                self.default(column, out);
                if self.options.defaults.is_some() {
                    others.iter().for_each(|column| self.default(column, out));
                }
                columns = rest.iter();
                at += others.len();
            } else if column.store_plain(bytes, at..end, out) {
                at = end;
            } else {
                progress.at = at;
                self.field(bytes, column, progress, out)?;
                at = progress.at;
            }
            if columns.as_slice().is_empty() {
                break;
            }
            if bytes.get(at) != Some(&separator) {
                progress.at = at;
                return self.separator_missing(columns.as_slice(), bytes, at_end, progress, out);
            }
            at += 1;
        }
        progress.at = at;
        Ok(())
    }

    /// Reads the fields of a record one by one.
    fn fields(
        &self,
        bytes: &[u8],
        at_end: bool,
        progress: &mut CsvRecordProgress,
        out: &mut TupleBuf,
    ) -> Result<(), CsvReadStop> {
        let mut columns = self.columns.iter();
        while let Some(column) = columns.next() {
            self.field(bytes, column, progress, out)?;
            let missing = columns.as_slice();
            if missing.is_empty() {
                break;
            }
            if bytes.get(progress.at) != Some(&self.options.separator) {
                return self.separator_missing(missing, bytes, at_end, progress, out);
            }
            progress.at += 1;
        }
        Ok(())
    }

    /// Ends a record in which no separator stands before the fields of these columns.
    #[cold]
    fn separator_missing(
        &self,
        missing: &[CsvColumn],
        bytes: &[u8],
        at_end: bool,
        progress: &CsvRecordProgress,
        out: &mut TupleBuf,
    ) -> Result<(), CsvReadStop> {
        if progress.at >= bytes.len() && !at_end {
            return Err(CsvReadStop::Incomplete);
        }
        if self.options.reports_faults {
            let expected = ExpectedInput::Separator(self.options.separator);
            return Err(self.fault(missing.first(), progress.at, expected));
        }
        // Unchecked: what is missing gives the default.
        missing.iter().for_each(|column| self.default(column, out));
        Ok(())
    }

    /// Reads one field and the blanks around it.
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
                match extra_fields_end(bytes, progress.at, self.options.separator) {
                    Some(end) => {
                        progress.lines += count_line_ends(&bytes[progress.at..end]);
                        progress.at = end;
                    }
                    None if !at_end => return Err(CsvReadStop::Incomplete),
                    // A quote that nothing closes, or the last line.
                    None => progress.at = line_end(bytes, progress.at).unwrap_or(bytes.len()),
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

    /// Reads a record once more if its quotes are doubled, else rejects it. Whatever is seldom done
    /// is done here, so that reading a record as it should be stays short.
    #[cold]
    #[inline(never)]
    fn read_malformed(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        out: &mut TupleBuf,
        fault: RecordFault,
    ) -> ReadStep {
        if !is_doubled(bytes, fault.at) {
            return self.reject(bytes, start, at_end, fault);
        }
        let Some(escaped) = escape_doubled_quotes(&bytes[start..], self.options.separator) else {
            // The last quote begins what does not end.
            let open = RecordFault {
                attribute: None,
                expected: ExpectedInput::Quote(bytes[fault.at]),
                ..fault
            };
            return self.reject(bytes, start, at_end, open);
        };
        out.begin(&self.layout);
        let mut progress = CsvRecordProgress::default();
        match self.record(&escaped, at_end, &mut progress, out) {
            Ok(()) => {
                self.lines.count_line_ends(progress.lines);
                let delay = progress.delay;
                ReadStep {
                    consumed: self.lines.pass_line_end(bytes, start + progress.at),
                    record: Record::Tuple { delay },
                }
            }
            Err(CsvReadStop::Incomplete) => {
                self.lines.incomplete_record(bytes, start, &self.layout)
            }
            Err(CsvReadStop::Fault(mut fault)) => {
                fault.at += start;
                self.reject(bytes, start, at_end, fault)
            }
        }
    }

    /// The step of a record that is none, with what would be right as far as it is known.
    fn reject(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        mut fault: RecordFault,
    ) -> ReadStep {
        let is_column = |column: &CsvColumn| Some(column.attribute) == fault.attribute;
        let column = self.columns.iter().position(is_column);
        let ends = matches!(bytes.get(fault.at), None | Some(b'\n' | b'\r'));
        match (&fault.expected, column) {
            (ExpectedInput::Separator(_), Some(column)) if ends => {
                fault.expected = ExpectedInput::Fields {
                    needed: self.columns.len(),
                    found: column,
                };
            }
            (ExpectedInput::Byte(b'('), Some(column))
                if self.columns[column].ty == Type::Timestamp =>
            {
                fault.expected = ExpectedInput::Value(Type::Timestamp);
            }
            _ => {}
        }
        let field = fault.attribute.map(|_| self.field_len(bytes, fault.at));
        let mut step = self
            .lines
            .record_fault(bytes, start, at_end, &self.layout, fault);
        if let (Record::Rejected(error), Some(len)) = (&mut step.record, field) {
            error.text.truncate(len);
        }
        step
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

/// The end of the line that has further fields from a separator on; those in double quotes may have
/// line ends within them. `None` if the bytes end before. An apostrophe is no quote here: free text
/// that begins with one, which nobody reads, would pass over lines up to the next one.
fn extra_fields_end(bytes: &[u8], start: usize, separator: u8) -> Option<usize> {
    let end = line_end(bytes, start);
    let rest = &bytes[start..end.unwrap_or(bytes.len())];
    if memchr::memchr(b'"', rest).is_none() {
        return end;
    }
    let (mut at, mut begins_field) = (start, false);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        match byte {
            b'"' if begins_field => {
                // Where the quotes are doubled, a field ends and the next one begins at once.
                at = quoted_field_end(bytes, at)?;
            }
            b'\n' | b'\r' => return Some(at - 1),
            _ => begins_field = byte == separator || begins_field && matches!(byte, b' ' | b'\t'),
        }
    }
}

/// The offset behind the double quote that ends a field, from behind the one that begins it.
fn quoted_field_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr::memchr2(b'"', b'\\', &bytes[at..])?;
        if bytes[found] == b'"' {
            return Some(found + 1);
        }
        // An escape has a character behind it.
        at = (found + 2 <= bytes.len()).then_some(found + 2)?;
    }
}

fn count_line_ends(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Whether a quote stands at an offset, and another one before it.
fn is_doubled(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_some_and(|before| matches!(before, b'"' | b'\'') && bytes.get(at) == Some(before))
}

/// A record with its line end, in which each pair of quotes within quotes, as RFC 4180 has them, is
/// a backslash and a quote, as SPL has them; offsets stay. `None` if the bytes end within quotes.
fn escape_doubled_quotes(bytes: &[u8], separator: u8) -> Option<Vec<u8>> {
    let mut escaped = Vec::new();
    let (mut at, mut begins_field) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        let is_quote = begins_field && matches!(byte, b'"' | b'\'');
        let is_blank = matches!(byte, b' ' | b'\t');
        begins_field = byte == separator || begins_field && is_blank;
        escaped.push(byte);
        at += 1;
        if is_quote {
            at = escape_field(bytes, at, byte, &mut escaped)?;
        } else if matches!(byte, b'\n' | b'\r') {
            break;
        }
    }
    Some(escaped)
}

/// Copies a field behind the quote that begins it, up to the one that ends it. Returns the offset
/// behind that; `None` if there is none.
fn escape_field(bytes: &[u8], mut at: usize, quote: u8, escaped: &mut Vec<u8>) -> Option<usize> {
    loop {
        let byte = *bytes.get(at)?;
        let next = bytes.get(at + 1);
        match (byte, next) {
            (b'\\', Some(&next)) => escaped.extend([byte, next]),
            (byte, Some(&next)) if byte == quote && next == quote => escaped.extend([b'\\', quote]),
            (byte, _) => {
                escaped.push(byte);
                at += 1;
                if byte == quote {
                    return Some(at);
                }
                continue;
            }
        }
        at += 2;
    }
}

/// Whether no number can hold a separator, and no quote or blank is one.
fn may_split_first(separator: u8) -> bool {
    !(separator.is_ascii_alphanumeric() || b"+-.\"' \t\n\r".contains(&separator))
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
            Err(CsvReadStop::Fault(fault)) => self.read_malformed(bytes, start, at_end, out, fault),
        }
    }

    fn restart(&mut self) {
        self.lines.restart();
    }
}
