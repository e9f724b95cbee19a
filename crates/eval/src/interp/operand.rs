//! An operand between its evaluation and its use: a value, or a path to one that stays where it is.

use std::borrow::Cow;

use tuple::Value;

use super::machine::Machine;
use super::variable_path::VariablePath;
use crate::Fault;
use crate::ops;

/// An operand after its evaluation.
pub(super) enum EvaluatedOperand<'x> {
    /// A value of its own.
    Owned(Value),
    /// A constant of the program.
    Const(&'x Value),
    /// A part of a variable.
    Path(VariablePath),
}

impl Machine<'_, '_> {
    /// An operand's value, borrowed if it can be.
    pub(super) fn operand_value<'s>(
        &'s self,
        operand: &'s EvaluatedOperand<'_>,
    ) -> Result<Cow<'s, Value>, Fault> {
        match operand {
            EvaluatedOperand::Owned(value) => Ok(Cow::Borrowed(value)),
            EvaluatedOperand::Const(value) => Ok(Cow::Borrowed(value)),
            EvaluatedOperand::Path(path) => {
                ops::read_part(self.base_value(path.base)?, &path.steps)
            }
        }
    }

    /// The value of an operand, cloned only if the operand does not own it.
    pub(super) fn owned_value(&self, operand: EvaluatedOperand<'_>) -> Result<Value, Fault> {
        match operand {
            EvaluatedOperand::Owned(value) => Ok(value),
            borrowed => self.operand_value(&borrowed).map(Cow::into_owned),
        }
    }

    /// A path whose end exists, read at once if it is a scalar.
    pub(super) fn resolve_path<'x>(
        &self,
        path: VariablePath,
        is_scalar: bool,
    ) -> Result<EvaluatedOperand<'x>, Fault> {
        let end = ops::read_part(self.base_value(path.base)?, &path.steps)?;
        if is_scalar {
            return Ok(EvaluatedOperand::Owned(end.into_owned()));
        }
        drop(end);
        Ok(EvaluatedOperand::Path(path))
    }
}
