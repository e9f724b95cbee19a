//! Typed expressions and statements into Cranelift's intermediate code.
//!
//! A [`context::FunctionLowering`] makes one machine function. The meaning of a body's names while
//! it is lowered (variables, input tuples, targets of `return` and of submitted tuples) is its
//! [`context::BodyContext`]. Inlining a user function, or the operator that follows in a chain, is
//! lowering another body with a context of its own in the same machine function.
//!
//! | folder | lowers |
//! | --- | --- |
//! | [`context`] | nothing: the state of lowering, and decisions made before |
//! | [`values`] | instructions, parts of values, literals, local variables, collections |
//! | [`expressions`] | expressions, calls and assignments among them |
//! | [`statements`] | statements other than loops and submissions |
//! | [`loops`] | loops of the program, and over the frames of a batch |
//! | [`output`] | submissions, inlined operators, flat tuples, frames of rings |
//! | [`functions`] | whole machine functions |

mod context;
mod expressions;
mod functions;
mod loops;
mod output;
mod statements;
mod values;

pub use context::{
    BodyUsage, CodegenUnit, CompiledFunction, InlinableOperator, InlinedEdge, InlinedOutput,
    MachineCodeListing, MemoryRequirements, OutputEdge, OutputTarget, RingGrantAddresses,
    SampledOperator, StateLayout, TapAddresses, WatermarkWords,
};
pub use functions::{FunctionContext, FunctionSource};
