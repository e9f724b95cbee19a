//! Broken parts of a file: where its text could not be read as it was written, and the names that
//! may be missing for that reason.
//!
//! The parser goes on behind what it cannot use, so that the syntax tree lacks what stood there.
//! [`BrokenParts`] is the tree's own record of it, made from the errors of a parse; later stages
//! report nothing about what is broken already.

use std::collections::HashSet;
use std::ops::Range;

use crate::step_count::count_steps;
use crate::{Diagnostic, FileId, Severity, Span};

/// Rule behind whose error the rest of the file is missing.
const UNTERMINATED_COMMENT: &str = "unterminated-comment";

/// Rules of the lexer and the parser that do not say what is meant: the rest of the line is skipped
/// or misread.
const MISREAD_CODES: &[&str] = &[
    "expected-token",
    "missing-semicolon",
    "unexpected-token",
    "unexpected-character",
    "unmatched-bracket",
    UNTERMINATED_COMMENT,
    "unterminated-string",
];

/// Further rules behind which a declaration on the line may be missing from the tree.
const MISSED_NAME_CODES: &[&str] = &[
    "dollar-name",
    "duplicate-ports",
    "formal-name",
    "misplaced-modifier",
    "mixed-tuple",
    "nested-composite",
    "nested-function",
    "reserved-word",
];

/// Sort of thing that a declaration names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeclarationKind {
    /// An attribute of a tuple.
    Attribute,
    /// A composite operator, by its definition.
    Composite,
    /// A parameter of a composite.
    Formal,
    /// A function of the program.
    Function,
    /// A stream, or a port of a composite.
    Stream,
    /// A type with a name.
    Type,
    /// A variable of a body.
    Variable,
}

/// Notes of the parser on how it went on behind errors.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Declarations without a name.
    pub(crate) unnamed: HashSet<DeclarationKind>,
    /// Errors behind which nothing was skipped: it is clear what is meant.
    pub(crate) mended: HashSet<Span>,
}

/// Places that the parser could not read, and names that the syntax tree lacks for it.
#[derive(Clone, Debug, Default)]
pub struct BrokenParts {
    file: FileId,
    /// Places of the errors.
    faults: PlaceIndex,
    /// Places of what was misread with the errors: from the beginning of the statement or entry, if
    /// that is on the line of the error, to the end of that line; to the end of the file if a
    /// comment does not end. Only the error's place if the parser knows what was meant.
    misread: PlaceIndex,
    names: HashSet<Box<str>>,
    unnamed: HashSet<DeclarationKind>,
}

/// Places of one file, by where they begin: each is a pair of offsets.
#[derive(Clone, Debug, Default)]
struct PlaceIndex {
    starts: Vec<u32>,
    /// Largest end of the places up to each.
    ends: Vec<u32>,
}

/// Place in a text that only moves forward, with the line that it lies on: errors come in the order
/// of their places, so a line is searched once however many it has.
struct LineCursor<'t> {
    text: &'t str,
    at: usize,
    /// The line, without its end.
    line: Range<usize>,
    /// Where the statement or entry at the place begins on the line.
    statement_start: usize,
}

impl BrokenParts {
    /// Broken parts of a file with these findings, which are in the order of their places.
    pub(crate) fn new(
        file: FileId,
        text: &str,
        findings: &[Diagnostic],
        recovery: Recovery,
    ) -> BrokenParts {
        let mut names = HashSet::new();
        let (mut faults, mut misread) = (Vec::new(), Vec::new());
        let mut words_end = 0;
        let mut cursor = LineCursor::new(text);
        for error in findings.iter().filter(|d| d.severity == Severity::Error) {
            let fault = error.span;
            cursor.move_to(fault.start as usize);
            let end = match error.code {
                UNTERMINATED_COMMENT => text.len(),
                _ => cursor.line.end,
            };
            let is_mended = recovery.mended.contains(&fault);
            let is_misread = MISREAD_CODES.contains(&error.code) && !is_mended;
            // Errors on one line share its names, which are collected once.
            let start = cursor.line.start.max(words_end);
            if (is_misread || MISSED_NAME_CODES.contains(&error.code)) && start < end {
                names.extend(words(&text[start..end]).map(|word| plain_name(word).into()));
                words_end = end;
            }
            faults.push((fault.start, fault.end));
            misread.push(match is_misread {
                true => (cursor.statement_start as u32, end as u32),
                false => (fault.start, fault.end),
            });
        }
        BrokenParts {
            file,
            faults: PlaceIndex::new(faults),
            misread: PlaceIndex::new(misread),
            names,
            unnamed: recovery.unnamed,
        }
    }

