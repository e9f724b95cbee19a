//! Infix operators: on two values of one type, mapped over a collection, or element by element.

use std::sync::Arc;

use graph::{BinaryOp, ExprKind, MappedForm};
use syntax::Span;
use syntax::ast::{self, BinaryOp as Written};
use tuple::Type;

use super::Typer;
use super::advice::{self, no_operator};
use super::compute_op::{ComputeOp, applies, compute_op, element, is_shift};
use super::convert::{cast_node, unify_operands};
use super::literal::without_optional;
use super::mixed_numbers::{unify_membership, unify_numbers};
use super::needs_context;

impl<'w> Typer<'_, 'w> {
    /// A chain of infix operators that leans to the left, typed from its first operand on, so that
    /// a sum of many terms needs no deep recursion.
    pub(super) fn binary(
        &mut self,
        expr: &'w ast::Expr,
        hint: Option<&Type>,
    ) -> Option<graph::Expr> {
        let mut chain = Vec::new();
        let mut first = expr;
        loop {
            first = self.negation_cast(first);
            let ast::ExprKind::Binary(op, at, left, right) = &first.kind else {
                break;
            };
            chain.push((first.span, *op, *at, &**left, &**right));
            first = left;
        }
        let (_, op, _, _, right) = *chain.last()?;
        let mut left = self.first_operand(first, op, right, hint);
        while let Some((span, op, at, left_ast, right)) = chain.pop() {
            let Some(typed) = left else {
                self.check_untyped(right);
                continue;
            };
            let right_type = right_hint(op, &typed.ty);
            let right_typed = self.operand(right, right_type.as_ref());
            let spans = (left_ast.span, right.span);
            left = match right_typed {
                Some(right) => self.operation((op, at), (typed, right), (spans, span), hint),
                None => None,
            };
        }
        left.map(|typed| *typed)
    }

    /// The left operand; if it has no type of its own, or is an open number, the right one gives
    /// the hint.
    fn first_operand(
        &mut self,
        left: &'w ast::Expr,
        op: Written,
        right: &'w ast::Expr,
        hint: Option<&Type>,
    ) -> Option<Box<graph::Expr>> {
        let is_open = self.is_open_number(left);
        let takes_any = matches!(op, Written::Shl | Written::Shr | Written::And | Written::Or);
        let asks = needs_context(left) || (is_open && !takes_any);
        if !asks || needs_context(right) || (is_open && self.is_open_number(right)) {
            return self.operand(left, hint);
        }
        let (start, calls) = (self.effects.mark(), self.calls.len());
        let other = self.operand(right, None)?.ty;
        // The right operand is typed again in its turn.
        self.effects.truncate(start);
        self.calls.truncate(calls);
        let hint = match (op, &other) {
            (Written::In, Type::List(e, _) | Type::Set(e, _)) => (**e).clone(),
            (Written::In, Type::Map(kv, _)) => kv.0.clone(),
            (Written::OrElse, other) => super::convert::optional_of(other),
            _ => other,
        };
        self.operand(left, Some(&hint))
    }

    /// An operator on two operands that are typed; `wanted` is the type that the result is to have,
    /// if that is known. Boxes keep the frames of deep expressions small.
    fn operation(
        &self,
        (op, at): (Written, Span),
        (left, right): (Box<graph::Expr>, Box<graph::Expr>),
        (spans, span): ((Span, Span), Span),
        wanted: Option<&Type>,
    ) -> Option<Box<graph::Expr>> {
        let result = match op {
            Written::And | Written::Or => self.logical(op, *left, *right, spans, span),
            Written::In => self.membership(*left, *right, spans, span),
            Written::OrElse => self.or_else(*left, *right, spans, span),
            _ => {
                let (left, right) = (*left, *right);
                let operands = InfixOperands {
                    left,
                    right,
                    spans,
                    op_span: at,
                    wanted,
                    is_assignment: false,
                };
                self.compute(compute_op(op)?, operands, span)
            }
        };
        result.map(Box::new)
    }

    fn logical(
        &self,
        op: Written,
        left: graph::Expr,
        right: graph::Expr,
        spans: (Span, Span),
        span: Span,
    ) -> Option<graph::Expr> {
        let left = self.coerced(left, &Type::Boolean, spans.0);
        let right = self.coerced(right, &Type::Boolean, spans.1);
        let (left, right) = (Box::new(left?), Box::new(right?));
        let kind = match op {
            Written::And => ExprKind::And(left, right),
            _ => ExprKind::Or(left, right),
        };
        Some(self.typed_expr(kind, Type::Boolean, span))
    }

    fn membership(
        &self,
        left: graph::Expr,
        right: graph::Expr,
        spans: (Span, Span),
        span: Span,
    ) -> Option<graph::Expr> {
        let (left, right) = match self.context.open_numbers {
            true => unify_membership(left, right),
            false => (left, right),
        };
        let key = match &right.ty {
            Type::List(e, _) | Type::Set(e, _) => (**e).clone(),
            Type::Map(kv, _) => kv.0.clone(),
            other => {
                let message = format!("`in` looks into a list, set or map, not into {other}");
                return self.fail("operator-mismatch", spans.1, message);
            }
        };
        let left = self.coerced(left, &key, spans.0)?;
        let kind = ExprKind::In(Box::new(left), Box::new(right));
        Some(self.typed_expr(kind, Type::Boolean, span))
    }

    fn or_else(
        &self,
        left: graph::Expr,
        right: graph::Expr,
        spans: (Span, Span),
        span: Span,
    ) -> Option<graph::Expr> {
        let Type::Optional(inner) = &left.ty else {
            let message = format!("`?:` unwraps an optional, and this is {}", left.ty);
            return self.fail("operator-mismatch", spans.0, message);
        };
        let inner = (**inner).clone();
        let right = self.coerced(right, &inner, spans.1)?;
        let kind = ExprKind::UnwrapOr(Box::new(left), Box::new(right));
        Some(self.typed_expr(kind, inner, span))
    }

    /// An operator that computes, on operands that are typed.
    pub(super) fn compute(
        &self,
        op: ComputeOp,
        operands: InfixOperands<'_>,
        span: Span,
    ) -> Option<graph::Expr> {
        let InfixOperands {
            left,
            right,
            spans,
            op_span: at,
            wanted,
            is_assignment: assigns,
        } = operands;
        let (left, right) = same_strings(left, right);
        let (left, right) = match self.context.open_numbers {
            true if !op.dotted => unify_numbers(op.op, left, right),
            _ => (left, right),
        };
        let result = if op.dotted {
            self.elementwise(op.op, left, right, span)
        } else {
            self.whole_values(op.op, left, right, span)
        };
        match result {
            Ok(expr) => Some(expr),
            Err(both) => {
                let written = advice::InfixSource {
                    spans,
                    op_span: at,
                    wanted,
                    is_assignment: assigns,
                    sources: self.session.symbols.sources(),
                };
                self.report(no_operator(op, &both, &written))
            }
        }
    }

    fn whole_values(
        &self,
        op: BinaryOp,
        left: graph::Expr,
        right: graph::Expr,
        span: Span,
    ) -> Result<graph::Expr, Box<(graph::Expr, graph::Expr)>> {
        let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        let (left, right) = if equality {
            unify_operands(left, right)
        } else {
            (left, right)
        };
        let both = left.ty == right.ty && applies(op, &left.ty);
        if both || is_shift(op) && left.ty.is_integral() && right.ty.is_integral() {
            let ty = if op.is_comparison() {
                Type::Boolean
            } else {
                left.ty.clone()
            };
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            return Ok(self.typed_expr(kind, ty, span));
        }
        let (form, ty) = if let Some(ty) = mapped_type(op, &left.ty, &right.ty) {
            (MappedForm::CollectionScalar, ty)
        } else if let Some(ty) = mapped_type(op, &right.ty, &left.ty) {
            let ty = if is_shift(op) {
                // The result of a shift is of the type of what is shifted.
                with_element(&ty, &left.ty)
            } else {
                ty
            };
            (MappedForm::ScalarCollection, ty)
        } else {
            return Err(Box::new((left, right)));
        };
        let kind = ExprKind::Mapped(op, form, Box::new(left), Box::new(right));
        Ok(self.typed_expr(kind, ty, span))
    }

    fn elementwise(
        &self,
        op: BinaryOp,
        left: graph::Expr,
        right: graph::Expr,
        span: Span,
    ) -> Result<graph::Expr, Box<(graph::Expr, graph::Expr)>> {
        let (Some(a), Some(b)) = (element(&left.ty), element(&right.ty)) else {
            return Err(Box::new((left, right)));
        };
        let shift =
            is_shift(op) && a.is_integral() && b.is_integral() && same_keys(&left.ty, &right.ty);
        if !(shift || left.ty == right.ty && applies(op, a)) {
            return Err(Box::new((left, right)));
        }
        let ty = mapped_result_type(op, &left.ty);
        let kind = ExprKind::Mapped(op, MappedForm::Elementwise, Box::new(left), Box::new(right));
        Ok(self.typed_expr(kind, ty, span))
    }
}

