//! Goals of a parse (a unit, a type, an expression, a prototype), and parsing them.

use rowan::GreenNode;

use super::event;
use super::grammar::{expr, function, types, unit};
use super::parser_state::{Parser, cut_errors};
use crate::lexer;
use crate::{BrokenParts, Diagnostic, FileId, SyntaxKind};

/// Part of the language that a text is parsed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseGoal {
    /// A whole source file.
    Unit,
    /// A type on its own.
    Type,
    /// An expression on its own.
    Expr,
    /// The prototype of a native function.
    Prototype,
}

/// Lossless tree of a text, what is wrong with it in the order of places, and what is broken.
pub(crate) struct ParsedText {
    pub(crate) tree: GreenNode,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) broken: BrokenParts,
}

/// Parses a text as this part of the language.
pub(crate) fn parse(file: FileId, text: &str, entry: ParseGoal) -> ParsedText {
    let (raw, lexical) = lexer::tokens(file, text);
    let mut parser = Parser::new(file, text, &raw);
    match entry {
        ParseGoal::Unit => unit::unit(&mut parser),
        ParseGoal::Type => parser.parse_whole_text(SyntaxKind::Unit, |p| {
            types::type_expr(p);
        }),
        ParseGoal::Expr => parser.parse_whole_text(SyntaxKind::Unit, |p| {
            expr::expr(p);
        }),
        ParseGoal::Prototype => parser.parse_whole_text(SyntaxKind::Prototype, function::prototype),
    }
    let mut diagnostics = parser.diagnostics(&raw, lexical);
    let broken = BrokenParts::new(file, text, &diagnostics, parser.recovery);
    cut_errors(&mut diagnostics);
    ParsedText {
        broken,
        tree: event::build(text, &raw, parser.events),
        diagnostics,
    }
}
