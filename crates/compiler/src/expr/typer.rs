//! The typing of one place of the program: its scope, its context, and what was met so far.

use std::rc::Rc;

use graph::{Body, OutputCall, StateVar};
use syntax::Span;
use syntax::ast::{Expr, LocalDecl, Stmt};
use tuple::{Type, Value};

use super::Context;
use crate::Session;
use crate::names::{OperatorFrame, Scope};

/// Types expressions and statements in a scope. Every method reports what is wrong and answers
/// `None`; a `None` is never reported again by whoever gets it.
#[derive(Debug)]
pub struct Typer<'s, 'w> {
    pub(crate) session: &'s Session<'w>,
    pub(crate) scope: Scope<'w>,
    pub(crate) site: Option<Rc<OperatorFrame>>,
    pub(crate) context: Context,
}

impl<'s, 'w> Typer<'s, 'w> {
    /// A typer for one clause. The operator frame of `scope`, if it has one, is the operator whose
    /// ports the expressions use, also where they come from the actuals of composites.
    pub fn new(session: &'s Session<'w>, scope: Scope<'w>, context: Context) -> Typer<'s, 'w> {
        let site = scope.operator_frame().cloned();
        Typer {
            session,
            scope,
            site,
            context,
        }
    }

    /// An expression. With `expected` the result has exactly that type: what converts implicitly is
    /// converted, anything else is an error.
    pub fn expr(&mut self, expr: &'w Expr, expected: Option<&Type>) -> Option<graph::Expr> {
        todo!("{expr:?} {expected:?}")
    }

    /// The initializer of a variable: whatever may be cast converts implicitly.
    pub fn initializer(&mut self, expr: &'w Expr, ty: &Type) -> Option<graph::Expr> {
        todo!("{expr:?} {ty:?}")
    }

    /// A value that is known when compiling.
    pub fn constant(&mut self, expr: &'w Expr, expected: Option<&Type>) -> Option<Value> {
        let typed = self.expr(expr, expected)?;
        self.fold(&typed, expr.span)
    }

    /// The value of a typed expression; reports that it is not known when compiling.
    pub fn fold(&self, expr: &graph::Expr, span: Span) -> Option<Value> {
        todo!("{expr:?} {span:?}")
    }

    /// An attribute of an input port, written `attr` or `Port.attr` (or a formal that stands for
    /// one): port, index in its schema, and the expression.
    pub fn attribute(&mut self, expr: &'w Expr) -> Option<(u32, u32, graph::Expr)> {
        todo!("{expr:?}")
    }

    /// Expressions as they are, but for each formal (`$e`) the expressions that were passed for it,
    /// with the scope they were written in; type them with [`Typer::expr_in`].
    pub fn flatten(&self, exprs: &'w [Expr]) -> Vec<(&'w Expr, Scope<'w>)> {
        todo!("{exprs:?}")
    }

    /// [`Typer::expr`] in the scope that [`Typer::flatten`] found.
    pub fn expr_in(
        &mut self,
        scope: &Scope<'w>,
        expr: &'w Expr,
        expected: Option<&Type>,
    ) -> Option<graph::Expr> {
        let home = std::mem::replace(&mut self.scope, scope.clone());
        let typed = self.expr(expr, expected);
        self.scope = home;
        typed
    }

    /// Calls of output functions met so far, in order; `ExprKind::OutputCall` counts them.
    pub fn take_calls(&mut self) -> Vec<OutputCall> {
        todo!()
    }

    /// The declarations of a `state:` entry: adds them to the operator frame.
    pub fn state(&mut self, decls: &'w [LocalDecl]) -> Vec<StateVar> {
        todo!("{decls:?}")
    }

    /// The body of a logic clause.
    pub fn clause(self, stmt: &'w Stmt) -> Option<Body> {
        todo!("{stmt:?}")
    }
}
