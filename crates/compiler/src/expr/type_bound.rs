//! Bounds of bounded types, which are constant expressions.

use syntax::ast::Expr;

use super::{Typer, TypingContext};
use crate::Session;
use crate::names::Scope;

impl<'w> Session<'w> {
    /// [`Session::type_bound`] of a type that may have no bound.
    pub(crate) fn optional_bound(
        &self,
        bound: Option<&'w Expr>,
        scope: &Scope<'w>,
    ) -> Option<Option<u32>> {
        match bound {
            Some(bound) => self.type_bound(bound, scope).map(Some),
            None => Some(None),
        }
    }

    /// The bound of a bounded type: a positive integer that is known when compiling.
    pub(crate) fn type_bound(&self, bound: &'w Expr, scope: &Scope<'w>) -> Option<u32> {
        let mut typer = Typer::new(self, scope.clone(), TypingContext::constant());
        let expr = typer.expr(bound, None)?;
        if !expr.ty.is_integral() {
            let message = format!("the bound of a type is a positive integer, not {}", expr.ty);
            return self.fail("bad-bound", bound.span, message);
        }
        let value = typer.fold(&expr, bound.span)?;
        match value.as_integer() {
            Some(n) if n >= 1 && n <= i128::from(u32::MAX) => Some(n as u32),
            Some(n) => {
                let message = format!("the bound of a type is a positive integer, not {n}");
                self.fail("bad-bound", bound.span, message)
            }
            None => None,
        }
    }
}
