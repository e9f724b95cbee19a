//! Source files and places in them.
//!
//! Every token, tree node and typed expression carries a [`Span`]: a file and a range of bytes. The
//! [`SourceMap`] owns the text and turns a span into line and column when a message needs
//! it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::step_count::count_steps;

/// A file of a [`SourceMap`], numbered from 0 in the order of loading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file: `start..end`, end exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// File that the text is in.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `file` from `start` to `end`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// The smallest span that covers both; both must be of the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file);
        Span::new(
            self.file,
            self.start.min(other.start),
            self.end.max(other.end),
        )
    }
}

/// A place as people count: both from 1; the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Number of the line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One source file with its text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The path as it was given or found; shown in diagnostics.
    pub path: PathBuf,
    /// The whole text. Bytes that are not UTF-8 were replaced by U+FFFD when loading.
    pub text: Arc<str>,
    line_starts: Vec<u32>,
    /// How many characters stand before each [`CHARACTER_STEP_BYTES`] bytes.
    characters_before_step: Vec<u32>,
    /// Line of the original file for each line of a generated text.
    origin_lines: Option<Vec<u32>>,
}

/// Bytes between two places whose number of characters is known, so that a column is found without
/// counting through a line of any length.
const CHARACTER_STEP_BYTES: usize = 256;

/// How many characters begin in these bytes of UTF-8.
fn count_characters(bytes: &[u8]) -> u32 {
    count_steps(bytes.len());
    bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count() as u32
}

impl SourceFile {
    fn new(path: &Path, text: Arc<str>, origins: Option<Vec<u32>>) -> SourceFile {
        let newlines = text.bytes().enumerate().filter(|&(_, b)| b == b'\n');
        let line_starts = std::iter::once(0)
            .chain(newlines.map(|(at, _)| at as u32 + 1))
            .collect();
        let mut before = 0;
        let steps = text.as_bytes().chunks(CHARACTER_STEP_BYTES).map(|bytes| {
            before += count_characters(bytes);
            before
        });
        let characters = std::iter::once(0).chain(steps).collect();
        SourceFile {
            path: path.to_owned(),
            text,
            line_starts,
            characters_before_step: characters,
            origin_lines: origins,
        }
    }

    /// The position of a byte offset; an offset past the end is the end. In a text that was
    /// generated the line is that of the file, and the column that of the text.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.text_line(offset);
        let offset = (offset as usize).min(self.text.len());
        let start = self.line_start(line);
        Position {
            line: self.file_line(line),
            column: self.characters_before(offset) - self.characters_before(start) + 1,
        }
    }

    /// The line of the text, counted from 1, that a byte offset lies in; an offset past the end is
    /// the end.
    pub fn text_line(&self, offset: u32) -> u32 {
        let offset = (offset as usize).min(self.text.len());
        let begun = |&start: &u32| start as usize <= offset;
        self.line_starts.partition_point(begun) as u32
    }

    /// The line of the file that a line of the text comes from: the same unless it was generated.
    pub fn file_line(&self, line: u32) -> u32 {
        let origins = self
            .origin_lines
            .as_ref()
            .filter(|origins| !origins.is_empty());
        origins.map_or(line, |origins| {
            origins[(line.max(1) as usize - 1).min(origins.len() - 1)]
        })
    }

    fn characters_before(&self, offset: usize) -> u32 {
        let step = offset / CHARACTER_STEP_BYTES;
        self.characters_before_step[step]
            + count_characters(&self.text.as_bytes()[step * CHARACTER_STEP_BYTES..offset])
    }

    /// Offset of a line of the text, counted from 1; the end of the text if there is no such line.
    pub(crate) fn line_start(&self, line: u32) -> usize {
        let start = self.line_starts.get(line.saturating_sub(1) as usize);
        start.map_or(self.text.len(), |&start| start as usize)
    }

    /// The text of a line of the text, counted from 1, without its end of line.
    pub fn line(&self, line: u32) -> &str {
        let index = line.saturating_sub(1) as usize;
        let Some(&start) = self.line_starts.get(index) else {
            return "";
        };
        let end = self
            .line_starts
            .get(index + 1)
            .map_or(self.text.len(), |&e| e as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

/// All files of one compilation.
///
/// # Example
/// ```
/// use std::path::Path;
/// use thalweg_syntax::{SourceMap, Span};
///
/// let mut sources = SourceMap::default();
/// let file = sources.add(Path::new("Main.spl"), "a\nbc d\n");
/// let span = Span::new(file, 5, 6);
/// assert_eq!(sources.text(span), "d");
/// let position = sources.position(span);
/// assert_eq!((position.line, position.column), (2, 4));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a file and returns its number.
    pub fn add(&mut self, path: &Path, text: impl Into<Arc<str>>) -> FileId {
        self.add_file(path, text.into(), None)
    }

    /// Adds a text that was generated from a file; `origin_lines` has for each of its lines the
    /// line of the file that it comes from.
    pub fn add_generated(
        &mut self,
        path: &Path,
        text: impl Into<Arc<str>>,
        origins: Vec<u32>,
    ) -> FileId {
        self.add_file(path, text.into(), Some(origins))
    }

    fn add_file(&mut self, path: &Path, text: Arc<str>, origins: Option<Vec<u32>>) -> FileId {
        self.files.push(SourceFile::new(path, text, origins));
        FileId(self.files.len() as u32 - 1)
    }

    /// Gives a file another text; what lies in the text before has no meaning any more.
    pub fn replace(&mut self, id: FileId, text: impl Into<Arc<str>>) {
        let file = &mut self.files[id.0 as usize];
        *file = SourceFile::new(&file.path, text.into(), None);
    }

    /// The file of a number that this map gave out.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// Every file, in order of loading.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        self.files
            .iter()
            .enumerate()
            .map(|(at, file)| (FileId(at as u32), file))
    }

    /// Line and column at which a span begins.
    pub fn position(&self, span: Span) -> Position {
        self.file(span.file).position(span.start)
    }

    /// The line of the text in which a span begins.
    pub fn line_of(&self, span: Span) -> u32 {
        self.file(span.file).text_line(span.start)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file)
            .text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }
}
