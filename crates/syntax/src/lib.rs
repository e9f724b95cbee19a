//! SPL source text to tokens, a lossless tree, an owned syntax tree and diagnostics.
//!
//! The first room of the walk. Text comes in; [`ast::Unit`] and [`Diagnostic`]s go out. Nothing here
//! ever fails: whatever the bytes, a tree comes back and what is wrong with it is in the diagnostics.

pub mod ast;
mod diagnostic;
mod source;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use source::{FileId, Position, SourceFile, SourceMap, Span};
