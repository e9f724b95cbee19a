//! An arm of `if` that becomes a function of its own.

use cranelift_codegen::ir;
use graph::Stmt;

use super::body_context::BodyContext;

/// An arm of `if` that becomes a function of its own, to be compiled.
#[derive(Debug)]
pub struct SeldomArm {
    /// The statements of the arm.
    pub stmts: Vec<Stmt>,
    /// Types of the words that are passed.
    pub words: Vec<ir::Type>,
    /// Whether the function around has bodies of operators that are inlined.
    pub inlines: bool,
    /// The meaning of the names, with numbers of words in place of machine values.
    pub body: BodyContext,
}
