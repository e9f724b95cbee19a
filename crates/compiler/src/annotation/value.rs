//! Values of annotation keys, by the kind that the table gives the key.

use std::sync::Arc;

use syntax::Diagnostic;
use syntax::ast::{Expr, ExprKind};
use tuple::{Type, Value};

use super::parallel::partition_by;
use super::ports::AnnotatedPort;
use super::reference::{attribute, fail, list_elements, port, simple_name, text};
use super::table::{AnnotationKey, AnnotationKeyKind};
use super::target::AnnotationCheck;
use crate::expr::{Typer, TypingContext};
use crate::names::did_you_mean;

/// The value of a key; reports what is wrong with it. What is no constant (ports, attributes,
/// words) becomes a string, a list of such things their texts joined by commas.
pub(super) fn value<'w>(
    check: &AnnotationCheck<'_, 'w>,
    key: &AnnotationKey,
    expr: &'w Expr,
) -> Option<Value> {
    match key.kind {
        AnnotationKeyKind::RString => constant(check, expr, &Type::RString),
        AnnotationKeyKind::Int32 => constant(check, expr, &Type::Int32),
        AnnotationKeyKind::Uint32 => unsigned(check, expr),
        AnnotationKeyKind::Float64 => constant(check, expr, &Type::Float64),
        AnnotationKeyKind::Boolean => constant(check, expr, &Type::Boolean),
        AnnotationKeyKind::Strings => {
            constant(check, expr, &Type::List(Arc::new(Type::RString), None))
        }
        AnnotationKeyKind::Word(words) => word(check, key, expr, words),
        AnnotationKeyKind::OutputPort => {
            port(check, expr, &check.ports.outputs, "output").map(|(n, _)| text(n))
        }
        AnnotationKeyKind::InputPorts => {
            let names = list_elements(check, expr, "a list of input ports", |e| {
                port(check, e, &check.ports.inputs, "input").map(|(name, _)| name.to_owned())
            })?;
            Some(text(&names.join(",")))
        }
        AnnotationKeyKind::PartitionBy => partition_by(check, expr),
        AnnotationKeyKind::Attributes => {
            let names = list_elements(check, expr, "a list of attributes", |e| {
                output_attribute(check, e)
            })?;
            Some(text(&names.join(",")))
        }
        AnnotationKeyKind::Attribute => output_attribute(check, expr).map(|name| text(&name)),
        AnnotationKeyKind::Filter => filter(check, expr),
    }
}

fn constant<'w>(check: &AnnotationCheck<'_, 'w>, expr: &'w Expr, ty: &Type) -> Option<Value> {
    let mut typer = Typer::new(
        check.session,
        check.scope.clone(),
        TypingContext::constant(),
    );
    typer.constant(expr, Some(ty))
}

/// A uint32; an int32 that is not negative will do.
fn unsigned<'w>(check: &AnnotationCheck<'_, 'w>, expr: &'w Expr) -> Option<Value> {
    let mut typer = Typer::new(
        check.session,
        check.scope.clone(),
        TypingContext::constant(),
    );
    let typed = typer.expr(expr, None)?;
    match typer.fold(&typed, expr.span)? {
        Value::Uint32(n) => Some(Value::Uint32(n)),
        Value::Int32(n) if n >= 0 => Some(Value::Uint32(n as u32)),
        _ => fail(check, expr.span, "a uint32 is needed here"),
    }
}

fn word(
    check: &AnnotationCheck<'_, '_>,
    key: &AnnotationKey,
    expr: &Expr,
    words: &[&'static str],
) -> Option<Value> {
    let written = simple_name(expr).map_or("", |name| &*name.text);
    if words.contains(&written) {
        return Some(text(written));
    }
    let message = format!("`{}` is one of {}", key.name, words.join(", "));
    let finding = Diagnostic::error("annotation-value", expr.span, message);
    check
        .session
        .report(did_you_mean(finding, written, words.iter().copied()));
    None
}

fn output_attribute(check: &AnnotationCheck<'_, '_>, expr: &Expr) -> Option<String> {
    let ports: Vec<&AnnotatedPort> = check.ports.outputs.iter().collect();
    attribute(check, expr, &ports)
}

/// `{attr = a, expr = "regex"}`.
fn filter<'w>(check: &AnnotationCheck<'_, 'w>, expr: &'w Expr) -> Option<Value> {
    let ExprKind::Tuple(parts) = &expr.kind else {
        return fail(
            check,
            expr.span,
            "a filter is `{attr = a, expr = \"regular expression\"}`",
        );
    };
    let part = |wanted: &str| parts.iter().find(|(name, _)| &*name.text == wanted);
    let (Some((_, attr)), Some((_, pattern)), 2) = (part("attr"), part("expr"), parts.len()) else {
        return fail(
            check,
            expr.span,
            "a filter has the attributes `attr` and `expr`",
        );
    };
    let attr = output_attribute(check, attr)?;
    match constant(check, pattern, &Type::RString)? {
        Value::RString(pattern) => Some(text(&format!(
            "{attr}={}",
            String::from_utf8_lossy(&pattern.0)
        ))),
        _ => None,
    }
}
