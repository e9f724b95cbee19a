//! Names of ports and attributes in the keys of annotations, resolved to ports and schemas.

use std::sync::Arc;

use syntax::ast::{Expr, ExprKind, Ident};
use syntax::{DeclarationKind, Diagnostic, Span};
use tuple::{RString, TupleType, Value};

use super::ports::{AnnotatedPort, find};
use super::target::AnnotationCheck;

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
    if check
        .session
        .note_poisoned(DeclarationKind::Stream, &name.text)
    {
        return None;
    }
    let message = format!("this operator has no {what} port `{}`", name.text);
    let finding = Diagnostic::error("unknown-port", name.span, message);
    let names = ports.iter().map(|p| &p.names[..]);
    let suggestions = &check.session.symbols.suggestions;
    check
        .session
        .report(suggestions.which_port(finding, &name.text, names));
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
            let named = ports.iter().filter(|p| p.is_called(of));
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
    if check
        .session
        .note_poisoned(DeclarationKind::Attribute, &name.text)
    {
        return None;
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

/// Reports a wrong value.
pub(super) fn fail<T>(
    check: &AnnotationCheck<'_, '_>,
    span: Span,
    message: impl Into<String>,
) -> Option<T> {
    check.session.fail("annotation-value", span, message)
}

/// Makes an rstring value of a text.
pub(super) fn text(text: &str) -> Value {
    Value::RString(RString(text.as_bytes().to_vec()))
}
