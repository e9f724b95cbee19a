//! An operand between its evaluation and its use: a value, or a path to one that stays where it is.

use std::borrow::Cow;

use smallvec::SmallVec;
use tuple::Value;

use crate::ops::{self, Key};
use crate::{Fault, StateId};

use super::machine::Machine;

/// An evaluated operand.
pub(super) enum Operand<'x> {
    /// A value of its own.
    Owned(Value),
    /// A constant of the program.
    Const(&'x Value),
    /// A part of a variable.
    At(Path),
}

/// A way to a part of a variable, its indices computed.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) base: Base,
    pub(super) keys: SmallVec<[Key; 2]>,
}

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// A local, counted through all frames.
    Local(usize),
    /// A state variable.
    State(StateId),
    /// A decoded attribute of an input tuple.
    Decoded(usize),
}

impl Path {
    /// The way to a whole variable.
    pub(super) fn to(base: Base) -> Path {
        Path {
            base,
            keys: SmallVec::new(),
        }
    }

    /// One step further.
    pub(super) fn then(mut self, key: Key) -> Path {
        self.keys.push(key);
        self
    }
}

impl Machine<'_, '_> {
    /// An operand's value, borrowed if it can be.
    pub(super) fn look<'s>(&'s self, operand: &'s Operand<'_>) -> Result<Cow<'s, Value>, Fault> {
        match operand {
            Operand::Owned(value) => Ok(Cow::Borrowed(value)),
            Operand::Const(value) => Ok(Cow::Borrowed(value)),
            Operand::At(path) => ops::read(self.base(path.base)?, &path.keys),
        }
    }

    /// An operand's value.
    pub(super) fn own(&self, operand: Operand<'_>) -> Result<Value, Fault> {
        match operand {
            Operand::Owned(value) => Ok(value),
            borrowed => self.look(&borrowed).map(Cow::into_owned),
        }
    }

    /// A path whose end exists, read at once if it is a scalar.
    pub(super) fn settle<'x>(&self, path: Path, is_scalar: bool) -> Result<Operand<'x>, Fault> {
        let end = ops::read(self.base(path.base)?, &path.keys)?;
        if is_scalar {
            return Ok(Operand::Owned(end.into_owned()));
        }
        drop(end);
        Ok(Operand::At(path))
    }
}
