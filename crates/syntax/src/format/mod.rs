//! The formatter: a source file in its canonical layout.
//!
//! Prints from the lossless tree: every token and every comment stays, in order; only white space
//! changes. Formatting twice gives the same as formatting once.
//!
//! The layout: four blanks of indentation, the keyword of a clause on a line of its own, one entry
//! a line, at most one empty line in a row, an empty line around composites and functions, lists
//! broken one element a line where they would pass column 100.

mod emit;
mod expr;
mod layout;
mod node;
mod stmt;

use crate::node_view::SyntaxNodeView;
use crate::parse::has_errors;
use crate::parser::{self, ParseGoal, ParsedText};
use crate::{Diagnostic, FileId};

/// A source text in its canonical layout.
///
/// # Errors
/// The syntax errors of the text, which then is not formatted.
///
/// # Example
/// ```
/// let text = "composite  Main{graph stream<int32 n> A=Beacon(){}}";
/// let formatted = thalweg_syntax::format(text).expect("a program without errors");
/// assert!(formatted.starts_with("composite Main {\n    graph\n"));
/// assert_eq!(thalweg_syntax::format(&formatted).as_ref(), Ok(&formatted));
/// ```
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let ParsedText {
        tree, diagnostics, ..
    } = parser::parse(FileId::default(), text, ParseGoal::Unit);
    if has_errors(&diagnostics) {
        return Err(diagnostics);
    }
    let mut formatter = node::Formatter::default();
    formatter.unit(SyntaxNodeView::root(&tree));
    Ok(layout::print(&formatter.finish()))
}
