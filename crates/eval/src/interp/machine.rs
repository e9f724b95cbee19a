//! One evaluation under way: the calls that go on, with their locals, decoded inputs, limits.

use graph::{Function, LocalVar, StateId, TableId};
use tuple::{TupleBuf, Type, Value};

use super::decoded_inputs::DecodedInputs;
use super::interpreter_ports::{InterpreterPorts, InterpreterScratch};
use super::stack;
use super::variable_path::{VariableBase, VariablePath};
use crate::ops::{ValueStep, faults};
use crate::{Evaluation, Fault, FaultKind, NativeFn, State, TableState};

/// Placeholder for the value of a void expression, and of a local before its `Let`.
pub(super) const VOID_VALUE: Value = Value::Boolean(false);

pub(super) struct Machine<'m, 'e> {
    pub(super) functions: &'m [Function],
    pub(super) natives: &'m [NativeFn],
    pub(super) ports: &'m InterpreterPorts,
    pub(super) evaluation: &'m mut Evaluation<'e>,
    /// The locals of all calls that go on, the innermost one's last.
    pub(super) locals: Vec<Value>,
    /// Index of the innermost call's first local.
    pub(super) call_base: usize,
    /// Declarations of the innermost call's locals.
    pub(super) call_vars: &'m [LocalVar],
    pub(super) call_depth: u32,
    /// Attributes of input tuples that were decoded.
    pub(super) decoded: DecodedInputs,
    pub(super) tuple_buffer: TupleBuf,
    /// Loop turns and calls that are still allowed.
    steps_left: u64,
    stack_floor: usize,
}

impl<'m, 'e> Machine<'m, 'e> {
    pub(super) fn new(
        functions: &'m [Function],
        natives: &'m [NativeFn],
        ports: &'m InterpreterPorts,
        to: &'m mut Evaluation<'e>,
    ) -> Machine<'m, 'e> {
        Machine {
            functions,
            natives,
            ports,
            evaluation: to,
            locals: Vec::new(),
            call_base: 0,
            call_vars: &[],
            call_depth: 0,
            decoded: DecodedInputs::default(),
            tuple_buffer: TupleBuf::default(),
            steps_left: u64::MAX,
            stack_floor: stack::stack_floor(),
        }
    }

    /// Limits the number of loop turns and calls.
    pub(super) fn limit_steps(&mut self, steps: u64) {
        self.steps_left = steps;
    }

    pub(super) fn take_scratch(&mut self, scratch: &mut InterpreterScratch) {
        self.locals = std::mem::take(&mut scratch.locals);
        self.tuple_buffer = std::mem::take(&mut scratch.tuple);
    }

    pub(super) fn return_scratch(self, scratch: &mut InterpreterScratch) {
        scratch.locals = self.locals;
        scratch.locals.clear();
        scratch.tuple = self.tuple_buffer;
    }

    /// Counts a loop turn or a call.
    pub(super) fn count_step(&mut self) -> Result<(), Fault> {
        match self.steps_left.checked_sub(1) {
            Some(left) => {
                self.steps_left = left;
                Ok(())
            }
            None => {
                let sentence = "the constant expression takes too many steps to compute";
                Err(Fault::new(FaultKind::Limit, sentence))
            }
        }
    }

    pub(super) fn check_stack(&self) -> Result<(), Fault> {
        stack::check_floor(self.stack_floor)
    }

    /// A variable, unless it is a scalar of the state.
    pub(super) fn base_value(&self, base: VariableBase) -> Result<&Value, Fault> {
        let value = match base {
            VariableBase::Local(at) => self.locals.get(at),
            VariableBase::State(var) => self.evaluation.state.value(var),
            VariableBase::Decoded(at) => return Ok(self.decoded.get(at)),
        };
        value.ok_or_else(faults::no_variable)
    }

    /// A scalar of the state.
    pub(super) fn scalar(&self, var: StateId) -> Result<Value, Fault> {
        if (var.0 as usize) < self.evaluation.state.types.len() {
            return Ok(self.evaluation.state.get(var));
        }
        Err(faults::no_variable())
    }

    /// A table of the state.
    pub(super) fn table(&mut self, table: TableId) -> Result<&mut TableState, Fault> {
        let tables = &mut self.evaluation.state.tables;
        tables
            .get_mut(table.0 as usize)
            .ok_or_else(faults::no_variable)
    }

    /// The type of a variable of the innermost call.
    pub(super) fn base_type(&self, base: VariableBase) -> Option<&Type> {
        match base {
            VariableBase::Local(at) => self
                .call_vars
                .get(at.checked_sub(self.call_base)?)
                .map(|v| &v.ty),
            VariableBase::State(var) => self.evaluation.state.types.get(var.0 as usize),
            VariableBase::Decoded(_) => None,
        }
    }

    /// Runs a change on what a path leads to.
    pub(super) fn change<R>(
        &mut self,
        path: &VariablePath,
        work: impl FnOnce(&mut Value, &[ValueStep]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        match path.base {
            VariableBase::Local(at) => {
                let local = self.locals.get_mut(at).ok_or_else(faults::no_variable)?;
                work(local, &path.steps)
            }
            VariableBase::Decoded(at) => work(self.decoded.get_mut(at), &path.steps),
            VariableBase::State(var) => {
                change_state(self.evaluation.state, var, |value| work(value, &path.steps))
            }
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
    let ty = state.types.get(at).ok_or_else(faults::no_variable)?;
    if !State::is_scalar(ty) {
        return work(state.value_mut(var).ok_or_else(faults::no_variable)?);
    }
    let mut scalar = state.get(var);
    let result = work(&mut scalar)?;
    state.set(var, scalar);
    Ok(result)
}
