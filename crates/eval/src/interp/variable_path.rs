//! Paths to parts of variables, which stay where they are until their value is needed.

use graph::StateId;
use smallvec::SmallVec;

use crate::ops::ValueStep;

/// Path to a part of a variable, its indices computed.
#[derive(Clone, Debug)]
pub(super) struct VariablePath {
    pub(super) base: VariableBase,
    pub(super) steps: SmallVec<[ValueStep; 2]>,
}

/// Variable at which a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableBase {
    /// A local, counted through all frames.
    Local(usize),
    /// A state variable of the operator.
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

    /// The path to a part of the part that this path leads to.
    pub(super) fn with_step(mut self, key: ValueStep) -> VariablePath {
        self.steps.push(key);
        self
    }
}
