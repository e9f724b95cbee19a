//! Findings of the compiler on a program, as text and as JSON.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use syntax::{Diagnostic, Severity, SourceMap, Span};

use crate::error::Error;

/// The compiler's errors and warnings, with the source texts they point into.
#[derive(Debug, Default)]
pub struct Findings {
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
    /// Number of warnings that were made errors.
    denied: usize,
}

impl Findings {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, sources: SourceMap) -> Findings {
        Findings {
            diagnostics,
            sources,
            denied: 0,
        }
    }

    /// Leaves out what was reported already, of another program that uses the same file, and counts
    /// the rest as reported.
    pub fn leave_out_reported(&mut self, reported: &mut ReportedFindings) {
        let sources = &self.sources;
        self.diagnostics.retain(|finding| {
            let path = sources.file(finding.span.file).path.clone();
            let message = finding.message.clone();
            let key = (path, finding.span.start, finding.code, message);
            reported.0.insert(key)
        });
    }

    /// Makes every warning an error.
    pub fn deny_warnings(&mut self) {
        for finding in &mut self.diagnostics {
            if finding.severity == Severity::Warning {
                finding.severity = Severity::Error;
                self.denied += 1;
            }
        }
    }

    /// The finding for a file that cannot be read: one error, at the file's beginning.
    pub fn unreadable(path: &Path, error: &Error) -> Findings {
        let mut sources = SourceMap::default();
        let file = sources.add(path, "");
        let span = Span::new(file, 0, 0);
        let finding = Diagnostic::error("unreadable-file", span, error.to_string());
        Findings::new(vec![finding], sources)
    }

    /// The findings, sorted by file and place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The texts of all files that the compiler has read.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Whether at least one finding is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|finding| finding.severity == Severity::Error)
    }

    /// Prints the findings for people: position, message, source line with a caret, and help. The
    /// last line counts errors and warnings. Empty if there are no findings; with `colour`, the
    /// text has ANSI escape sequences.
    pub fn to_text(&self, colour: bool) -> String {
        self.text_of(&self.diagnostics, colour)
    }

    /// Prints the errors alone, as [`Findings::to_text`] does.
    pub fn errors_text(&self, colour: bool) -> String {
        let is_error = |finding: &&Diagnostic| finding.severity == Severity::Error;
        let errors: Vec<_> = self.diagnostics.iter().filter(is_error).cloned().collect();
        self.text_of(&errors, colour)
    }

    fn text_of(&self, findings: &[Diagnostic], colour: bool) -> String {
        if findings.is_empty() {
            return String::new();
        }
        let mut text = syntax::render(findings, &self.sources, colour);
        let errors = findings
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count();
        let warnings = findings.len() - errors;
        let counted = |count: usize, noun: &str| match count {
            0 => None,
            1 => Some(format!("1 {noun}")),
            n => Some(format!("{n} {noun}s")),
        };
        let counts: Vec<_> = [counted(errors, "error"), counted(warnings, "warning")]
            .into_iter()
            .flatten()
            .collect();
        let denied = match self.denied {
            0 => String::new(),
            denied => format!(
                " ({} made an error)",
                counted(denied, "warning").unwrap_or_default()
            ),
        };
        text += &format!("\n{}{denied}\n", counts.join(", "));
        text
    }

    /// Prints the findings for programs: an object for each, with `severity`, `code`, `message`,
    /// `file`, `line`, `column`, `end_line`, `end_column`, `labels` and `help`. Lines and columns
    /// count from 1, columns in characters; the end is exclusive.
    pub fn to_json(&self) -> Vec<Value> {
        self.diagnostics
            .iter()
            .map(|finding| self.finding_json(finding))
            .collect()
    }

    fn finding_json(&self, finding: &Diagnostic) -> Value {
        let mut object = self.location_json(finding.span);
        object["severity"] = match finding.severity {
            Severity::Error => "error".into(),
            Severity::Warning => "warning".into(),
        };
        object["code"] = finding.code.into();
        object["message"] = finding.message.as_str().into();
        let labels = finding.labels.iter().map(|label| {
            let mut object = self.location_json(label.span);
            object["text"] = label.text.as_str().into();
            object
        });
        object["labels"] = labels.collect();
        object["help"] = finding.help.iter().map(String::as_str).collect();
        object
    }

    fn location_json(&self, span: Span) -> Value {
        let file = self.sources.file(span.file);
        let (start, end) = (file.position(span.start), file.position(span.end));
        json!({
            "file": file.path.to_string_lossy(),
            "line": start.line,
            "column": start.column,
            "end_line": end.line,
            "end_column": end.column,
        })
    }
}

/// Findings that were reported already, by what they say and where.
#[derive(Debug, Default)]
pub struct ReportedFindings(HashSet<(PathBuf, u32, &'static str, String)>);

/// Formats a program in the canonical layout.
///
/// # Example
/// ```
/// use std::path::Path;
/// use thalweg_engine::format;
///
/// let text = format(Path::new("Types.spl"), "type Id=int32;").unwrap();
/// assert_eq!(text, "type Id = int32;\n");
/// let findings = format(Path::new("Types.spl"), "type Id=;").unwrap_err();
/// assert!(findings.has_errors());
/// ```
///
/// # Errors
/// The syntax errors of the program.
pub fn format(path: &Path, text: &str) -> Result<String, Findings> {
    syntax::format(text).map_err(|diagnostics| {
        let mut sources = SourceMap::default();
        sources.add(path, text);
        Findings::new(diagnostics, sources)
    })
}
