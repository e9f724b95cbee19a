//! The reference interpreter: walks typed expressions and statements and so defines what they mean.
//!
//! What comes in is a [`graph::Body`] or [`graph::Expr`] and an [`Evaluation`]: input tuples,
//! state, where to submit. Compiled code has to give the same bits, the same faults in the same
//! order and the same submissions.
//!
//! # Order of evaluation
//! Operands, arguments, elements and attributes from left to right. An assignment first computes
//! the indices of its place from the variable inwards, then its value, and looks at the place last.
//! A map literal computes key, value, key, value. Arguments are all computed before the callee
//! begins.
//!
//! # Cost
//! Reading a part of a variable (`m[k].a`, `size(l)`, `for (x in l)`) copies no more than that
//! part: such an expression is a path into the variable until its value is needed, and the
//! arguments of a call are lent to the callee rather than copied. An attribute of an input tuple
//! that is not a scalar is decoded once in an evaluation.
//!
//! # Limits
//! Calls nest up to [`MAX_CALL_DEPTH`] levels and as far as the thread's stack allows: an
//! evaluation that needs more faults. A thread has [`STACK_BYTES`] from its first evaluation on;
//! one that has more says so with [`reserve_stack`]. Loops end when the program says so; only
//! [`fold`] counts steps.

mod call;
mod decoded_inputs;
mod expr;
mod fold;
mod machine;
mod operand;
mod place;
mod stack;
mod stmt;

use std::fmt;
use std::sync::Arc;

use tuple::{Layout, TupleBuf, Value};

use crate::{Evaluation, Fault, NativeFn};
use graph::{Body, Expr, Function, InPort, StateId, StateVar};

pub use fold::fold;
pub use stack::{STACK_BYTES, reserve_stack, stack_floor};

use machine::Machine;

/// How deep calls of user functions nest; one more is a fault.
pub const MAX_CALL_DEPTH: u32 = 10_000;

/// Evaluates the expressions and bodies of one operator.
///
/// It keeps memory from one evaluation to the next, hence `&mut`; a clone shares the program.
#[derive(Clone)]
pub struct Interpreter {
    functions: Arc<[Function]>,
    natives: Arc<[NativeFn]>,
    ports: InterpreterPorts,
    scratch: InterpreterScratch,
}

/// What is known of an operator's ports when it is wired.
#[derive(Clone, Default)]
struct InterpreterPorts {
    /// First slot of each input port; then that of the results of output function calls.
    first_slots: Vec<u32>,
    /// Layouts of the output ports.
    output_layouts: Vec<Arc<Layout>>,
}

/// Memory that is used again.
#[derive(Clone, Default)]
struct InterpreterScratch {
    locals: Vec<Value>,
    tuple: TupleBuf,
}

impl Interpreter {
    /// For expressions that call these functions.
    pub fn new(functions: &[Function], natives: &[NativeFn]) -> Interpreter {
        Interpreter {
            functions: functions.into(),
            natives: natives.into(),
            ports: InterpreterPorts {
                first_slots: vec![0],
                output_layouts: Vec::new(),
            },
            scratch: InterpreterScratch::default(),
        }
    }

    /// The same program for an operator with these ports.
    pub fn with_ports(&self, inputs: &[InPort], outputs: &[Arc<Layout>]) -> Interpreter {
        let mut slots = vec![0];
        for port in inputs {
            let next = slots[slots.len() - 1] + port.history + 1;
            slots.push(next);
        }
        Interpreter {
            ports: InterpreterPorts {
                first_slots: slots,
                output_layouts: outputs.to_vec(),
            },
            scratch: InterpreterScratch::default(),
            ..self.clone()
        }
    }

    /// An expression's value.
    pub fn evaluate(&mut self, expr: &Expr, to: &mut Evaluation<'_>) -> Result<Value, Fault> {
        self.with_machine(to, |machine| machine.value(expr))
    }

    /// A condition.
    pub fn evaluate_condition(
        &mut self,
        expr: &Expr,
        to: &mut Evaluation<'_>,
    ) -> Result<bool, Fault> {
        self.with_machine(to, |machine| machine.condition(expr))
    }

    /// Writes a flat tuple; attributes without an expression get their default.
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

    /// Runs statements.
    pub fn run(&mut self, body: &Body, to: &mut Evaluation<'_>) -> Result<(), Fault> {
        self.with_machine(to, |machine| machine.run(body))
    }

    /// Runs the initializers of state variables, in order.
    pub fn initialize(&mut self, vars: &[StateVar], to: &mut Evaluation<'_>) -> Result<(), Fault> {
        for (at, var) in vars.iter().enumerate() {
            if let Some(init) = &var.init {
                let value = self.evaluate(init, to)?;
                to.state.set(StateId(at as u32), value);
            }
        }
        Ok(())
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
