//! Errors of planning, in the user's words.

use std::fmt::Write;

use graph::{Pos, Program};

/// A reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// The error: a sentence without a full stop.
    pub message: String,
    /// The place in the program that asks for it, if there is one.
    pub pos: Option<Pos>,
    /// Other places that belong to the error, each with a note.
    pub labels: Vec<(Pos, String)>,
    /// Advice on how to mend the error; may be empty.
    pub help: String,
}

impl PlanError {
    pub(crate) fn new(message: impl Into<String>) -> PlanError {
        PlanError {
            message: message.into(),
            pos: None,
            labels: Vec::new(),
            help: String::new(),
        }
    }

    pub(crate) fn with_pos(mut self, pos: Pos) -> PlanError {
        self.pos = Some(pos);
        self
    }

    /// Puts the subject of the error before its message.
    pub(crate) fn with_prefix(mut self, subject: &str) -> PlanError {
        self.message = format!("{subject}: {}", self.message);
        self
    }

    pub(crate) fn with_label(mut self, pos: Pos, text: impl Into<String>) -> PlanError {
        self.labels.push((pos, text.into()));
        self
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> PlanError {
        self.help = help.into();
        self
    }

    /// The error as text: `file:line:column: message`, then a line for each other place and for the
    /// advice.
    pub fn text(&self, program: &Program) -> String {
        let mut text = String::new();
        if let Some(pos) = self.pos {
            let _ = write!(text, "{}: ", position_text(program, pos));
        }
        text.push_str(&self.message);
        for (pos, label) in &self.labels {
            let _ = write!(text, "\n  {}: {label}", position_text(program, *pos));
        }
        if !self.help.is_empty() {
            let _ = write!(text, "\n  {}", self.help);
        }
        text
    }
}

/// A place in the program as text: `file:line:column`.
pub(crate) fn position_text(program: &Program, pos: Pos) -> String {
    let file = program.files.get(pos.file as usize);
    let file = file.map_or("?", |file| &**file);
    format!("{file}:{}:{}", pos.line, pos.column)
}