/// Two typed operands and their places; `at` is the operator's.
pub(super) struct InfixOperands<'t> {
    pub left: graph::Expr,
    pub right: graph::Expr,
    pub spans: (Span, Span),
    pub op_span: Span,
    /// The type that the result is to have, if that is known.
    pub wanted: Option<&'t Type>,
    /// The result goes where the left operand is from, as that of `+=` does.
    pub is_assignment: bool,
}

/// The type that a literal without a type of its own gets on the right side of an operator.
fn right_hint(op: Written, left: &Type) -> Option<Type> {
    match op {
        Written::In | Written::And | Written::Or => None,
        Written::OrElse => Some(without_optional(left).clone()),
        _ => Some(left.clone()),
    }
}

/// Bounded and unbounded byte strings are computed with as unbounded ones.
fn same_strings(left: graph::Expr, right: graph::Expr) -> (graph::Expr, graph::Expr) {
    if left.ty != right.ty && left.ty.is_rstring() && right.ty.is_rstring() {
        return (
            cast_node(left, &Type::RString),
            cast_node(right, &Type::RString),
        );
    }
    (left, right)
}

fn same_keys(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::List(..), Type::List(..)) => true,
        (Type::Map(a, _), Type::Map(b, _)) => a.0 == b.0,
        _ => false,
    }
}

/// The type of an operator that is mapped over a list or map against a scalar, if it can be.
fn mapped_type(op: BinaryOp, collection: &Type, scalar: &Type) -> Option<Type> {
    let e = element(collection)?;
    let fits =
        e == scalar && applies(op, e) || is_shift(op) && e.is_integral() && scalar.is_integral();
    fits.then(|| mapped_result_type(op, collection))
}

/// The type of a mapped operation.
fn mapped_result_type(op: BinaryOp, collection: &Type) -> Type {
    match op.is_comparison() {
        true => with_element(collection, &Type::Boolean),
        false => collection.clone(),
    }
}

/// The type of a list or map like this one with other elements.
fn with_element(collection: &Type, element: &Type) -> Type {
    match collection {
        Type::Map(kv, bound) => Type::Map(Arc::new((kv.0.clone(), element.clone())), *bound),
        Type::List(_, bound) => Type::List(Arc::new(element.clone()), *bound),
        other => other.clone(),
    }
}
