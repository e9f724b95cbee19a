//! Typed expressions and statements into Cranelift's intermediate code.
//!
//! [`Lower`] makes one machine function. What the names of a body mean while it is being lowered
//! (variables, input tuples, where `return` goes, where a submitted tuple goes) is its
//! [`Frame`]; inlining a user function or the operator at the other end of a fused edge is lowering
//! another body with a frame of its own in the same machine function.

mod analysis;
mod arith;
mod body;
mod call;
mod cast;
mod chain;
mod choice;
mod compare;
mod construct;
mod decimal;
mod each;
mod emit;
mod expr;
mod frame;
mod function;
mod granted;
mod index;
mod inlining;
mod intrinsic;
mod list;
mod locals;
mod loops;
mod output;
mod parts;
mod place;
mod site;
mod stmt;
mod store;
mod string;
mod submit;
mod table;
mod unit;

use std::collections::HashMap;

use cranelift_codegen::ir;
use cranelift_frontend::FunctionBuilder;

use crate::code::Import;

pub use analysis::Uses;
pub use body::{Against, Entry, Made};
pub use chain::{Branch, Link, Member};
pub use emit::Region;
pub use frame::{Frame, Target};
pub use function::signature;
pub use granted::Granted;
pub use inlining::Inlining;
pub use locals::{Home, Storage};
pub use unit::{Text, Unit};

/// One machine function being made.
pub struct Lower<'a, 'b> {
    /// The builder.
    pub b: FunctionBuilder<'b>,
    /// What all functions share.
    pub unit: &'a mut Unit,
    /// The environment: the first argument.
    pub env: ir::Value,
    /// The first block.
    pub entry: ir::Block,
    /// Where a fault leads to.
    pub fail: ir::Block,
    /// What names mean.
    pub frame: Frame,
    /// How often something temporary has been taken so far.
    pub allocations: u32,
    /// How many calls so far can fault or reach beyond the environment.
    pub outside_calls: u32,
    /// Types of the variables in memory, after those that are taken.
    pub slots: Vec<tuple::Type>,
    /// The address of the first variable in memory.
    pub slot_base: ir::Value,
    /// Helpers that this function calls.
    imports: HashMap<Import, ir::FuncRef>,
}
