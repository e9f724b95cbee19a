//! What to say when an infix operator does not apply to its operands.

use graph::{BinaryOp, ExprKind};
use syntax::{Diagnostic, SourceMap, Span};
use tuple::Type;

use super::convert::literal_advice;
use super::literal::without_optional;
use super::operator::{Computing, applies, element, needs, spelling};
use crate::types::castable;

/// The report, with the operands' types and what would help.
pub(super) fn no_operator(
    op: Computing,
    (left, right): &(graph::Expr, graph::Expr),
    spans: (Span, Span),
    at: Span,
    sources: &SourceMap,
) -> Diagnostic {
    let exprs = (left, right);
    let (left, right) = (&left.ty, &right.ty);
    let text = spelling(op);
    let message = format!("`{text}` cannot be applied to {left} and {right}");
    let finding = Diagnostic::error("operator-mismatch", at, message)
        .label(spans.0, format!("this is {left}"))
        .label(spans.1, format!("this is {right}"));
    let finding = advice(op, left, right)
        .into_iter()
        .fold(finding, Diagnostic::help);
    if op.dotted || !applies(op.op, left) && !applies(op.op, right) {
        return finding;
    }
    // Of two numbers of different types, a literal is the easier one to change.
    match &exprs.1.kind {
        ExprKind::Const(_) => literal_advice(finding, (exprs.1, sources.text(spans.1)), left),
        _ => literal_advice(finding, (exprs.0, sources.text(spans.0)), right),
    }
}

fn advice(op: Computing, left: &Type, right: &Type) -> Option<String> {
    let text = spelling(op);
    if op.dotted {
        return Some(match element(left).is_some() && element(right).is_some() {
            true => format!("`{text}` needs two lists or maps of one type"),
            false => format!("`{text}` works element by element on two lists or maps"),
        });
    }
    if left == right && element(left).is_some_and(|e| applies(op.op, e)) {
        return Some(format!("write `.{text}` to work element by element"));
    }
    let plain = without_optional(left) == without_optional(right);
    if plain && (left != right || left.is_optional()) {
        return Some("unwrap the optional with `!`, or with `?:` and a substitute".to_owned());
    }
    if left.is_string() && right.is_string() && left != right {
        return Some(format!(
            "strings of different types do not mix; cast one: `({left})`"
        ));
    }
    let (string, other) = match left.is_string() {
        true => (left, right),
        false => (right, left),
    };
    if op.op == BinaryOp::Add && string.is_string() && castable(other, string) {
        return Some(format!("cast the {other} to text: `({string})`"));
    }
    if left.is_numeric() && right.is_numeric() && castable(left, right) && left != right {
        return Some(format!(
            "numbers do not convert by themselves; cast one: `({left})`"
        ));
    }
    Some(format!("`{text}` needs two {} of one type", needs(op.op)))
}
