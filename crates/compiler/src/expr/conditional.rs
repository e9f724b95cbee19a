//! `c ? a : b`

use graph::ExprKind;
use syntax::ast;
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;
use super::container::is_null;
use super::convert::{alike, optional_of};
use super::literal::needs_context;

impl<'w> Typer<'_, 'w> {
    pub(super) fn conditional(
        &mut self,
        condition: &'w ast::Expr,
        a: &'w ast::Expr,
        b: &'w ast::Expr,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let condition = self.expr_within(condition, Some(&Type::Boolean));
        let (first, second) = if needs_context(a) && hint.is_none() {
            let second = self.infer(b, hint);
            let hint = branch_hint(a, second.as_ref());
            (self.infer(a, hint.as_ref()), second)
        } else {
            let first = self.infer(a, hint);
            let own = if hint.is_none() {
                branch_hint(b, first.as_ref())
            } else {
                None
            };
            let second = self.infer(b, hint.or(own.as_ref()));
            (first, second)
        };
        let first = self.value(first?, a.span);
        let second = self.value(second?, b.span);
        let (first, second) = alike(first?, second?);
        if first.ty != second.ty {
            let (a_ty, b_ty) = (&first.ty, &second.ty);
            let message =
                format!("both results of `?:` must be of one type, not {a_ty} and {b_ty}");
            let finding = Diagnostic::error("conditional-mismatch", b.span, message)
                .label(a.span, format!("this is {a_ty}"))
                .label(b.span, format!("this is {b_ty}"));
            return self.report(finding);
        }
        let ty = first.ty.clone();
        let (first, second) = (Box::new(first), Box::new(second));
        let kind = ExprKind::Conditional(Box::new(condition?), first, second);
        Some(self.make(kind, ty, span))
    }
}

/// The hint for a branch without a type of its own: that of the other one, optional for `null`.
fn branch_hint(branch: &ast::Expr, other: Option<&graph::Expr>) -> Option<Type> {
    let ty = &other?.ty;
    Some(if is_null(branch) {
        optional_of(ty)
    } else {
        ty.clone()
    })
}
