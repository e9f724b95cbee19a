//! The doors of the room: text to tree, syntax tree and diagnostics in one call.

use crate::parser::{self, ParseGoal};
use crate::{Diagnostic, FileId, Severity, SyntaxNode, ast, lower};

/// What a source file came to be.
#[derive(Clone, Debug)]
pub struct ParsedSource {
    /// The lossless tree; its text is the file's text, byte by byte.
    pub tree: SyntaxNode,
    /// The syntax tree that the compiler walks.
    pub unit: ast::Unit,
    /// What is wrong, by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedSource {
    /// Something is wrong that keeps the program from running.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

/// Parses a source file. Whatever the text, there is a tree, and a diagnostic for what is wrong.
pub fn parse(file: FileId, text: &str) -> ParsedSource {
    let (green, diagnostics) = parser::parse(file, text, ParseGoal::Unit);
    let unit = lower::unit(file, &green);
    ParsedSource {
        tree: SyntaxNode::new_root(green),
        unit,
        diagnostics,
    }
}

/// Parses a type that is the whole text.
///
/// # Errors
/// What is wrong with it.
pub fn parse_type(text: &str) -> Result<ast::TypeExpr, Vec<Diagnostic>> {
    let (green, diagnostics) = parser::parse(FileId::default(), text, ParseGoal::Type);
    value_or_diagnostics(lower::type_expr(FileId::default(), &green), diagnostics)
}

/// Parses an expression that is the whole text.
///
/// # Errors
/// What is wrong with it.
pub fn parse_expr(text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    let (green, diagnostics) = parser::parse(FileId::default(), text, ParseGoal::Expr);
    value_or_diagnostics(lower::expr(FileId::default(), &green), diagnostics)
}

/// Parses the prototype of a native function, such as
/// `<any T, ordered K>[N] public stateful list<T>[N] f(mutable map<K, T> m)`.
///
/// # Errors
/// What is wrong with it and where, in one sentence.
pub fn parse_prototype(text: &str) -> Result<ast::Prototype, String> {
    let (green, diagnostics) = parser::parse(FileId::default(), text, ParseGoal::Prototype);
    value_or_diagnostics(lower::prototype(FileId::default(), &green), diagnostics).map_err(
        |found| {
            let first = found.first();
            let message = first.map_or("it is incomplete", |d| d.message.as_str());
            let column = first.map_or(0, |d| d.span.start) + 1;
            format!("in the prototype `{text}` at column {column}: {message}")
        },
    )
}

fn value_or_diagnostics<T>(
    value: Option<T>,
    diagnostics: Vec<Diagnostic>,
) -> Result<T, Vec<Diagnostic>> {
    match value {
        Some(value) if !has_errors(&diagnostics) => Ok(value),
        _ => Err(diagnostics),
    }
}

pub(crate) fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}
