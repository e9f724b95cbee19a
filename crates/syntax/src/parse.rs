//! Entry points of the crate: text to tree, syntax tree and diagnostics in one call.

use crate::parser::{self, ParseGoal};
use crate::{Diagnostic, FileId, Severity, SyntaxNode, ast, lower};

/// Result of parsing a source file.
#[derive(Clone, Debug)]
pub struct ParsedSource {
    /// The lossless tree; its text is the file's text, byte by byte.
    pub tree: SyntaxNode,
    /// The syntax tree that the compiler walks.
    pub unit: ast::Unit,
    /// Findings about the text, by place.
    pub diagnostics: Vec<Diagnostic>,
}

impl ParsedSource {
    /// Something is wrong that keeps the program from running.
    pub fn has_errors(&self) -> bool {
        has_errors(&self.diagnostics)
    }
}

/// Parses a source file. Whatever the text, there is a tree, and a diagnostic for what is wrong.
///
/// # Example
/// ```
/// use thalweg_syntax::{FileId, ast, parse};
///
/// let text = "composite Main { graph stream<int32 n> Numbers = Beacon() {} }";
/// let parsed = parse(FileId::default(), text);
/// assert!(!parsed.has_errors());
/// let ast::Item::Composite(main) = &parsed.unit.items[0] else {
///     unreachable!("a composite")
/// };
/// assert_eq!(&*main.graph[0].outputs[0].name.text, "Numbers");
/// assert_eq!(parsed.tree.to_string(), text);
/// ```
pub fn parse(file: FileId, text: &str) -> ParsedSource {
    let parsed = parser::parse(file, text, ParseGoal::Unit);
    let mut unit = lower::unit(file, &parsed.tree);
    unit.broken = parsed.broken;
    ParsedSource {
        tree: SyntaxNode::new_root(parsed.tree),
        unit,
        diagnostics: parsed.diagnostics,
    }
}

/// Parses a type that is the whole text.
///
/// # Errors
/// The diagnostics of the text, with at least one error.
///
/// # Example
/// ```
/// use thalweg_syntax::{ast::TypeKind, parse_type};
///
/// let ty = parse_type("list<int32>[10]").expect("a type");
/// assert!(matches!(ty.kind, TypeKind::List(_, Some(_))));
/// assert!(parse_type("list<int32").is_err());
/// ```
pub fn parse_type(text: &str) -> Result<ast::TypeExpr, Vec<Diagnostic>> {
    let parsed = parser::parse(FileId::default(), text, ParseGoal::Type);
    value_or_diagnostics(
        lower::type_expr(FileId::default(), &parsed.tree),
        parsed.diagnostics,
    )
}

/// Parses an expression that is the whole text.
///
/// # Errors
/// The diagnostics of the text, with at least one error.
///
/// # Example
/// ```
/// use thalweg_syntax::{ast::ExprKind, parse_expr};
///
/// let sum = parse_expr("price * 2.0 + 1.0").expect("an expression");
/// assert!(matches!(sum.kind, ExprKind::Binary(..)));
/// let found = parse_expr("price *").expect_err("an operand is missing");
/// assert_eq!(found.len(), 1);
/// ```
pub fn parse_expr(text: &str) -> Result<ast::Expr, Vec<Diagnostic>> {
    let parsed = parser::parse(FileId::default(), text, ParseGoal::Expr);
    value_or_diagnostics(
        lower::expr(FileId::default(), &parsed.tree),
        parsed.diagnostics,
    )
}

/// Parses the prototype of a native function, such as
/// `<any T, ordered K>[N] public stateful list<T>[N] f(mutable map<K, T> m)`.
///
/// # Errors
/// A sentence that says what is wrong with the prototype, and where.
///
/// # Example
/// ```
/// let prototype = thalweg_syntax::parse_prototype("<numeric T> T sqrt(T f)");
/// assert_eq!(&*prototype.expect("a prototype").name.text, "sqrt");
/// ```
pub fn parse_prototype(text: &str) -> Result<ast::Prototype, String> {
    let parsed = parser::parse(FileId::default(), text, ParseGoal::Prototype);
    value_or_diagnostics(
        lower::prototype(FileId::default(), &parsed.tree),
        parsed.diagnostics,
    )
    .map_err(|found| {
        let first = found.first();
        let message = first.map_or("it is incomplete", |d| d.message.as_str());
        let column = first.map_or(0, |d| d.span.start) + 1;
        format!("in the prototype `{text}` at column {column}: {message}")
    })
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
