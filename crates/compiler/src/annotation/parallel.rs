//! `@parallel`: partitions and broadcast of a parallel region.

use syntax::ast::{Expr, ExprKind};
use tuple::Value;

use super::Check;
use super::value::{attribute, each, fail, port, text};

/// `[{port = In, attributes = [a, b]}]`, as `In(a,b);...`.
pub(super) fn partition_by(check: &Check<'_, '_>, expr: &Expr) -> Option<Value> {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for one in each(
        check,
        expr,
        "a list of `{port = In, attributes = [a]}`",
        Some,
    )? {
        let (name, attributes) = partition(check, one)?;
        if seen.contains(&name) {
            return fail(
                check,
                one.span,
                format!("port `{name}` is partitioned twice"),
            );
        }
        seen.push(name);
        parts.push(format!("{name}({})", attributes.join(",")));
    }
    Some(text(&parts.join(";")))
}

fn partition<'e>(check: &Check<'_, '_>, one: &'e Expr) -> Option<(&'e str, Vec<String>)> {
    let ExprKind::Tuple(parts) = &one.kind else {
        return fail(
            check,
            one.span,
            "a partition is `{port = In, attributes = [a]}`",
        );
    };
    let part = |wanted: &str| parts.iter().find(|(name, _)| &*name.text == wanted);
    let (Some((_, name)), Some((_, list)), 2) = (part("port"), part("attributes"), parts.len())
    else {
        return fail(
            check,
            one.span,
            "a partition has the attributes `port` and `attributes`",
        );
    };
    let found = port(check, name, &check.ports.inputs, "input");
    let (_, found) = found?;
    let written = super::value::simple_name(name)?;
    let attributes = each(check, list, "a list of attributes", |e| {
        attribute(check, e, &[found])
    })?;
    if attributes.is_empty() {
        return fail(check, list.span, "at least one attribute is needed here");
    }
    Some((&written.text, attributes))
}
