//! The text of a source file as a [`super::Loader`] gives it: read from the file, or generated.

use std::path::Path;

use syntax::{Diagnostic, FileId, Severity, SourceMap, Span};

/// The text of a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Text that is compiled: the generated one for a file of mixed mode.
    pub text: String,
    /// How it came to be, if it does not stand in the file like that.
    pub generated: Option<GeneratedOrigin>,
}

/// Where a text that was generated comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratedOrigin {
    /// For each line of the text the line of the file that it comes from.
    pub lines: Vec<u32>,
    /// The text of the file.
    pub template: String,
    /// Messages of the code that generated the text.
    pub problems: Vec<GenerationProblem>,
}

/// Something that is wrong with the code that generates a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationProblem {
    /// The line of the file.
    pub line: u32,
    /// Whether the problem left no text to compile.
    pub is_error: bool,
    /// Sentence about the error, in the words of the user.
    pub message: String,
    /// Sentence that proposes a remedy.
    pub help: Option<String>,
}

impl From<&str> for SourceText {
    fn from(text: &str) -> SourceText {
        text.to_owned().into()
    }
}

impl From<String> for SourceText {
    fn from(text: String) -> SourceText {
        SourceText {
            text,
            generated: None,
        }
    }
}

impl GenerationProblem {
    /// One that leaves no text.
    pub fn error(line: u32, message: impl Into<String>) -> GenerationProblem {
        GenerationProblem {
            line,
            is_error: true,
            message: message.into(),
            help: None,
        }
    }

    /// With what would be right.
    pub fn with_help(mut self, help: impl Into<String>) -> GenerationProblem {
        self.help = Some(help.into());
        self
    }
}

impl SourceText {
    /// Whether the text could not be generated.
    pub(super) fn has_failed(&self) -> bool {
        let problems = self.generated.iter().flat_map(|g| &g.problems);
        problems.into_iter().any(|problem| problem.is_error)
    }

    /// Adds the text to those of a program.
    pub(super) fn add_to(&self, sources: &mut SourceMap, path: &Path) -> FileId {
        match &self.generated {
            Some(generated) => {
                sources.add_generated(path, self.text.as_str(), generated.lines.clone())
            }
            None => sources.add(path, self.text.as_str()),
        }
    }

    /// Findings on the code that generated the text, at lines of the file.
    pub fn diagnostics(&self, sources: &mut SourceMap, path: &Path) -> Vec<Diagnostic> {
        let Some(generated) = self.generated.as_ref().filter(|g| !g.problems.is_empty()) else {
            return Vec::new();
        };
        let id = sources.add(path, generated.template.as_str());
        let problems = generated.problems.iter();
        problems
            .map(|problem| problem.diagnostic(id, &generated.template))
            .collect()
    }
}

impl GenerationProblem {
    fn diagnostic(&self, file: FileId, template: &str) -> Diagnostic {
        let span = line_span(file, template, self.line);
        let finding = match self.is_error {
            true => Diagnostic::error("mixed-mode", span, &*self.message),
            false => Diagnostic::warning("mixed-mode", span, &*self.message),
        };
        match &self.help {
            Some(help) => finding.help(help.as_str()),
            None => finding,
        }
    }
}

/// The span of a line's content, without the blanks around it.
fn line_span(file: FileId, text: &str, line: u32) -> Span {
    let before = text.split_inclusive('\n').take(line.max(1) as usize - 1);
    let start: usize = before.map(str::len).sum();
    let content = text[start..].lines().next().unwrap_or_default();
    let start = start + content.len() - content.trim_start().len();
    Span::new(file, start as u32, (start + content.trim().len()) as u32)
}

/// Turns an error into a warning: a file of a toolkit that could not be generated is no error of
/// the program.
pub(super) fn as_warning(mut finding: Diagnostic) -> Diagnostic {
    finding.severity = Severity::Warning;
    finding.help("nothing that this file defines is known")
}
