//! The interpreter of one operator, with the memory that it keeps between evaluations.

use std::fmt;
use std::sync::Arc;

use graph::{Body, Expr, Function, InPort};
use tuple::{Layout, TupleBuf, Value};

use super::interpreter_ports::{InterpreterPorts, InterpreterScratch};
use super::machine::Machine;
use crate::{Evaluation, Fault, NativeFn};

/// Evaluates the expressions and bodies of one operator.
///
/// An interpreter reuses memory from one evaluation to the next, so it is called by `&mut`. A clone
/// shares the program and has memory of its own.
#[derive(Clone)]
pub struct Interpreter {
    functions: Arc<[Function]>,
    natives: Arc<[NativeFn]>,
    ports: InterpreterPorts,
    scratch: InterpreterScratch,
}

impl Interpreter {
    /// An interpreter for expressions that call these functions, for an operator without ports.
    pub fn new(functions: &[Function], natives: &[NativeFn]) -> Interpreter {
        Interpreter {
            functions: functions.into(),
            natives: natives.into(),
            ports: InterpreterPorts {
                first_slots: vec![0],
                history: Vec::new(),
                output_layouts: Vec::new(),
            },
            scratch: InterpreterScratch::default(),
        }
    }

    /// An interpreter of the same program for an operator with these ports.
    pub fn with_ports(&self, inputs: &[InPort], outputs: &[Arc<Layout>]) -> Interpreter {
        let mut slots = vec![0];
        for port in inputs {
            let next = slots[slots.len() - 1] + port.history.slots();
            slots.push(next);
        }
        Interpreter {
            ports: InterpreterPorts {
                first_slots: slots,
                history: inputs.iter().map(|port| port.history.clone()).collect(),
                output_layouts: outputs.to_vec(),
            },
            scratch: InterpreterScratch::default(),
            ..self.clone()
        }
    }

    /// Evaluates an expression to a value.
    ///
    /// # Errors
    /// The fault of the expression.
    ///
    /// # Example
    /// ```
    /// use graph::{Expr, StateId, StateVar};
    /// use thalweg_eval::{Evaluation, InputTuples, Interpreter, NoServices, State};
    /// use tuple::{Type, Value};
    ///
    /// let var = StateVar { name: "n".into(), ty: Type::Int32, init: None };
    /// let mut state = State::new(&[var]);
    /// state.set(StateId(0), Value::Int32(7));
    /// let mut evaluation = Evaluation {
    ///     inputs: InputTuples::NONE,
    ///     state: &mut state,
    ///     submit: &mut NoServices::default(),
    ///     current_punctuation: None,
    /// };
    /// let read = Expr::state(StateId(0), Type::Int32);
    /// let value = Interpreter::new(&[], &[]).evaluate(&read, &mut evaluation);
    /// assert_eq!(value, Ok(Value::Int32(7)));
    /// ```
    pub fn evaluate(&mut self, expr: &Expr, to: &mut Evaluation<'_>) -> Result<Value, Fault> {
        self.with_machine(to, |machine| machine.value(expr))
    }

    /// Evaluates a boolean expression.
    ///
    /// # Errors
    /// The fault of the expression.
    pub fn evaluate_condition(
        &mut self,
        expr: &Expr,
        to: &mut Evaluation<'_>,
    ) -> Result<bool, Fault> {
        self.with_machine(to, |machine| machine.condition(expr))
    }

    /// Writes a flat tuple; attributes without an expression get their default.
    ///
    /// # Errors
    /// The fault of the first expression that fails.
    pub fn project(
        &mut self,
        exprs: &[Option<Expr>],
        to: &mut Evaluation<'_>,
        layout: &Layout,
        out: &mut TupleBuf,
    ) -> Result<(), Fault> {
        self.with_machine(to, |machine| {
            machine.write(exprs.iter().map(Option::as_ref), layout, out)
        })
    }

    /// Runs the statements of a body.
    ///
    /// # Errors
    /// The fault of the first statement that fails; earlier statements keep their effect.
    pub fn run(&mut self, body: &Body, to: &mut Evaluation<'_>) -> Result<(), Fault> {
        self.with_machine(to, |machine| machine.run(body))
    }

    fn with_machine<'m, 'e, R>(
        &'m mut self,
        to: &'m mut Evaluation<'e>,
        work: impl FnOnce(&mut Machine<'m, 'e>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let Interpreter {
            functions,
            natives,
            ports,
            scratch,
        } = self;
        let mut machine = Machine::new(functions, natives, ports, to);
        machine.take_scratch(scratch);
        let result = work(&mut machine);
        machine.return_scratch(scratch);
        result
    }
}

impl fmt::Debug for Interpreter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (functions, natives) = (self.functions.len(), self.natives.len());
        write!(f, "Interpreter({functions} functions, {natives} natives)")
    }
}
