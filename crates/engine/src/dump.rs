//! What each stage makes of a program, as text.

use std::path::Path;

use graph::{Plan, Program};
use syntax::SourceMap;

use crate::error::Error;
use crate::findings::Findings;
use crate::part::{ListingFormat, code_listing};
use crate::sources::read_source_file;

/// The text of a file, generated if it is one of mixed mode, and what was said while it was.
///
/// # Errors
/// If it cannot be read.
pub fn source_text(path: &Path, mixed_args: &[String]) -> Result<(String, Findings), Error> {
    let source = read_source_file(path, mixed_args)?;
    let mut sources = SourceMap::default();
    let said = source.diagnostics(&mut sources, path);
    Ok((source.text, Findings::new(said, sources)))
}

/// The tokens of a text.
pub fn dump_tokens(text: &str) -> String {
    syntax::dump_tokens(text)
}

/// The lossless tree of a text.
pub fn dump_tree(text: &str) -> String {
    let parsed = syntax::parse(syntax::FileId(0), text);
    syntax::dump_tree(&parsed.tree)
}

/// Operators and functions with typed expressions.
pub fn dump_typed(program: &Program) -> String {
    let natives: Vec<&str> = toolkit::functions()
        .iter()
        .map(|native| native.prototype)
        .collect();
    program.display_with_natives(&natives).to_string()
}

/// Operators and the streams between them; with a plan, PE by PE.
pub fn dump_graph(program: &Program, plan: Option<&Plan>) -> String {
    graph::drawing::text(program, plan)
}

/// The graph in the language of Graphviz; with a plan, with its PEs.
pub fn dump_dot(program: &Program, plan: Option<&Plan>) -> String {
    graph::drawing::dot(program, plan)
}

/// The graph as a picture; with a plan, with its PEs.
pub fn dump_svg(program: &Program, plan: Option<&Plan>) -> String {
    graph::drawing::svg(program, plan)
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
    code_listing(program, ListingFormat::Clif)
}

/// The machine code of everything that is compiled.
///
/// # Errors
/// If it cannot be compiled.
pub fn dump_asm(program: &Program) -> Result<String, Error> {
    code_listing(program, ListingFormat::Asm)
}
