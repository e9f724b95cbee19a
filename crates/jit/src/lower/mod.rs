//! Typed expressions and statements into Cranelift's intermediate code.
//!
//! [`FunctionLowering`] makes one machine function. What the names of a body mean while it is being
//! lowered (variables, input tuples, where `return` goes, where a submitted tuple goes) is its
//! [`BodyContext`]; inlining a user function or the operator at the other end of a fused edge is
//! lowering another body with a frame of its own in the same machine function.

mod arith;
mod batch_loop;
mod body_context;
mod body_usage;
mod branchless_if;
mod call;
mod cast;
mod chain;
mod codegen_unit;
mod compare;
mod decimal;
mod emit;
mod entry;
mod expr;
mod fallback_site;
mod function;
mod index;
mod inlining;
mod intrinsic;
mod list;
mod literal;
mod locals;
mod loops;
mod place;
mod ring_grant;
mod stmt;
mod store;
mod string;
mod submit;
mod table;
mod tuple_output;
mod value_parts;

use std::collections::HashMap;

use cranelift_codegen::ir;
use cranelift_frontend::FunctionBuilder;

use crate::code::ImportedFunction;

pub use body_context::{BodyContext, OutputTarget};
pub use body_usage::BodyUsage;
pub use chain::{InlinableOperator, InlinedEdge, InlinedOutput};
pub use codegen_unit::{CodegenUnit, MachineCodeListing};
pub use emit::AccessRegion;
pub use entry::{EntryBody, EntryContext, EntryRequirements};
pub use function::signature;
pub use inlining::InliningDecisions;
pub use locals::{LocalHome, LocalStorage};
pub use ring_grant::RingGrantAddresses;

/// One machine function being made.
pub struct FunctionLowering<'a, 'b> {
    /// The builder.
    pub builder: FunctionBuilder<'b>,
    /// What all functions share.
    pub unit: &'a mut CodegenUnit,
    /// The environment: the first argument.
    pub env: ir::Value,
    /// The first block.
    pub entry_block: ir::Block,
    /// Where a fault leads to.
    pub fault_block: ir::Block,
    /// What names mean.
    pub body: BodyContext,
    /// How often something temporary has been taken so far.
    pub allocations: u32,
    /// How many calls so far can fault or reach beyond the environment.
    pub outside_calls: u32,
    /// Types of the variables in memory, after those that are taken.
    pub local_types: Vec<tuple::Type>,
    /// The address of the first variable in memory.
    pub locals_base: ir::Value,
    /// Helpers that this function calls.
    imports: HashMap<ImportedFunction, ir::FuncRef>,
}
