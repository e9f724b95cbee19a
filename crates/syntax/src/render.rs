//! Diagnostics as text for people: message, place, source line, underline, labels, help.
//!
//! ```text
//! error[missing-semicolon]: expected `;` after the parameter
//!   --> trades.spl:7:24
//!    |
//!  7 |       file : "trades.csv"
//!    |                          ^
//!    = help: ...
//! ```
//! Without colour the text is stable: golden tests compare it.

use std::borrow::Cow;
use std::fmt::Write;

use crate::{Diagnostic, FileId, Severity, SourceMap, Span};

/// Longer lines are cut around the place.
const EXCERPT_CHARS_MAX: usize = 160;
/// Longer messages lose their middle.
const MESSAGE_CHARS_MAX: usize = 600;
/// Number of blanks that a tab is shown as.
const TAB_BLANKS: &str = "    ";

/// All diagnostics as text, an empty line between each two.
///
/// # Example
/// ```
/// use std::path::Path;
/// use thalweg_syntax::{SourceMap, parse, render};
///
/// let text = "composite Main { graph stream<int32 n> A = Beacon() { } \n";
/// let mut sources = SourceMap::default();
/// let file = sources.add(Path::new("Main.spl"), text);
/// let message = render(&parse(file, text).diagnostics, &sources, false);
/// assert!(message.contains("Main.spl:1:"), "{message}");
/// ```
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, color: bool) -> String {
    let mut out = String::new();
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let written = Renderer { sources, color }.diagnostic(&mut out, diagnostic);
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    out
}

struct Renderer<'s> {
    sources: &'s SourceMap,
    color: bool,
}

/// A place to underline.
struct SourceMark<'d> {
    span: Span,
    /// The line of the text, which may have been generated.
    line: u32,
    text: &'d str,
    is_primary: bool,
}

