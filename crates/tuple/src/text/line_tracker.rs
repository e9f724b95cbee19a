//! Lines of text files: what to skip between records, and where they are.

use super::record::{ReadStep, RecordError};
use super::{ExpectedInput, Record};
use crate::Layout;

/// Most bytes of an offending text that an error shows.
const SHOWN_BYTES_MAX: usize = 80;

/// The place in a text file. Lines end with `\n`, `\r` or `\r\n`.
#[derive(Clone, Debug)]
pub(super) struct LineTracker {
    /// Number of the line that the next byte belongs to, from 1.
    line: u64,
    /// The last byte consumed was `\r`, so a `\n` now belongs to it.
    after_return: bool,
    /// Header lines at the start of a file, and how many of them are still to skip.
    header: (u32, u32),
    /// Bytes of a record at most.
    record_bytes_max: usize,
}

/// Place of a fault in a piece of bytes.
#[derive(Debug)]
pub(super) struct RecordFault {
    /// The attribute being read.
    pub attribute: Option<usize>,
    /// Offset of the fault.
    pub at: usize,
    /// Kind of input that was missing.
    pub expected: ExpectedInput,
}

/// Outcome of skipping the input between two records.
pub(super) enum SkipOutcome {
    /// A record begins here.
    RecordAt(usize),
    /// None, up to here.
    NoRecord(ReadStep),
}

impl LineTracker {
    pub(super) fn new(header_lines: u32, record_bytes_max: usize) -> LineTracker {
        let header = (header_lines, header_lines);
        LineTracker {
            line: 1,
            after_return: false,
            header,
            record_bytes_max,
        }
    }

    pub(super) fn restart(&mut self) {
        *self = LineTracker::new(self.header.0, self.record_bytes_max);
    }

    /// Skips header lines, blank lines and comments.
    #[inline]
    pub(super) fn skip(&mut self, bytes: &[u8], at_end: bool) -> SkipOutcome {
        let is_record = !self.after_return
            && self.header.1 == 0
            && !matches!(
                bytes.first(),
                None | Some(b' ' | b'\t' | b'#' | b'\n' | b'\r')
            );
        match is_record {
            true => SkipOutcome::RecordAt(0),
            false => self.skip_lines(bytes, at_end),
        }
    }

    fn skip_lines(&mut self, bytes: &[u8], at_end: bool) -> SkipOutcome {
        let mut at = 0;
        if self.after_return && !bytes.is_empty() {
            at = usize::from(bytes[0] == b'\n');
            self.after_return = false;
        }
        loop {
            let first = skip_while(bytes, at, |b| matches!(b, b' ' | b'\t'));
            let is_record = self.header.1 == 0
                && !matches!(bytes.get(first), None | Some(b'#' | b'\n' | b'\r'));
            if is_record {
                return SkipOutcome::RecordAt(at);
            }
            match line_end(bytes, first) {
                Some(end) => at = self.pass_line_end(bytes, end),
                None if at_end => {
                    return SkipOutcome::NoRecord(ReadStep {
                        consumed: bytes.len(),
                        record: Record::End,
                    });
                }
                None => {
                    return SkipOutcome::NoRecord(ReadStep {
                        consumed: at,
                        record: Record::NeedMore,
                    });
                }
            }
            self.header.1 = self.header.1.saturating_sub(1);
        }
    }

    /// Passes the end of a line at an offset; returns the offset behind it.
    #[inline]
    pub(super) fn pass_line_end(&mut self, bytes: &[u8], end: usize) -> usize {
        if end >= bytes.len() {
            return bytes.len();
        }
        self.line += 1;
        match bytes[end..] {
            [b'\r', b'\n', ..] => end + 2,
            [b'\r'] => {
                self.after_return = true;
                end + 1
            }
            _ => end + 1,
        }
    }

    /// Counts the line ends within a record.
    pub(super) fn count_line_ends(&mut self, lines: u64) {
        self.line += lines;
    }

    /// The step that a fault makes of a record from `start`: more bytes if its line may be cut off,
    /// else a rejection.
    #[cold]
    pub(super) fn record_fault(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        layout: &Layout,
        fault: RecordFault,
    ) -> ReadStep {
        let is_open = matches!(fault.expected, ExpectedInput::Quote(_));
        if !at_end && (is_open || line_end(bytes, fault.at).is_none()) {
            return self.incomplete_record(bytes, start, layout);
        }
        self.reject(bytes, start, layout, fault)
    }

    /// The step of a record from `start` that the bytes cut off.
    #[cold]
    pub(super) fn incomplete_record(
        &mut self,
        bytes: &[u8],
        start: usize,
        layout: &Layout,
    ) -> ReadStep {
        if bytes.len() - start <= self.record_bytes_max {
            return ReadStep {
                consumed: start,
                record: Record::NeedMore,
            };
        }
        let expected = ExpectedInput::ShorterRecord(self.record_bytes_max);
        let fault = RecordFault {
            attribute: None,
            at: start,
            expected,
        };
        if line_end(bytes, start).is_none() {
            // What is still to come of the line goes the way of header lines.
            self.header.1 += 1;
        }
        self.reject(bytes, start, layout, fault)
    }

    /// Rejects a record and consumes its first line: where the fault is on a later one, a quote may
    /// be missing or too many, and the lines between are records of their own.
    fn reject(
        &mut self,
        bytes: &[u8],
        start: usize,
        layout: &Layout,
        fault: RecordFault,
    ) -> ReadStep {
        let end = line_end(bytes, start).unwrap_or(bytes.len());
        let fault_end = line_end(bytes, fault.at).unwrap_or(bytes.len());
        let later_lines = count_lines(&bytes[start..fault.at]);
        let line_start = bytes[start..fault.at]
            .iter()
            .rposition(|&b| b == b'\n' || b == b'\r');
        let line_start = line_start.map_or(start, |at| start + at + 1);
        let shown = &bytes[fault.at..fault_end.min(fault.at + SHOWN_BYTES_MAX)];
        let name = fault
            .attribute
            .map(|at| layout.schema.attributes[at].name.clone());
        let error = RecordError {
            attribute: fault.attribute,
            name,
            line: self.line + later_lines,
            column: fault.at - line_start + 1,
            text: shown.to_vec(),
            expected: fault.expected,
            begins_in: (later_lines > 0).then_some(self.line),
        };
        ReadStep {
            consumed: self.pass_line_end(bytes, end),
            record: Record::Rejected(Box::new(error)),
        }
    }
}

/// The offset of the next `\n` or `\r`.
pub(super) fn line_end(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr2(b'\n', b'\r', &bytes[from..]).map(|at| from + at)
}

/// The offset of the next byte that is none of these.
#[inline]
pub(super) fn skip_while(bytes: &[u8], mut at: usize, is: impl Fn(u8) -> bool) -> usize {
    while bytes.get(at).is_some_and(|&b| is(b)) {
        at += 1;
    }
    at
}

/// The number of line ends in a text.
pub(super) fn count_lines(text: &[u8]) -> u64 {
    let ends = text
        .iter()
        .enumerate()
        .filter(|&(at, &byte)| byte == b'\n' || byte == b'\r' && text.get(at + 1) != Some(&b'\n'));
    ends.count() as u64
}
