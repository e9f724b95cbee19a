//! What makes a plan impossible, or other than a program asks, in the user's words.

use std::fmt::Write;

use graph::{Pos, Program};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// What is wrong: a sentence without a full stop.
    pub message: String,
    /// Where it is written in the program, if it is.
    pub pos: Option<Pos>,
    /// Other places that have to do with it, and what is there.
    pub labels: Vec<(Pos, String)>,
    /// What would be right; may be empty.
    pub help: String,
}

impl PlanError {
    pub(super) fn new(message: impl Into<String>) -> PlanError {
        PlanError {
            message: message.into(),
            pos: None,
            labels: Vec::new(),
            help: String::new(),
        }
    }

    pub(super) fn with_pos(mut self, pos: Pos) -> PlanError {
        self.pos = Some(pos);
        self
    }

    /// Says in front what it is about.
    pub(super) fn with_prefix(mut self, what: &str) -> PlanError {
        self.message = format!("{what}: {}", self.message);
        self
    }

    pub(super) fn with_label(mut self, pos: Pos, text: impl Into<String>) -> PlanError {
        self.labels.push((pos, text.into()));
        self
    }

    pub(super) fn with_help(mut self, help: impl Into<String>) -> PlanError {
        self.help = help.into();
        self
    }

    /// `file:line:column: message`, then a line for each other place and for what would be right.
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

/// `file:line:column`
pub(super) fn position_text(program: &Program, pos: Pos) -> String {
    let file = program.files.get(pos.file as usize);
    let file = file.map_or("?", |file| &**file);
    format!("{file}:{}:{}", pos.line, pos.column)
}
