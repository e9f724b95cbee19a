//! SPL source text to tokens, a lossless tree, an owned syntax tree and diagnostics.
//!
//! Text comes in; [`ast::Unit`] and [`Diagnostic`]s go out. Parsing never fails: every text has a
//! tree, and the diagnostics say what is wrong with it.

pub mod ast;
mod broken;
mod deep_stack;
mod diagnostic;
mod dump;
mod format;
mod kind;
mod language;
mod lexer;
mod lower;
mod nearest;
mod node_view;
mod parse;
mod parser;
mod render;
mod source;
pub mod spelling;
mod step_count;

pub use broken::{BrokenParts, DeclarationKind};
pub use deep_stack::{DEEP_STACK_BYTES, with_deep_stack};
pub use diagnostic::{Diagnostic, DiagnosticLabel, Severity};
pub use dump::{dump_tokens, dump_tree};
pub use format::format;
pub use kind::SyntaxKind;
pub use language::{SplLanguage, SyntaxElement, SyntaxNode, SyntaxToken};
pub use lexer::{Token, tokens};
pub use nearest::nearest;
pub use parse::{ParsedSource, parse, parse_expr, parse_prototype, parse_type};
pub use render::render;
pub use source::{FileId, Position, SourceFile, SourceMap, Span};
pub use spelling::closest;
