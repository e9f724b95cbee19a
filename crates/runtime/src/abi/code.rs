//! Code as the run time calls it: for expressions, conditions and statements.

use std::sync::Arc;

use eval::Fault;
use ring::frame::FrameBatch;
use tuple::{Layout, TupleBuf};

use super::evaluation_inputs::EvaluationInputs;
use super::outlet::{CodeContext, Outlet};

/// The names that the expressions of one operator may use: its ports and its state variables.
#[derive(Clone, Debug)]
pub struct OperatorScope<'a> {
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
pub trait TestCondition: Send {
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
    /// stops before the first frame that is of another kind, has flags, or is shorter than the
    /// fixed part of the tuple. Returns the number of frames taken, the one that failed included.
    fn run_body_on_batch(
        &mut self,
        context: &mut CodeContext<'_>,
        batch: &mut FrameBatch<'_>,
        kind: u8,
    ) -> (u64, Result<(), Fault>);
}

/// A projection with the layout of the tuples that it writes.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use runtime::abi::Projection;
/// use runtime::{EvaluationInputs, Operator, Outlet};
/// use tuple::{TupleBuf, TupleRef};
///
/// /// Submits what its output clause says.
/// struct Assign {
///     output: Projection,
///     result: TupleBuf,
/// }
///
/// impl Operator for Assign {
///     fn process(
///         &mut self,
///         _port: u32,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         let inputs = [Some(tuple)];
///         let inputs = EvaluationInputs::new(&inputs);
///         self.output.write(&inputs, out, &mut self.result)?;
///         out.submit(0, self.result.as_ref())
///     }
/// }
/// ```
pub struct Projection {
    /// Layout of the tuples that the code writes.
    pub layout: Arc<Layout>,
    /// The code that the backend made.
    pub code: Box<dyn ProjectTuple>,
}

/// A condition that is evaluated while the operator runs.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use runtime::abi::Predicate;
/// use runtime::{EvaluationInputs, Operator, Outlet};
/// use tuple::TupleRef;
///
/// /// Submits the tuples for which a condition holds.
/// struct Select(Predicate);
///
/// impl Operator for Select {
///     fn process(
///         &mut self,
///         _port: u32,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         let inputs = [Some(tuple)];
///         match self.0.holds(&EvaluationInputs::new(&inputs), out)? {
///             true => out.submit(0, tuple),
///             false => Ok(()),
///         }
///     }
/// }
/// ```
pub struct Predicate {
    /// The code that the backend made.
    pub code: Box<dyn TestCondition>,
}

impl Projection {
    /// Evaluates the expressions for `inputs` and writes the whole tuple into `into`.
    ///
    /// # Errors
    /// The fault of an expression.
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
    /// Whether the condition holds for `inputs`.
    ///
    /// # Errors
    /// The fault of the expression.
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
