//! One evaluation under way: frames of locals, decoded inputs, limits.

use tuple::{TupleBuf, Type, Value};

use crate::ops::{Key, sentence};
use crate::{Evaluation, Fault, FaultKind, Function, LocalVar, NativeFn, State, StateId};

use super::input::Decoded;
use super::operand::{Base, Path};
use super::{Ports, Scratch, stack};

/// What stands for the value of something void, and of a local before its `Let`.
pub(super) const NOTHING: Value = Value::Boolean(false);

pub(super) struct Machine<'m, 'e> {
    pub(super) functions: &'m [Function],
    pub(super) natives: &'m [NativeFn],
    pub(super) ports: &'m Ports,
    pub(super) to: &'m mut Evaluation<'e>,
    /// The locals of all frames, the running one's last.
    pub(super) locals: Vec<Value>,
    /// Where the running frame's locals begin.
    pub(super) frame: usize,
    /// What they are.
    pub(super) vars: &'m [LocalVar],
    pub(super) depth: u32,
    /// Attributes of input tuples that were decoded.
    pub(super) decoded: Decoded,
    pub(super) tuple: TupleBuf,
    /// Loop turns and calls that are still allowed.
    steps: u64,
    floor: usize,
}

impl<'m, 'e> Machine<'m, 'e> {
    pub(super) fn new(
        functions: &'m [Function],
        natives: &'m [NativeFn],
        ports: &'m Ports,
        to: &'m mut Evaluation<'e>,
    ) -> Machine<'m, 'e> {
        Machine {
            functions,
            natives,
            ports,
            to,
            locals: Vec::new(),
            frame: 0,
            vars: &[],
            depth: 0,
            decoded: Decoded::default(),
            tuple: TupleBuf::default(),
            steps: u64::MAX,
            floor: stack::stack_floor(),
        }
    }

    /// Allows so many loop turns and calls.
    pub(super) fn limit(&mut self, steps: u64) {
        self.steps = steps;
    }

    pub(super) fn lend(&mut self, scratch: &mut Scratch) {
        self.locals = std::mem::take(&mut scratch.locals);
        self.tuple = std::mem::take(&mut scratch.tuple);
    }

    pub(super) fn give_back(self, scratch: &mut Scratch) {
        scratch.locals = self.locals;
        scratch.locals.clear();
        scratch.tuple = self.tuple;
    }

    /// Counts a loop turn or a call.
    pub(super) fn step(&mut self) -> Result<(), Fault> {
        match self.steps.checked_sub(1) {
            Some(left) => {
                self.steps = left;
                Ok(())
            }
            None => {
                let sentence = "the constant expression takes too many steps to compute";
                Err(Fault::new(FaultKind::Limit, sentence))
            }
        }
    }

    pub(super) fn check_stack(&self) -> Result<(), Fault> {
        stack::check(self.floor)
    }

    /// A variable, unless it is a scalar of the state.
    pub(super) fn base(&self, base: Base) -> Result<&Value, Fault> {
        let value = match base {
            Base::Local(at) => self.locals.get(at),
            Base::State(var) => self.to.state.values.get(var.0 as usize),
            Base::Decoded(at) => return Ok(self.decoded.get(at)),
        };
        value.ok_or_else(sentence::no_variable)
    }

    /// A scalar of the state.
    pub(super) fn scalar(&self, var: StateId) -> Result<Value, Fault> {
        if (var.0 as usize) < self.to.state.types.len() {
            return Ok(self.to.state.get(var));
        }
        Err(sentence::no_variable())
    }

    /// The type of a variable of the running frame.
    pub(super) fn base_type(&self, base: Base) -> Option<&Type> {
        match base {
            Base::Local(at) => self.vars.get(at.checked_sub(self.frame)?).map(|v| &v.ty),
            Base::State(var) => self.to.state.types.get(var.0 as usize),
            Base::Decoded(_) => None,
        }
    }

    /// Runs a change on what a path leads to.
    pub(super) fn change<R>(
        &mut self,
        path: &Path,
        work: impl FnOnce(&mut Value, &[Key]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        match path.base {
            Base::Local(at) => {
                let local = self.locals.get_mut(at).ok_or_else(sentence::no_variable)?;
                work(local, &path.keys)
            }
            Base::Decoded(at) => work(self.decoded.get_mut(at), &path.keys),
            Base::State(var) => change_state(self.to.state, var, |value| work(value, &path.keys)),
        }
    }
}

/// Runs a change on a state variable, wherever it lies.
fn change_state<R>(
    state: &mut State,
    var: StateId,
    work: impl FnOnce(&mut Value) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let at = var.0 as usize;
    let ty = state.types.get(at).ok_or_else(sentence::no_variable)?;
    if !State::is_scalar(ty) {
        return work(&mut state.values[at]);
    }
    let mut scalar = state.get(var);
    let result = work(&mut scalar)?;
    state.set(var, scalar);
    Ok(result)
}