    /// Whether the whole file was read as it was written.
    pub fn is_empty(&self) -> bool {
        self.faults.starts.is_empty()
    }

    /// Whether a name stands in a broken part, so that its declaration may have been lost there.
    /// The `$` of a composite's parameter makes no difference.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains(plain_name(name))
    }

    /// Whether a declaration of this kind has lost its name, so that any such name may be its.
    pub fn is_unnamed(&self, kind: DeclarationKind) -> bool {
        self.unnamed.contains(&kind)
    }

    /// Whether a node at this place was misread: it begins in a broken part, or an error lies in
    /// it.
    pub fn holds(&self, place: Span) -> bool {
        let begins = place.file == self.file && self.misread.meets(place.start, place.start);
        begins || self.meets(place)
    }

    /// Whether an error lies in a node at this place, or touches it.
    pub fn meets(&self, place: Span) -> bool {
        place.file == self.file && self.faults.meets(place.start, place.end)
    }

    /// Whether an error begins in a node at this place, so that parts of it may be missing.
    pub fn begins_within(&self, place: Span) -> bool {
        place.file == self.file && self.faults.begins_within(place.start, place.end)
    }
}

impl PlaceIndex {
    fn new(mut places: Vec<(u32, u32)>) -> PlaceIndex {
        places.sort_unstable();
        let mut furthest = 0;
        let ends = places.iter().map(|&(_, end)| {
            furthest = end.max(furthest);
            furthest
        });
        PlaceIndex {
            ends: ends.collect(),
            starts: places.iter().map(|&(start, _)| start).collect(),
        }
    }

    /// Whether one of the places overlaps `start..=end`, or touches it.
    fn meets(&self, start: u32, end: u32) -> bool {
        let begun = self.starts.partition_point(|&at| at <= end);
        begun > 0 && self.ends[begun - 1] >= start
    }

    /// Whether one of the places begins in `start..=end`.
    fn begins_within(&self, start: u32, end: u32) -> bool {
        let before = self.starts.partition_point(|&at| at < start);
        self.starts.get(before).is_some_and(|&at| at <= end)
    }
}

impl<'t> LineCursor<'t> {
    fn new(text: &'t str) -> LineCursor<'t> {
        let mut cursor = LineCursor {
            text,
            at: 0,
            line: 0..0,
            statement_start: 0,
        };
        cursor.enter_line(0);
        cursor
    }

    /// Moves on to a place, which is not before the last one.
    fn move_to(&mut self, at: usize) {
        count_steps(at - self.at);
        if at > self.line.end {
            let before = self.text[self.line.end..at].rfind('\n').unwrap_or(0);
            self.enter_line(self.line.end + before + 1);
        }
        if let Some(before) = self.text[self.at..at].rfind([';', '{', '}']) {
            self.statement_start = self.at + before + 1;
        }
        self.at = at;
    }

    fn enter_line(&mut self, start: usize) {
        let rest = &self.text[start..];
        let length = rest.find('\n').unwrap_or(rest.len());
        count_steps(length);
        self.line = start..start + length;
        self.statement_start = start;
        self.at = start;
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    text.split(move |c| !is_part(c)).filter(|w| !w.is_empty())
}

/// A name without the `$` that begins the names of a composite's parameters.
fn plain_name(name: &str) -> &str {
    name.strip_prefix('$').unwrap_or(name)
}
