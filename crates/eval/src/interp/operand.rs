//! An operand between its evaluation and its use: a value, or a path to one that stays where it is.

use std::borrow::Cow;

use smallvec::SmallVec;
use tuple::Value;

use crate::Fault;
use crate::ops::{self, ValueStep};
use graph::StateId;

use super::machine::Machine;

/// An evaluated operand.
pub(super) enum EvaluatedOperand<'x> {
    /// A value of its own.
    Owned(Value),
    /// A constant of the program.
    Const(&'x Value),
    /// A part of a variable.
    Path(VariablePath),
}

/// A way to a part of a variable, its indices computed.
#[derive(Clone, Debug)]
pub(super) struct VariablePath {
    pub(super) base: VariableBase,
    pub(super) steps: SmallVec<[ValueStep; 2]>,
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableBase {
    /// A local, counted through all frames.
    Local(usize),
    /// A state variable.
    State(StateId),
    /// A decoded attribute of an input tuple.
    Decoded(usize),
}

impl VariablePath {
    /// The way to a whole variable.
    pub(super) fn from_base(base: VariableBase) -> VariablePath {
        VariablePath {
            base,
            steps: SmallVec::new(),
        }
    }

    /// One step further.
    pub(super) fn with_step(mut self, key: ValueStep) -> VariablePath {
        self.steps.push(key);
        self
    }
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

    /// An operand's value.
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
