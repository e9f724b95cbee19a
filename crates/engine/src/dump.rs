//! What each stage makes of a program, as text.

use std::path::Path;

use graph::{Plan, Program};

use crate::code::Listing;
use crate::{Error, files};

/// The tokens of a file.
///
/// # Errors
/// If it cannot be read.
pub fn dump_tokens(path: &Path) -> Result<String, Error> {
    Ok(syntax::dump_tokens(&files::text(path)?))
}

/// The lossless tree of a file.
///
/// # Errors
/// If it cannot be read.
pub fn dump_tree(path: &Path) -> Result<String, Error> {
    let text = files::text(path)?;
    let parsed = syntax::parse(syntax::FileId(0), &text);
    Ok(syntax::dump_tree(&parsed.tree))
}

/// Operators and functions with typed expressions.
pub fn dump_typed(program: &Program) -> String {
    program.printed(toolkit::functions()).to_string()
}

/// Operators and the streams between them.
pub fn dump_graph(program: &Program) -> String {
    graph::drawing::text(program)
}

/// The graph in the language of Graphviz.
pub fn dump_dot(program: &Program) -> String {
    graph::drawing::dot(program)
}

/// The graph as a picture.
pub fn dump_svg(program: &Program) -> String {
    graph::drawing::svg(program)
}

/// Processing elements, regions and edges.
pub fn dump_plan(program: &Program, plan: &Plan) -> String {
    plan.display(program).to_string()
}

/// The intermediate code of everything that is compiled.
///
/// # Errors
/// If it cannot be compiled.
pub fn dump_clif(program: &Program) -> Result<String, Error> {
    crate::code::dump(program, Listing::Clif)
}

/// The machine code of everything that is compiled.
///
/// # Errors
/// If it cannot be compiled.
pub fn dump_asm(program: &Program) -> Result<String, Error> {
    crate::code::dump(program, Listing::Asm)
}
