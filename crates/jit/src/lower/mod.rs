//! Typed expressions and statements into Cranelift's intermediate code.
//!
//! [`FunctionLowering`] makes one machine function. What the names of a body mean while it is being
//! lowered (variables, input tuples, where `return` goes, where a submitted tuple goes) is its
//! [`BodyContext`]; inlining a user function or the operator at the other end of a fused edge is
//! lowering another body with a frame of its own in the same machine function.

mod context;
mod expressions;
mod functions;
mod loops;
mod output;
mod statements;
mod values;

pub use context::{
    BodyUsage, CodegenUnit, EntryRequirements, InlinableOperator, InlinedEdge, InlinedOutput,
    MachineCodeListing, OutputTarget, RingGrantAddresses,
};
pub use functions::{EntryBody, EntryContext};
