//! Findings about a program, as values: severity, place, sentence, further places, and help.
//!
//! Stages collect diagnostics and go on; the command prints them, all of one run together. The
//! message says what is wrong in the user's words; `help` says what would be right.

use crate::Span;

/// How bad it is. Only errors stop a program from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the program runs.
    Warning,
    /// The program does not run.
    Error,
}

/// A further place that belongs to a diagnostic, with what is to be seen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiagnosticLabel {
    /// Place that the label points at.
    pub span: Span,
    /// Remark on that place.
    pub text: String,
}

/// One finding about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A short stable name of the rule, in kebab case: `unknown-attribute`, `type-mismatch`.
    pub code: &'static str,
    /// The place that the caret shows.
    pub span: Span,
    /// Fault of the program, one sentence without a full stop.
    pub message: String,
    /// Further places (the first definition, the other operand).
    pub labels: Vec<DiagnosticLabel>,
    /// Sentences that say how to mend it, such as "did you mean `price`?".
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    fn new(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        let message = message.into();
        Diagnostic {
            severity,
            code,
            span,
            message,
            labels: Vec::new(),
            help: Vec::new(),
        }
    }

    /// Adds a further place.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(DiagnosticLabel {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds what would be right.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help.push(text.into());
        self
    }
}
