//! Code as the run time calls it: for expressions, conditions and statements.

use std::sync::Arc;

use eval::Fault;
use ring::frame::FrameBatch;
use tuple::{Layout, TupleBuf};

use super::outlet::CodeContext;

/// The names that the expressions of one operator may use: its ports and its state variables.
#[derive(Clone, Debug)]
pub struct CodeScope<'a> {
    /// The operator that the expressions belong to.
    pub operator: &'a graph::OperatorNode,
    /// Index of the operator in the program.
    pub index: u32,
    /// Layout of every input slot (see [`eval::InputTuples`]); that of output function results is
    /// the last one, if there are any.
    pub inputs: Vec<Arc<Layout>>,
    /// Layouts of the output ports, by port.
    pub outputs: Vec<Arc<Layout>>,
    /// State variables of the operator, by [`graph::StateId`].
    pub state: &'a [graph::StateVar],
    /// Tables of the operator, by [`graph::TableId`].
    pub tables: &'a [graph::StateTable],
}

/// Code of a projection: writes a flat tuple.
pub trait ProjectTuple: Send {
    /// Writes the whole tuple into `out`, which the code begins with the projection's layout.
    ///
    /// # Errors
    /// The fault of an expression.
    fn project(&mut self, context: &mut CodeContext<'_>, out: &mut TupleBuf) -> Result<(), Fault>;
}

/// Code of a boolean expression.
pub trait TestPredicate: Send {
    /// Whether the condition holds for the tuples of the context.
    ///
    /// # Errors
    /// The fault of the expression.
    fn test(&mut self, context: &mut CodeContext<'_>) -> Result<bool, Fault>;
}

/// Code of a body of statements.
pub trait RunBody: Send {
    /// Runs the body once.
    ///
    /// # Errors
    /// A fault of the body, or of an operator that it submitted to.
    fn run_body(&mut self, context: &mut CodeContext<'_>) -> Result<(), Fault>;
}

/// Code of a body that runs for many tuples in one call.
pub trait RunBodyOnBatch: Send {
    /// Runs the body for the frames at the front of the batch, and takes these off the batch. It
    /// stops before the first frame that is of another kind, has flags, or does not hold a tuple in
    /// the code's form. Returns the number of frames taken, the one that failed included.
    fn run_body_on_batch(
        &mut self,
        context: &mut CodeContext<'_>,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>);
}
