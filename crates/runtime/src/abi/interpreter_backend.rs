//! The backend that walks expressions: the reference interpreter.

use std::sync::Arc;

use eval::interp::Interpreter;
use eval::{Evaluation, Fault, InputTuples, NativeFn, Services, State, Submit};
use graph::{Body, Expr, Function, PortIndex};
use tuple::{EventTime, Layout, Punctuation, TupleBuf, TupleRef, Value};

use super::backend::Backend;
use super::code::{CodeScope, ProjectTuple, RunBody, TestPredicate};
use super::outlet::{CodeContext, Outlet};

/// The backend whose code is the expression itself, interpreted: the reference for every other one.
///
/// ```
/// # extern crate thalweg_runtime as runtime;
/// use runtime::abi::interpreter_backend::InterpreterBackend;
/// use runtime::{Pe, PeOptions};
///
/// let program = graph::Program::default();
/// let mut backend = InterpreterBackend::new(&program.functions, &[]);
/// let threads = graph::PeThreads::default();
/// let pe = Pe::wire(&program, &threads, &[], &mut backend, PeOptions::default()).unwrap();
/// assert!(pe.start().unwrap().join().unwrap().is_empty());
/// ```
pub struct InterpreterBackend {
    interpreter: Interpreter,
}

impl InterpreterBackend {
    /// A backend for a program with these user functions, and the table of library functions that
    /// its [`graph::NativeId`]s count.
    pub fn new(functions: &[Function], natives: &[NativeFn]) -> InterpreterBackend {
        let interpreter = Interpreter::new(functions, natives);
        InterpreterBackend { interpreter }
    }

    fn interpreted_code<T>(&self, scope: &CodeScope<'_>, what: T) -> InterpretedCode<T> {
        let ports = &scope.operator.inputs;
        InterpretedCode {
            interpreter: self.interpreter.with_ports(ports, &scope.outputs),
            layouts: scope.inputs.clone().into(),
            code: what,
        }
    }
}

/// The value of an expression without inputs: what every backend does before there is code.
///
/// # Errors
/// The fault of the expression.
pub fn evaluate(
    interpreter: &mut Interpreter,
    expr: &Expr,
    state: &mut State,
    services: &mut dyn Services,
) -> Result<Value, Fault> {
    interpreter.evaluate(
        expr,
        &mut Evaluation {
            inputs: InputTuples::NONE,
            state,
            submit: &mut PortlessServices(services),
            current_punctuation: None,
        },
    )
}

impl Backend for InterpreterBackend {
    fn projection(
        &mut self,
        scope: &CodeScope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn ProjectTuple>, Fault> {
        let exprs: Vec<Option<Expr>> = exprs.iter().map(|expr| expr.cloned()).collect();
        Ok(Box::new(
            self.interpreted_code(scope, (exprs, layout.clone())),
        ))
    }

    fn predicate(
        &mut self,
        scope: &CodeScope<'_>,
        expr: &Expr,
    ) -> Result<Box<dyn TestPredicate>, Fault> {
        Ok(Box::new(self.interpreted_code(scope, expr.clone())))
    }

    fn body(&mut self, scope: &CodeScope<'_>, body: &Body) -> Result<Box<dyn RunBody>, Fault> {
        Ok(Box::new(self.interpreted_code(scope, body.clone())))
    }

    fn evaluate(
        &mut self,
        expr: &Expr,
        state: &mut State,
        services: &mut dyn Services,
    ) -> Result<Value, Fault> {
        evaluate(&mut self.interpreter, expr, state, services)
    }

    fn finish(&mut self) -> Result<(), Fault> {
        Ok(())
    }
}

/// An expression or body, with the interpreter of its operator.
struct InterpretedCode<T> {
    interpreter: Interpreter,
    /// Layouts of all input slots, that of output function results included.
    layouts: Arc<[Arc<Layout>]>,
    code: T,
}

impl<T> InterpretedCode<T> {
    fn interpret<R>(
        &mut self,
        context: &mut CodeContext<'_>,
        walk: impl FnOnce(&mut Interpreter, &T, &mut Evaluation<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let mut evaluation = Evaluation {
            inputs: InputTuples {
                tuples: context.inputs.tuples,
                layouts: &self.layouts,
            },
            state: &mut *context.state,
            submit: &mut OutletSubmit(&mut *context.outlet),
            current_punctuation: context.punctuation,
        };
        walk(&mut self.interpreter, &self.code, &mut evaluation)
    }
}

impl ProjectTuple for InterpretedCode<(Vec<Option<Expr>>, Arc<Layout>)> {
    fn project(&mut self, context: &mut CodeContext<'_>, out: &mut TupleBuf) -> Result<(), Fault> {
        self.interpret(context, |interpreter, (exprs, layout), to| {
            interpreter.project(exprs, to, layout, out)
        })
    }
}

impl TestPredicate for InterpretedCode<Expr> {
    fn test(&mut self, context: &mut CodeContext<'_>) -> Result<bool, Fault> {
        self.interpret(context, Interpreter::evaluate_condition)
    }
}

impl RunBody for InterpretedCode<Body> {
    fn run_body(&mut self, context: &mut CodeContext<'_>) -> Result<(), Fault> {
        self.interpret(context, Interpreter::run)
    }
}

/// An outlet as the interpreter submits to it.
struct OutletSubmit<'a>(&'a mut dyn Outlet);

impl Submit for OutletSubmit<'_> {
    fn submit_tuple(&mut self, port: PortIndex, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.0.submit(port, tuple)
    }

    fn submit_punctuation(&mut self, port: PortIndex, mark: Punctuation) -> Result<(), Fault> {
        self.0.submit_punctuation(port, mark)
    }

    fn submit_watermark(&mut self, port: PortIndex, at: EventTime) -> Result<(), Fault> {
        self.0.submit_watermark(port, at)
    }

    fn services(&mut self) -> &mut dyn Services {
        self.0.services()
    }
}

/// Services for an evaluation that has no ports to submit to.
struct PortlessServices<'a>(&'a mut dyn Services);

impl Submit for PortlessServices<'_> {
    fn submit_tuple(&mut self, _: PortIndex, _: TupleRef<'_>) -> Result<(), Fault> {
        Err(no_output_ports())
    }

    fn submit_punctuation(&mut self, _: PortIndex, _: Punctuation) -> Result<(), Fault> {
        Err(no_output_ports())
    }

    fn services(&mut self) -> &mut dyn Services {
        self.0
    }
}

fn no_output_ports() -> Fault {
    Fault::value("nothing can be submitted before the start")
}
