//! Keys of `@parallel`: the width of a parallel region, and how each input port distributes its
//! tuples to the channels.

use std::sync::Arc;

use syntax::ast::{Expr, ExprKind};
use tuple::Value;

use super::ports::{AnnotatedPort, AnnotatedPorts};
use super::reference::{attribute, fail, list_elements, port, simple_name, text};
use super::target::AnnotationCheck;

/// Parallel region that `@parallel` declares, with its keys checked.
#[derive(Clone, Debug)]
pub(crate) struct ParallelRegion {
    /// How many channels, from 1.
    pub width: u32,
    /// By input port: how its tuples come to the channels.
    pub distributions: Vec<ChannelDistribution>,
}

/// How the tuples of an input port come to the channels of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ChannelDistribution {
    /// One after the other.
    RoundRobin,
    /// By the values of attributes, which are given by their numbers.
    Partitioned(Vec<usize>),
    /// Each channel gets every tuple.
    Broadcast,
}

impl ParallelRegion {
    /// The region that checked keys of `@parallel` describe, before an invocation with these ports;
    /// `None` if the width is missing or less than 1.
    pub(super) fn from_keys(
        keys: &[(Arc<str>, Value)],
        ports: &AnnotatedPorts,
    ) -> Option<ParallelRegion> {
        let value = |wanted: &str| keys.iter().find(|(key, _)| &**key == wanted).map(|k| &k.1);
        let Some(Value::Int32(width @ 1..)) = value("width") else {
            return None;
        };
        let distributions = ports.inputs.iter().map(|port| {
            if let Some(attributes) = partition_of(keys, port) {
                ChannelDistribution::Partitioned(attributes)
            } else if is_broadcast(keys, port) {
                ChannelDistribution::Broadcast
            } else {
                ChannelDistribution::RoundRobin
            }
        });
        Some(ParallelRegion {
            width: width.unsigned_abs(),
            distributions: distributions.collect(),
        })
    }
}

/// The attributes, by number, that `partitionBy` names for an input port.
fn partition_of(keys: &[(Arc<str>, Value)], port: &AnnotatedPort) -> Option<Vec<usize>> {
    let schema = port.schema.as_ref();
    let number = |attribute: &str| Some(schema?.find(attribute)?.0);
    said(keys, "partitionBy").split(';').find_map(|part| {
        let (name, list) = part.strip_suffix(')')?.split_once('(')?;
        port.is_called(name)
            .then(|| list.split(',').filter_map(number).collect())
    })
}

/// Whether `broadcast` names an input port.
fn is_broadcast(keys: &[(Arc<str>, Value)], port: &AnnotatedPort) -> bool {
    said(keys, "broadcast")
        .split(',')
        .any(|name| port.is_called(name))
}

/// The name of an input port whose tuples would go to one channel by `partitionBy` and to all by
/// `broadcast`.
pub(super) fn port_of_both(keys: &[(Arc<str>, Value)], ports: &AnnotatedPorts) -> Option<Arc<str>> {
    let mut inputs = ports.inputs.iter();
    let both = inputs.find(|port| partition_of(keys, port).is_some() && is_broadcast(keys, port));
    both?.names.first().cloned()
}

fn said(keys: &[(Arc<str>, Value)], wanted: &str) -> String {
    match keys.iter().find(|(key, _)| &**key == wanted) {
        Some((_, Value::RString(text))) => text.to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// `[{port = In, attributes = [a, b]}]`, as `In(a,b);...`.
pub(super) fn partition_by(check: &AnnotationCheck<'_, '_>, expr: &Expr) -> Option<Value> {
    let mut seen: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    let ExprKind::List(list) = &expr.kind else {
        let message = format!("`partitionBy` is a list: `[{}]`", partition_form(check));
        return fail(check, expr.span, message);
    };
    for one in list {
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

/// How a partition is written, for the first input port.
fn partition_form(check: &AnnotationCheck<'_, '_>) -> String {
    let port = check
        .ports
        .inputs
        .first()
        .and_then(|port| port.names.first());
    let port = port.map_or("In", |name| &**name);
    format!("{{port = {port}, attributes = [a, b]}}")
}

fn partition<'e>(check: &AnnotationCheck<'_, '_>, one: &'e Expr) -> Option<(&'e str, Vec<String>)> {
    let ExprKind::Tuple(parts) = &one.kind else {
        let message = format!("a partition is `{}`", partition_form(check));
        return fail(check, one.span, message);
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
    let written = simple_name(name)?;
    let attributes = list_elements(check, list, "a list of attributes", |e| {
        attribute(check, e, &[found])
    })?;
    if attributes.is_empty() {
        return fail(check, list.span, "at least one attribute is needed here");
    }
    Some((&written.text, attributes))
}
