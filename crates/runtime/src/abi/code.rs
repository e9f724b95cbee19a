//! Code as the run time calls it: for expressions, conditions and statements.

use std::sync::Arc;

use eval::Fault;
use ring::frame::FrameBatch;
use tuple::{Layout, TupleBuf};

use super::evaluation_inputs::EvaluationInputs;
use super::outlet::{CodeContext, Outlet};

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

impl Projection {
    /// Evaluates for a row and writes the whole tuple.
    pub fn write(
        &mut self,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
        into: &mut TupleBuf,
    ) -> Result<(), Fault> {
        let code = &mut *self.code;
        out.evaluate(row, &mut |context| code.project(context, into))
    }
}

impl Predicate {
    /// Whether the condition holds for a row.
    pub fn holds(
        &mut self,
        row: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let code = &mut *self.code;
        let mut holds = false;
        out.evaluate(row, &mut |context| {
            holds = code.test(context)?;
            Ok(())
        })?;
        Ok(holds)
    }
}
