//! Values that are not known yet when a program is only checked.
//!
//! A check knows no submission-time values, and no actuals for the formals of a composite that
//! nothing invokes. Such a value stands in expressions as one of its type, so that what is done
//! with it is checked like everything else; only what needs the value itself has to stay silent. No
//! program that runs holds one.

use graph::{ExprKind, LocalId};
use syntax::Span;
use tuple::Type;

use super::Typer;
use crate::Session;

/// A variable that no body has.
const PENDING: LocalId = LocalId(u32::MAX);

impl Typer<'_, '_> {
    /// A value of a type that is not known yet; `None` if all values are.
    pub(crate) fn pending(&self, ty: Type, span: Span) -> Option<graph::Expr> {
        if !self.session.values_pending.get() {
            return None;
        }
        if self.scope.composite_scope().is_none() {
            self.session.pending_in_functions.set(true);
        }
        Some(self.typed_expr(ExprKind::Local(PENDING), ty, span))
    }
}

impl Session<'_> {
    /// Whether the value of an expression cannot be known because another is still to come.
    pub(crate) fn is_pending(&self, expr: &graph::Expr) -> bool {
        if !self.values_pending.get() {
            return false;
        }
        let in_functions = self.pending_in_functions.get();
        let mut pending = false;
        expr.clone().for_each(&mut |part| {
            pending |= match &part.kind {
                ExprKind::Local(local) => *local == PENDING,
                ExprKind::Call(graph::Callee::User(_), _) => in_functions,
                _ => false,
            };
        });
        pending
    }
}
