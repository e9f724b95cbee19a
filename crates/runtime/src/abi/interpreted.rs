//! The backend that walks expressions: the reference interpreter.

use std::sync::Arc;

use graph::interp::Interpreter;
use graph::{Body, Evaluation, Expr, Fault, Function, Inputs, NativeFn, Services, State, Submit};
use tuple::{Layout, Punctuation, TupleBuf, TupleRef, Value};

use super::{Act, Backend, Context, Project, Scope, Test};
use crate::Outlet;

/// Makes interpreted code.
pub struct Interpreted {
    interpreter: Interpreter,
}

impl Interpreted {
    /// For a program with these functions, and the table of library functions that its
    /// [`graph::NativeId`]s count.
    pub fn new(functions: &[Function], natives: &[NativeFn]) -> Interpreted {
        let interpreter = Interpreter::new(functions, natives);
        Interpreted { interpreter }
    }

    fn walker<T>(&self, scope: &Scope<'_>, what: T) -> Walker<T> {
        let ports = &scope.operator.inputs;
        Walker {
            interpreter: self.interpreter.with_ports(ports, &scope.outputs),
            layouts: scope.inputs.clone().into(),
            what,
        }
    }
}

/// The value of an expression without inputs: what every backend does before there is code.
pub fn evaluate(
    interpreter: &mut Interpreter,
    expr: &Expr,
    state: &mut State,
    services: &mut dyn Services,
) -> Result<Value, Fault> {
    interpreter.value(
        expr,
        &mut Evaluation {
            inputs: Inputs::NONE,
            state,
            submit: &mut Nowhere(services),
            mark: None,
        },
    )
}

impl Backend for Interpreted {
    fn projection(
        &mut self,
        scope: &Scope<'_>,
        exprs: &[Option<&Expr>],
        layout: &Arc<Layout>,
    ) -> Result<Box<dyn Project>, Fault> {
        let exprs: Vec<Option<Expr>> = exprs.iter().map(|expr| expr.cloned()).collect();
        Ok(Box::new(self.walker(scope, (exprs, layout.clone()))))
    }

    fn predicate(&mut self, scope: &Scope<'_>, expr: &Expr) -> Result<Box<dyn Test>, Fault> {
        Ok(Box::new(self.walker(scope, expr.clone())))
    }

    fn action(&mut self, scope: &Scope<'_>, body: &Body) -> Result<Box<dyn Act>, Fault> {
        Ok(Box::new(self.walker(scope, body.clone())))
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

/// Something to walk, with an interpreter for its operator.
struct Walker<T> {
    interpreter: Interpreter,
    /// Of all input slots, that of results included.
    layouts: Arc<[Arc<Layout>]>,
    what: T,
}

impl<T> Walker<T> {
    fn walk<R>(
        &mut self,
        context: &mut Context<'_>,
        walk: impl FnOnce(&mut Interpreter, &T, &mut Evaluation<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let mut evaluation = Evaluation {
            inputs: Inputs {
                tuples: context.inputs.tuples,
                layouts: &self.layouts,
            },
            state: &mut *context.state,
            submit: &mut Through(&mut *context.outlet),
            mark: context.mark,
        };
        walk(&mut self.interpreter, &self.what, &mut evaluation)
    }
}

impl Project for Walker<(Vec<Option<Expr>>, Arc<Layout>)> {
    fn project(&mut self, context: &mut Context<'_>, out: &mut TupleBuf) -> Result<(), Fault> {
        self.walk(context, |interpreter, (exprs, layout), to| {
            interpreter.project(exprs, to, layout, out)
        })
    }
}

impl Test for Walker<Expr> {
    fn test(&mut self, context: &mut Context<'_>) -> Result<bool, Fault> {
        self.walk(context, Interpreter::test)
    }
}

impl Act for Walker<Body> {
    fn act(&mut self, context: &mut Context<'_>) -> Result<(), Fault> {
        self.walk(context, Interpreter::run)
    }
}

/// An outlet, for the interpreter.
struct Through<'a>(&'a mut dyn Outlet);

impl Submit for Through<'_> {
    fn tuple(&mut self, port: u32, tuple: TupleRef<'_>) -> Result<(), Fault> {
        self.0.submit(port, tuple)
    }

    fn punctuation(&mut self, port: u32, mark: Punctuation) -> Result<(), Fault> {
        self.0.punctuate(port, mark)
    }

    fn services(&mut self) -> &mut dyn Services {
        self.0.services()
    }
}

/// Services without ports.
struct Nowhere<'a>(&'a mut dyn Services);

impl Submit for Nowhere<'_> {
    fn tuple(&mut self, _: u32, _: TupleRef<'_>) -> Result<(), Fault> {
        Err(nowhere())
    }

    fn punctuation(&mut self, _: u32, _: Punctuation) -> Result<(), Fault> {
        Err(nowhere())
    }

    fn services(&mut self) -> &mut dyn Services {
        self.0
    }
}

fn nowhere() -> Fault {
    Fault::value("nothing can be submitted before the start")
}