impl Renderer<'_> {
    fn diagnostic(&self, out: &mut String, diagnostic: &Diagnostic) -> std::fmt::Result {
        let (word, paint) = match diagnostic.severity {
            Severity::Error => ("error", Paint::Red),
            Severity::Warning => ("warning", Paint::Yellow),
        };
        let head = self.paint(paint, &format!("{word}[{}]", diagnostic.code));
        writeln!(
            out,
            "{head}: {}",
            self.paint(Paint::Bold, &shorten_message(&diagnostic.message))
        )?;
        let marks = self.source_marks(diagnostic);
        let lines = marks.iter().map(|mark| self.file_line_of_mark(mark));
        let last = lines.max().unwrap_or(1);
        let margin = last.to_string().len();
        let mut file = None;
        let mut line = 0;
        for mark in &marks {
            if file != Some(mark.span.file) {
                let is_first = file.is_none();
                let at = if is_first { diagnostic.span } else { mark.span };
                self.place(out, at, margin, is_first)?;
                file = Some(mark.span.file);
                line = 0;
            }
            if mark.line != line {
                self.source_line(out, mark, margin, line)?;
                line = mark.line;
            }
            self.underline(out, mark, margin, paint)?;
        }
        for help in &diagnostic.help {
            let sign = self.paint(Paint::Blue, "=");
            writeln!(
                out,
                " {:margin$} {sign} {}: {help}",
                "",
                self.paint(Paint::Bold, "help")
            )?;
        }
        Ok(())
    }

    /// The places by file and line: the file of the diagnostic first.
    fn source_marks<'d>(&self, diagnostic: &'d Diagnostic) -> Vec<SourceMark<'d>> {
        let mark = |span: Span, text: &'d str, is_primary| SourceMark {
            span,
            line: self.sources.file(span.file).text_line(span.start),
            text,
            is_primary,
        };
        let mut marks = vec![mark(diagnostic.span, "", true)];
        let labels = diagnostic.labels.iter();
        marks.extend(labels.map(|label| mark(label.span, label.text.as_str(), false)));
        let first: FileId = diagnostic.span.file;
        marks.sort_by_key(|m| {
            (
                m.span.file != first,
                m.span.file,
                m.line,
                !m.is_primary,
                m.span,
            )
        });
        marks
    }

    fn place(
        &self,
        out: &mut String,
        span: Span,
        margin: usize,
        is_first: bool,
    ) -> std::fmt::Result {
        let arrow = self.paint(Paint::Blue, if is_first { "-->" } else { ":::" });
        let position = self.sources.position(span);
        let path = self.sources.file(span.file).path.display();
        writeln!(
            out,
            " {:margin$}{arrow} {path}:{}:{}",
            "", position.line, position.column
        )?;
        self.gutter(out, margin, "")?;
        out.push('\n');
        Ok(())
    }

    fn gutter(&self, out: &mut String, margin: usize, number: &str) -> std::fmt::Result {
        let text = format!(" {number:>margin$} |");
        write!(out, "{}", self.paint(Paint::Blue, &text))
    }

    fn source_line(
        &self,
        out: &mut String,
        mark: &SourceMark,
        margin: usize,
        before: u32,
    ) -> std::fmt::Result {
        if before > 0 && mark.line > before + 1 {
            writeln!(out, "{}", self.paint(Paint::Blue, "..."))?;
        }
        self.gutter(out, margin, &self.file_line_of_mark(mark).to_string())?;
        let window = self.line_excerpt(mark);
        let shown = format!("{}{}{}", window.ellipsis, window.before, window.rest);
        writeln!(out, " {}", shown.trim_end())
    }

    fn underline(
        &self,
        out: &mut String,
        mark: &SourceMark,
        margin: usize,
        paint: Paint,
    ) -> std::fmt::Result {
        self.gutter(out, margin, "")?;
        let window = self.line_excerpt(mark);
        let blanks = window.ellipsis.chars().count() + window.before.chars().count();
        let (sign, paint) = match mark.is_primary {
            true => ("^", paint),
            false => ("-", Paint::Blue),
        };
        let line = sign.repeat(window.width.max(1));
        let line = format!("{line} {}", mark.text);
        writeln!(out, " {:blanks$}{}", "", self.paint(paint, line.trim_end()))
    }

    /// The number of its line that people know.
    fn file_line_of_mark(&self, mark: &SourceMark) -> u32 {
        self.sources.file(mark.span.file).file_line(mark.line)
    }

    /// Part of the source line that is shown for a mark.
    fn line_excerpt(&self, mark: &SourceMark) -> LineExcerpt {
        let file = self.sources.file(mark.span.file);
        let text = file.line(mark.line);
        let at = (mark.span.start as usize).saturating_sub(file.line_start(mark.line));
        let (before, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        let skipped = match text.len() > EXCERPT_CHARS_MAX {
            true => before.char_indices().rev().nth(EXCERPT_CHARS_MAX / 2 - 1),
            false => None,
        };
        let skipped = skipped.map_or(0, |(at, _)| at);
        let before = &before[skipped..];
        let room = EXCERPT_CHARS_MAX.saturating_sub(before.chars().count());
        let marked = first_chars(self.sources.text(mark.span), room + 1);
        let marked = marked.lines().next().unwrap_or("");
        let width: String = marked.chars().take(room).map(printable).collect();
        LineExcerpt {
            ellipsis: if skipped > 0 { "..." } else { "" },
            before: before.chars().map(printable).collect(),
            rest: rest.chars().take(room).map(printable).collect(),
            width: width.chars().count(),
        }
    }

    fn paint(&self, paint: Paint, text: &str) -> String {
        match self.color && !text.is_empty() {
            true => format!("\x1b[{}m{text}\x1b[0m", paint.code()),
            false => text.to_owned(),
        }
    }
}

fn first_chars(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(count);
    end.map_or(text, |(at, _)| &text[..at])
}

/// A message that quotes an endless name or literal, without its middle.
fn shorten_message(message: &str) -> Cow<'_, str> {
    let count = message.chars().count();
    if count <= MESSAGE_CHARS_MAX {
        return Cow::Borrowed(message);
    }
    let half = MESSAGE_CHARS_MAX / 2;
    let start: String = message.chars().take(half).collect();
    let end: String = message.chars().skip(count - half).collect();
    Cow::Owned(format!("{start}...{end}"))
}

struct LineExcerpt {
    ellipsis: &'static str,
    before: String,
    rest: String,
    width: usize,
}

/// A character as it is shown: control characters would upset the terminal.
fn printable(c: char) -> String {
    match c {
        '\t' => TAB_BLANKS.to_owned(),
        c if c.is_control() => '\u{FFFD}'.to_string(),
        c => c.to_string(),
    }
}

#[derive(Clone, Copy)]
enum Paint {
    Red,
    Yellow,
    Blue,
    Bold,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Red => "1;31",
            Paint::Yellow => "1;33",
            Paint::Blue => "1;34",
            Paint::Bold => "1",
        }
    }
}
