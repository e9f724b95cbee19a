//! Prefix operators, and the two postfix operators of optionals.

use graph::{ExprKind, UnaryOp};
use syntax::ast::{self, PrefixOp};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;

impl<'w> Typer<'_, 'w> {
    /// `!`, `-`, `~`, also mapped over a list or map.
    pub(super) fn unary(
        &mut self,
        op: PrefixOp,
        inner: &'w ast::Expr,
        hint: Option<&Type>,
        span: Span,
    ) -> Option<graph::Expr> {
        if let (PrefixOp::Negate, ast::ExprKind::Number(number)) = (op, &inner.kind) {
            return self.number(number, true, hint, span);
        }
        let typed = self.operand(inner, None)?;
        self.apply_unary(op, typed, span)
    }

    fn apply_unary(
        &self,
        op: PrefixOp,
        typed: Box<graph::Expr>,
        span: Span,
    ) -> Option<graph::Expr> {
        let scalar = match &typed.ty {
            Type::List(e, _) => e,
            Type::Map(kv, _) => &kv.1,
            ty => ty,
        };
        let (op, text, fits, needs) = match op {
            PrefixOp::Not => (UnaryOp::Not, "!", *scalar == Type::Boolean, "a boolean"),
            PrefixOp::Complement => (UnaryOp::Complement, "~", scalar.is_integral(), "an integer"),
            _ => (UnaryOp::Negate, "-", scalar.is_numeric(), "a number"),
        };
        if !fits {
            let message = format!("`{text}` cannot be applied to {}", typed.ty);
            let finding = Diagnostic::error("operator-mismatch", span, message);
            return self.report(finding.help(format!("`{text}` needs {needs}")));
        }
        let ty = typed.ty.clone();
        Some(self.typed_expr(ExprKind::Unary(op, typed), ty, span))
    }

    /// Types `o!`, the value of an optional.
    pub(super) fn unwrap(&mut self, inner: &'w ast::Expr, span: Span) -> Option<graph::Expr> {
        let typed = self.operand(inner, None)?;
        let Type::Optional(ty) = &typed.ty else {
            let message = format!("`!` unwraps an optional, and this is {}", typed.ty);
            return self.fail("operator-mismatch", inner.span, message);
        };
        let ty = (**ty).clone();
        Some(self.typed_expr(ExprKind::Unwrap(typed), ty, span))
    }

    /// Types `o??`, whether an optional has a value.
    pub(super) fn is_present(&mut self, inner: &'w ast::Expr, span: Span) -> Option<graph::Expr> {
        let typed = self.operand(inner, None)?;
        if !typed.ty.is_optional() {
            let message = format!("`??` tests an optional, and this is {}", typed.ty);
            return self.fail("operator-mismatch", inner.span, message);
        }
        Some(self.typed_expr(ExprKind::IsPresent(typed), Type::Boolean, span))
    }
}
