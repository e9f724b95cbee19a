//! Typing of conditional expressions: `c ? a : b` and `a ?: b`.

use graph::ExprKind;
use syntax::ast;
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;
use super::container::is_null;
use super::convert::{optional_of, unify_operands};
use super::needs_context;

impl<'w> Typer<'_, 'w> {
    pub(super) fn conditional(
        &mut self,
        condition: &'w ast::Expr,
        a: &'w ast::Expr,
        b: &'w ast::Expr,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        let condition = self.operand_of(condition, &Type::Boolean);
        let (first, second) = self.branches(a, b, hint)?;
        self.join_branches(condition?, *first, *second, (a.span, b.span), span)
    }

    /// Both results, each with the hint of the other if it needs one.
    fn branches(
        &mut self,
        a: &'w ast::Expr,
        b: &'w ast::Expr,
        hint: Option<&Type>,
    ) -> Option<(Box<graph::Expr>, Box<graph::Expr>)> {
        if needs_context(a) && hint.is_none() {
            let second = self.operand(b, hint)?;
            let own = branch_hint(a, &second);
            return Some((self.operand(a, Some(&own))?, second));
        }
        let Some(first) = self.operand(a, hint) else {
            self.check_untyped(b);
            return None;
        };
        let own = branch_hint(b, &first);
        let second = self.operand(b, Some(hint.unwrap_or(&own)))?;
        Some((first, second))
    }

    fn join_branches(
        &self,
        condition: Box<graph::Expr>,
        first: graph::Expr,
        second: graph::Expr,
        spans: (Span, Span),
        span: Span,
    ) -> Option<graph::Expr> {
        let (first, second) = unify_operands(first, second);
        if first.ty != second.ty {
            let (a, b) = (&first.ty, &second.ty);
            let message = format!("both results of `?:` must be of one type, not {a} and {b}");
            let finding = Diagnostic::error("conditional-mismatch", spans.1, message)
                .label(spans.0, format!("this is {a}"))
                .label(spans.1, format!("this is {b}"));
            return self.report(finding);
        }
        let ty = first.ty.clone();
        let kind = ExprKind::Conditional(condition, Box::new(first), Box::new(second));
        Some(self.typed_expr(kind, ty, span))
    }
}

/// The hint for a branch without a type of its own: that of the other one, optional for `null`.
fn branch_hint(branch: &ast::Expr, other: &graph::Expr) -> Type {
    if is_null(branch) {
        optional_of(&other.ty)
    } else {
        other.ty.clone()
    }
}
