//! What the run time asks of whoever makes typed expressions run: the interpreter or the JIT.
//!
//! [`Backend`] is handed every expression and body of a PE while it is wired, then `finish`ed; the
//! handles it gave out are called on the tuple path. The interpreter's backend is in
//! [`crate::abi::interpreter_backend`]; the JIT's is a crate of its own.

mod cell;
mod counter;
mod fused;
pub mod interpreter_backend;

use std::sync::Arc;

use eval::{Fault, InputTuples, Services, State};
use graph::{Body, Expr};
use tuple::{Layout, Punctuation, TupleBuf, Value};

pub use crate::operator::{LoweredLogic, Outlet};

pub use ring::frame::FrameBatch;
pub use ring::{PREFETCH_BYTES, prefetch_ahead};

pub use cell::{StateAddress, StateCell};
pub use counter::Counter;
pub use fused::{
    FrameEdge, FrameGrant, FusedEdge, FusedMember, FusedOutput, FusedView, OperatorCode,
};
pub use ring::grant;

/// What one evaluation reads and changes.
pub struct CodeContext<'a> {
    /// Input tuples by slot, and the results of output function calls in the last slot.
    pub inputs: InputTuples<'a>,
    /// The operator's state variables.
    pub state: &'a mut State,
    /// Where statements submit, and the PE's services.
    pub outlet: &'a mut dyn Outlet,
    /// The marker of an `onPunct` body.
    pub punctuation: Option<Punctuation>,
}

/// What the expressions of one operator are compiled against.
#[derive(Clone, Debug)]
pub struct OperatorScope<'a> {
    /// The operator.
    pub operator: &'a graph::OperatorNode,
    /// Its index in the program.
    pub index: u32,
    /// Layout of every input slot (see [`eval::InputTuples`]), output function results last if
    /// any.
    pub inputs: Vec<Arc<Layout>>,
    /// Layouts of its output ports.
    pub outputs: Vec<Arc<Layout>>,
    /// Its state variables.
    pub state: &'a [graph::StateVar],
}

/// Code that writes a flat tuple.
pub trait ProjectTuple: Send {
    /// Writes the whole tuple; `out` is begun with the projection's layout by the callee.
    fn project(&mut self, context: &mut CodeContext<'_>, out: &mut TupleBuf) -> Result<(), Fault>;
}

/// Code for a condition.
pub trait TestCondition: Send {
    /// Whether it holds.
    fn test(&mut self, context: &mut CodeContext<'_>) -> Result<bool, Fault>;
}

/// Code for statements.
pub trait RunBody: Send {
    /// Runs them.
    fn run_body(&mut self, context: &mut CodeContext<'_>) -> Result<(), Fault>;
}

/// Code for statements that runs for one tuple after the other in one call.
pub trait RunBodyOnBatch: Send {
    /// Runs them for the frames that the batch begins with, as long as they are of this kind, have
    /// no flags and hold at least the fixed part of the tuple, and takes those off the batch. How
    /// many they were; a frame that failed counts.
    fn run_body_on_batch(
        &mut self,
        context: &mut CodeContext<'_>,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>);
}

/// A projection with the layout of what it writes.
pub struct Projection {
    /// Of the tuples it writes.
    pub layout: Arc<Layout>,
    /// The code.
    pub code: Box<dyn ProjectTuple>,
}

/// A condition.
pub struct Predicate {
    /// The code.
    pub code: Box<dyn TestCondition>,
}

/// Makes code. Calls come operator by operator while a PE is wired; `finish` once, at the end.
pub trait Backend {
    /// Expressions into a flat tuple of a schema with as many attributes; `None`: the default.
    fn projection(
        &mut self,
        scope: &OperatorScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault>;

    /// A condition.
    fn predicate(
        &mut self,
        scope: &OperatorScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestCondition>, Fault>;

    /// A body of statements.
    fn action(&mut self, scope: &OperatorScope<'_>, body: &Body)
    -> Result<Box<dyn RunBody>, Fault>;

    /// The value of an expression without input tuples, now: parameters, and initial values of
    /// state variables (`state` holds the earlier ones).
    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault>;

    /// The code of the lowered operators of a thread, member by member. Whoever can inline across
    /// fused edges overrides this; see [`FusedView`] for what that takes.
    fn compile_fused(&mut self, view: &FusedView<'_>) -> Result<Vec<OperatorCode>, Fault> {
        let members = view.members.iter();
        members
            .map(|member| fused::compile_each_body(self, member))
            .collect()
    }

    /// Everything has been handed over: make it callable.
    fn finish(&mut self) -> Result<(), Fault>;
}
