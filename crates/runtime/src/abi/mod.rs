//! The interface between the run time and code: what makes code of typed expressions, what that
//! code is given, and what it may call.
//!
//! ```text
//! while wiring   Backend <- every expression and body of the PE, then finish()
//! while running  RunBody, ProjectTuple, TestPredicate <- CodeContext (input tuples, state, Outlet)
//! ```
//! There are two backends: the interpreter ([`interpreter_backend`]) and the JIT, a crate of its
//! own that names nothing else of this crate. Operators that are Rust code submit through
//! [`Outlet`] too, so it is defined here.

mod backend;
mod chain;
mod code;
mod counter;
mod evaluation_inputs;
mod frame_form;
pub mod interpreter_backend;
mod lowered_logic;
mod outlet;
mod projection;
mod state_cell;
mod tap_budget;

pub use backend::{Backend, OperatorCodeRange};
pub use chain::{
    BatchCode, ChainEdge, ChainMember, ChainOutput, FrameEdge, FrameGrant, MemberEdge,
    OperatorCode, PortTap, ThreadChains,
};
pub use code::{CodeScope, ProjectTuple, RunBody, RunBodyOnBatch, TestPredicate};
pub use counter::Counter;
pub use evaluation_inputs::EvaluationInputs;
pub use frame_form::FrameForm;
pub use lowered_logic::{
    CountedPanes, CountedSlices, CountedWindow, LoweredLogic, TimerLogic, WatermarkLogic,
};
pub use outlet::{CodeContext, CodeOutlet, Outlet};
pub use projection::{Predicate, Projection};
pub use ring::frame::FrameBatch;
pub use ring::grant;
pub use ring::{PREFETCH_BYTES, prefetch_ahead};
pub use state_cell::{StateAddress, StateCell};
pub use tap_budget::TapBudget;
