//! Typing of explicit casts, `(T) e`.

use std::sync::Arc;

use graph::ExprKind;
use syntax::ast::{self, TypeExpr};
use syntax::{Diagnostic, Span};
use tuple::Type;

use super::Typer;
use super::convert::{cast_node, coerce, coerce_initially, fits, fits_initially};
use super::needs_context::needs_context;
use crate::types::castable;

impl<'w> Typer<'_, 'w> {
    /// Types `(T) e`, a cast that the user writes.
    pub(super) fn cast(
        &mut self,
        ty: &'w TypeExpr,
        inner: &'w ast::Expr,
        span: Span,
    ) -> Option<graph::Expr> {
        // `void` is no type that a value has: `cast_to` refuses it.
        let to = self.session.result_type(ty, &self.scope);
        let hint = match &to {
            Some(Type::Void) => None,
            // No branch without a type of its own, `null` or `[]`, is a text; the other one tells.
            Some(ty) if ty.is_string() && is_conditional(inner) => None,
            Some(Type::Blob) => Some(Type::List(Arc::new(Type::Uint8), None)),
            other => other.clone(),
        };
        let typed = self.operand(inner, hint.as_ref())?;
        self.cast_to(*typed, &to?, span)
    }

    fn cast_to(&self, typed: graph::Expr, to: &Type, span: Span) -> Option<graph::Expr> {
        let mut result = if fits(&typed, to) {
            coerce(typed, to)
        } else if castable(&typed.ty, to) {
            cast_node(typed, to)
        } else if is_literal(&typed.kind) && fits_initially(&typed, to) {
            coerce_initially(typed, to)
        } else {
            return self.report(refused_cast(&typed.ty, to, span));
        };
        result.pos = self.session.pos(span);
        Some(result)
    }
}

/// Whether it is a conditional expression one of whose results has no type of its own.
fn is_conditional(expr: &ast::Expr) -> bool {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => is_conditional(inner),
        ast::ExprKind::Conditional(_, a, b) => needs_context(a) != needs_context(b),
        _ => false,
    }
}

/// Whether it is a literal with parts, which are then cast one by one.
fn is_literal(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::List(_) | ExprKind::Set(_) | ExprKind::Map(_) | ExprKind::Tuple(_)
    )
}

fn refused_cast(from: &Type, to: &Type, span: Span) -> Diagnostic {
    let finding = Diagnostic::error("bad-cast", span, format!("{from} cannot be cast to {to}"));
    match from {
        Type::Optional(inner) if castable(inner, to) => {
            finding.help("unwrap the optional first, with `!` or `?:`")
        }
        _ => match crate::types::difference(to, from).or_else(|| cast_alternative(from, to)) {
            Some(text) => finding.help(text),
            None => finding,
        },
    }
}

/// A sentence that proposes another way for a cast that other languages have.
fn cast_alternative(from: &Type, to: &Type) -> Option<String> {
    let text = match (from, to) {
        (Type::Boolean, to) if to.is_numeric() => {
            "write `b ? 1 : 0`, with the numbers of that type"
        }
        (from, Type::Boolean) if from.is_numeric() => "compare it: `x != 0`",
        (Type::Timestamp, to) if to.is_integral() => "`getSeconds(t)` has its whole seconds",
        (from, Type::Timestamp) if from.is_numeric() => {
            "a float64 can be cast; `createTimestamp` takes whole seconds and nanoseconds"
        }
        (Type::Complex32 | Type::Complex64, to) if to.is_numeric() => {
            "take a part of it: `real(c)` or `imag(c)`"
        }
        (Type::Enum(_), to) if to.is_numeric() => "cast it to an integer first: `(int32)`",
        (_, Type::Void) => "leave the cast out: a value that is not used is dropped by itself",
        (from, Type::Complex32 | Type::Complex64) if from.is_numeric() => {
            "a list of its two parts can be cast, as in `(complex64) [1.0, 0.0]`"
        }
        _ => return None,
    };
    Some(text.to_owned())
}
