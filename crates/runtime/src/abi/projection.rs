//! Projections and predicates: the code of a built operator's expressions, evaluated while it runs.

use std::sync::Arc;

use eval::Fault;
use tuple::{Layout, TupleBuf};

use super::code::{ProjectTuple, TestPredicate};
use super::evaluation_inputs::EvaluationInputs;
use super::outlet::Outlet;

/// A projection with the layout of the tuples that it writes.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use eval::Fault;
/// use graph::PortIndex;
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
///         _port: PortIndex,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         let inputs = [Some(tuple)];
///         let inputs = EvaluationInputs::new(&inputs);
///         self.output.write(&inputs, out, &mut self.result)?;
///         out.submit(PortIndex(0), self.result.as_ref())
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
/// use graph::PortIndex;
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
///         _port: PortIndex,
///         tuple: TupleRef<'_>,
///         out: &mut dyn Outlet,
///     ) -> Result<(), Fault> {
///         let inputs = [Some(tuple)];
///         match self.0.holds(&EvaluationInputs::new(&inputs), out)? {
///             true => out.submit(PortIndex(0), tuple),
///             false => Ok(()),
///         }
///     }
/// }
/// ```
pub struct Predicate {
    /// The code that the backend made.
    pub code: Box<dyn TestPredicate>,
}

impl Projection {
    /// Evaluates the expressions for `inputs` and writes the whole tuple into `into`.
    ///
    /// # Errors
    /// The fault of an expression.
    pub fn write(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
        into: &mut TupleBuf,
    ) -> Result<(), Fault> {
        let code = &mut *self.code;
        out.evaluate(inputs, &mut |context| code.project(context, into))
    }
}

impl Predicate {
    /// Whether the condition holds for `inputs`.
    ///
    /// # Errors
    /// The fault of the expression.
    pub fn holds(
        &mut self,
        inputs: &EvaluationInputs<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        let code = &mut *self.code;
        let mut holds = false;
        out.evaluate(inputs, &mut |context| {
            holds = code.test(context)?;
            Ok(())
        })?;
        Ok(holds)
    }
}
