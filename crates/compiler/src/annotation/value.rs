//! Values of annotation keys.

use std::sync::Arc;

use syntax::ast::{Expr, ExprKind, Ident};
use syntax::{Diagnostic, Span};
use tuple::{RString, TupleType, Type, Value};

use super::AnnotationCheck;
use super::ports::{AnnotatedPort, find};
use super::table::{AnnotationKey, AnnotationKeyKind};
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
        AnnotationKeyKind::PartitionBy => super::parallel::partition_by(check, expr),
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

/// Reports a wrong value.
pub(super) fn fail<T>(
    check: &AnnotationCheck<'_, '_>,
    span: Span,
    message: impl Into<String>,
) -> Option<T> {
    check.session.fail("annotation-value", span, message)
}

/// A string value.
pub(super) fn text(text: &str) -> Value {
    Value::RString(RString(text.as_bytes().to_vec()))
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

/// The name that an expression consists of; of `Sys.Name` the last part.
pub(super) fn simple_name(expr: &Expr) -> Option<&Ident> {
    match &expr.kind {
        ExprKind::Name(name) if name.namespace.is_none() => Some(&name.name),
        ExprKind::Field(base, name) => simple_name(base)
            .filter(|b| &*b.text == "Sys")
            .map(|_| name),
        _ => None,
    }
}

/// The elements of a list, each read by `read`.
pub(super) fn list_elements<'e, T>(
    check: &AnnotationCheck<'_, '_>,
    expr: &'e Expr,
    wanted: &str,
    read: impl FnMut(&'e Expr) -> Option<T>,
) -> Option<Vec<T>> {
    let ExprKind::List(list) = &expr.kind else {
        return fail(
            check,
            expr.span,
            format!("{wanted} is needed here: `[a, b]`"),
        );
    };
    list.iter().map(read).collect()
}

/// The port that a name means.
pub(super) fn port<'p>(
    check: &AnnotationCheck<'_, '_>,
    expr: &'p Expr,
    ports: &'p [AnnotatedPort],
    what: &str,
) -> Option<(&'p str, &'p AnnotatedPort)> {
    let Some(name) = simple_name(expr) else {
        return fail(
            check,
            expr.span,
            format!("the name of an {what} port is needed here"),
        );
    };
    let found: Vec<&AnnotatedPort> = find(ports, &name.text).collect();
    match found[..] {
        [] => {}
        [port] => return Some((&name.text, port)),
        _ => {
            let names = found.iter().map(|port| &port.names[..]);
            let suggestions = &check.session.symbols.suggestions;
            let finding = suggestions.ambiguous_port(&name.text, name.span, names);
            check.session.report(finding);
            return None;
        }
    }
    let message = format!("this operator has no {what} port `{}`", name.text);
    let finding = Diagnostic::error("unknown-port", name.span, message);
    let names = || ports.iter().flat_map(|p| &p.names).map(|n| &**n);
    let suggestions = &check.session.symbols.suggestions;
    check
        .session
        .report(suggestions.did_you_mean(finding, &name.text, names));
    None
}

/// `attr` or `AnnotatedPort.attr`: an attribute of one of some ports.
pub(super) fn attribute(
    check: &AnnotationCheck<'_, '_>,
    expr: &Expr,
    ports: &[&AnnotatedPort],
) -> Option<String> {
    let (name, ports) = match &expr.kind {
        ExprKind::Field(base, name) => {
            let of = simple_name(base).map_or("", |base| &*base.text);
            let named = ports.iter().filter(|p| p.names.iter().any(|n| &**n == of));
            (name, named.copied().collect())
        }
        _ => match simple_name(expr) {
            Some(name) => (name, ports.to_vec()),
            None => return fail(check, expr.span, "the name of an attribute is needed here"),
        },
    };
    let schemas: Option<Vec<&Arc<TupleType>>> = ports.iter().map(|p| p.schema.as_ref()).collect();
    let schemas = schemas?;
    if schemas
        .iter()
        .any(|schema| schema.find(&name.text).is_some())
    {
        return Some(name.text.to_string());
    }
    let message = format!("the port has no attribute `{}`", name.text);
    let finding = Diagnostic::error("unknown-attribute", name.span, message);
    let names = || schemas.iter().flat_map(|s| &s.attributes).map(|a| &*a.name);
    let suggestions = &check.session.symbols.suggestions;
    check
        .session
        .report(suggestions.did_you_mean(finding, &name.text, names));
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
