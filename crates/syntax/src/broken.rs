//! Broken parts of a file: where its text could not be read as it was written, and the names that
//! may be missing for that reason.
//!
//! The parser goes on behind what it cannot use, so that the syntax tree lacks what stood there.
//! [`BrokenParts`] is the tree's own record of it, made from the errors of a parse; later stages
//! report nothing about what is broken already.

use std::collections::HashSet;

use crate::{Diagnostic, FileId, Severity, Span};

/// Rules of the lexer and the parser that do not say what is meant: the rest of the line is skipped
/// or misread.
const MISREAD_CODES: &[&str] = &[
    "expected-token",
    "missing-semicolon",
    "unexpected-token",
    "unexpected-character",
    "unmatched-bracket",
    "unterminated-comment",
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

/// Part of a file that may have been misread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenRegion {
    /// Place of the error.
    pub fault: Span,
    /// Place of what was misread with it: from the beginning of the statement or entry, if that is
    /// on the line of the error, to the end of that line. Only the error's place if the parser
    /// knows what was meant.
    pub line: Span,
}

/// Notes of the parser on how it went on behind errors.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// Declarations without a name.
    pub(crate) unnamed: Vec<DeclarationKind>,
    /// Errors behind which nothing was skipped: it is clear what is meant.
    pub(crate) mended: HashSet<Span>,
}

/// Places that the parser could not read, and names that the syntax tree lacks for it.
#[derive(Clone, Debug, Default)]
pub struct BrokenParts {
    regions: Vec<BrokenRegion>,
    names: HashSet<Box<str>>,
    unnamed: Vec<DeclarationKind>,
}

impl BrokenParts {
    /// Broken parts of a file with these findings.
    pub(crate) fn new(
        file: FileId,
        text: &str,
        findings: &[Diagnostic],
        recovery: Recovery,
    ) -> BrokenParts {
        let mut parts = BrokenParts {
            unnamed: recovery.unnamed,
            ..BrokenParts::default()
        };
        let mut words_end = 0;
        for error in findings.iter().filter(|d| d.severity == Severity::Error) {
            let fault = error.span;
            let end = line_end(text, fault.end as usize);
            // Errors on one line share its names, which are collected once.
            let start = line_start(text, fault.start as usize).max(words_end);
            let may_miss_names =
                MISREAD_CODES.contains(&error.code) || MISSED_NAME_CODES.contains(&error.code);
            if may_miss_names && start < end {
                for word in words(&text[start..end]) {
                    // A parameter of a composite is given by its name without `$`.
                    let plain = word.strip_prefix('$');
                    parts.names.extend(plain.map(Box::from));
                    parts.names.insert(word.into());
                }
                words_end = end;
            }
            let is_misread =
                MISREAD_CODES.contains(&error.code) && !recovery.mended.contains(&fault);
            let line = match is_misread {
                true => misread_line(file, text, fault),
                false => fault,
            };
            parts.regions.push(BrokenRegion { fault, line });
        }
        parts
    }

    /// Whether the whole file was read as it was written.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }

    /// Regions of the file, by place.
    pub fn regions(&self) -> &[BrokenRegion] {
        &self.regions
    }

    /// Whether a name stands in a broken part, so that its declaration may have been lost there.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a declaration of this kind has lost its name, so that any such name may be its.
    pub fn is_unnamed(&self, kind: DeclarationKind) -> bool {
        self.unnamed.contains(&kind)
    }
}

impl BrokenRegion {
    /// Whether a node at this place was misread: it begins in the broken part, or the error lies
    /// in it.
    pub fn holds(&self, place: Span) -> bool {
        let begins = self.line.start <= place.start && place.start <= self.line.end;
        self.meets(place) || (self.line.file == place.file && begins)
    }

    /// Whether the error lies in a node at this place, or touches it.
    pub fn meets(&self, place: Span) -> bool {
        let fault = self.fault;
        fault.file == place.file && fault.start <= place.end && place.start <= fault.end
    }
}

fn misread_line(file: FileId, text: &str, fault: Span) -> Span {
    let at = fault.start as usize;
    let line = line_start(text, at);
    let statement = text[line..at].rfind([';', '{', '}']);
    let start = statement.map_or(line, |before| line + before + 1);
    Span::new(file, start as u32, line_end(text, at) as u32)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |n| at + n)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    text.split(move |c| !is_part(c)).filter(|w| !w.is_empty())
}
