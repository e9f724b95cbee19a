//! What the run time asks of whoever makes typed expressions run: the interpreter or the JIT.
//!
//! [`Backend`] is handed every expression and body of a PE while it is wired, then `finish`ed; the
//! handles it gave out are called on the tuple path. The interpreter's backend is in
//! [`crate::abi::interpreter_backend`]; the JIT's is a crate of its own.

mod backend;
mod code;
mod counter;
mod evaluation_inputs;
mod fused;
pub mod interpreter_backend;
mod lowered_logic;
mod outlet;
mod state_cell;

pub use ring::frame::FrameBatch;
pub use ring::grant;
pub use ring::{PREFETCH_BYTES, prefetch_ahead};

pub use backend::Backend;
pub use code::{
    OperatorScope, Predicate, ProjectTuple, Projection, RunBody, RunBodyOnBatch, TestCondition,
};
pub use counter::Counter;
pub use evaluation_inputs::EvaluationInputs;
pub use fused::{
    FrameEdge, FrameGrant, FusedEdge, FusedMember, FusedOutput, FusedView, OperatorCode,
};
pub use lowered_logic::{CountedWindow, LoweredLogic};
pub use outlet::{CodeContext, Outlet};
pub use state_cell::{StateAddress, StateCell};
