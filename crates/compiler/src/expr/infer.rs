//! Type inference for one expression, by its form.

use graph::ExprKind;
use syntax::ast::{self, PostfixOp, PrefixOp};
use syntax::{Diagnostic, Span};
use tuple::{Type, Value};

use super::Typer;

impl<'w> Typer<'_, 'w> {
    /// An operand: an expression that has a value, boxed to keep the frames of deep ones small.
    pub(super) fn operand(
        &mut self,
        expr: &'w ast::Expr,
        hint: Option<&Type>,
    ) -> Option<Box<graph::Expr>> {
        let typed = self.infer(expr, hint)?;
        self.non_void(typed, expr.span).map(Box::new)
    }

    /// An operand of exactly that type.
    pub(super) fn operand_of(
        &mut self,
        expr: &'w ast::Expr,
        expected: &Type,
    ) -> Option<Box<graph::Expr>> {
        self.expr_within(expr, Some(expected)).map(Box::new)
    }

    /// Types an expression. The hint gives a type to literals that have none; it is not checked.
    pub(crate) fn infer(
        &mut self,
        expr: &'w ast::Expr,
        hint: Option<&Type>,
    ) -> Option<graph::Expr> {
        use ast::ExprKind as Kind;
        if self.formal_use.is_some() && !self.has_room_in_formal() {
            return None;
        }
        match &expr.kind {
            Kind::Paren(inner) => self.infer(inner, hint),
            Kind::Call(callee, args) => self.call(callee, args, expr.span),
            Kind::Name(name) if name.name.text.starts_with('$') => {
                self.formal_value(&name.name, hint, expr.span)
            }
            _ => {
                self.call_depth += 1;
                let typed = self.infer_other(expr, hint);
                self.call_depth -= 1;
                typed
            }
        }
    }

    fn infer_other(&mut self, expr: &'w ast::Expr, hint: Option<&Type>) -> Option<graph::Expr> {
        use ast::ExprKind as Kind;
        let span = expr.span;
        let expr = self.negation_cast(self.list_cast(expr));
        match &expr.kind {
            Kind::Number(number) => self.number(number, false, hint, span),
            Kind::String(..) | Kind::StringUnits(..) => self.string(&expr.kind, span),
            Kind::Boolean(v) => self.boolean(*v, span),
            Kind::Null => self.null(hint, span),
            Kind::Name(name) => self.name(name, hint, span),
            Kind::List(list) => self.list(list, hint, span),
            Kind::Set(list) if list.is_empty() => self.empty_literal(hint, span),
            Kind::Set(list) => self.set(list, hint, span),
            Kind::Map(entries) => self.map(entries, hint, span),
            Kind::Tuple(attributes) => self.tuple(attributes, hint, span),
            Kind::Field(base, attribute) => self.field(base, attribute, span),
            Kind::Index(base, index) => self.index(base, index, span),
            Kind::Slice(base, low, up) => self.slice(base, low.as_deref(), up.as_deref(), span),
            Kind::Binary(..) => self.binary(expr, hint),
            Kind::Assign(None, ..) if hint == Some(&Type::Boolean) => {
                let message = "this assigns, and a condition is needed";
                let finding = Diagnostic::error("void-value", span, message);
                self.report(finding.help("compare with `==`"))
            }
            Kind::Assign(op, at, place, value) => self.assign((*op, *at), place, value, span),
            Kind::Conditional(c, a, b) => self.conditional(c, a, b, hint, span),
            Kind::Cast(ty, inner) => self.cast(ty, inner, span),
            Kind::Prefix(op, inner) => match op {
                PrefixOp::Increment => self.step(inner, false, true, span),
                PrefixOp::Decrement => self.step(inner, true, true, span),
                _ => self.unary(*op, inner, hint, span),
            },
            Kind::Postfix(op, inner) => match op {
                PostfixOp::Increment => self.step(inner, false, false, span),
                PostfixOp::Decrement => self.step(inner, true, false, span),
                PostfixOp::Unwrap => self.unwrap(inner, span),
                PostfixOp::IsPresent => self.is_present(inner, span),
            },
            Kind::Call(..) | Kind::Paren(_) | Kind::Error => None,
        }
    }

    fn boolean(&self, value: bool, span: Span) -> Option<graph::Expr> {
        Some(self.typed_expr(ExprKind::Const(Value::Boolean(value)), Type::Boolean, span))
    }
}
