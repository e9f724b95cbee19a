//! Consistent regions: the operators that may be in one, and the operators that a program with one
//! needs.
//!
//! A region begins at an operator with `@consistent` and holds all that its tuples reach, up to
//! operators with `@autonomous`.

use std::collections::HashSet;

use graph::{OperatorId, OperatorNode, OperatorRole};
use planner::find_loops;
use syntax::Diagnostic;

use crate::Diagnostics;
use crate::expand::Expander;
use crate::instance::OperatorSite;

/// Checks every consistent region.
pub(crate) fn check(expander: &Expander<'_, '_>) {
    let (operators, sites) = (&expander.operators[..], &expander.sites[..]);
    let diagnostics = &expander.session.diagnostics;
    let starts: Vec<usize> = with_annotation(operators, "consistent").collect();
    let Some(&first) = starts.first() else { return };
    control_plane(expander, first);
    let members = region_operators(operators, &starts);
    for &member in &members {
        let (operator, site) = (&operators[member], &sites[member]);
        if site.model.role == OperatorRole::Boundary {
            let message = format!("{} cannot be in a consistent region", site.model.name);
            diagnostics.add(finding(site, message));
        }
        if operator
            .config
            .iter()
            .any(|entry| &*entry.name == "checkpoint")
        {
            let message = "in a consistent region `config checkpoint` has no place";
            diagnostics.add(finding(site, message.into()));
        }
    }
    mixed_inputs(operators, sites, &members, diagnostics);
    loops(operators, sites, &members, diagnostics);
}

fn with_annotation<'a>(
    operators: &'a [OperatorNode],
    name: &'a str,
) -> impl Iterator<Item = usize> + 'a {
    let all = operators.iter().enumerate();
    all.filter(move |(_, o)| o.annotations.iter().any(|(n, _)| &**n == name))
        .map(|(at, _)| at)
}

fn finding(site: &OperatorSite, message: String) -> Diagnostic {
    Diagnostic::error("consistent-region", site.head, message)
}

/// A program with consistent regions has one control plane; if the library has such an operator.
fn control_plane(expander: &Expander<'_, '_>, first: usize) {
    let models = expander.session.symbols.models();
    let Some(plane) = models.iter().find(|m| m.role == OperatorRole::ControlPlane) else {
        return;
    };
    let found: Vec<_> = expander
        .sites
        .iter()
        .filter(|s| s.model.role == plane.role)
        .collect();
    match found[..] {
        [_] => {}
        [] => {
            let message = format!("a program with a consistent region needs a {}", plane.name);
            let help = format!(
                "add `() as Control = {}() {{}}` to the main composite",
                plane.name
            );
            let finding = finding(&expander.sites[first], message).help(help);
            expander.session.report(finding);
        }
        [_, second, ..] => {
            let message = format!("a program has one {}", plane.name);
            expander
                .session
                .report(finding(second, message).label(found[0].head, "the first"));
        }
    }
}

/// The operators of all regions.
fn region_operators(operators: &[OperatorNode], starts: &[usize]) -> HashSet<usize> {
    let mut after = vec![Vec::new(); operators.len()];
    for (at, operator) in operators.iter().enumerate() {
        for edge in operator.inputs.iter().flat_map(|input| &input.sources) {
            let OperatorId(from) = edge.operator;
            after[from as usize].push(at);
        }
    }
    let ends: HashSet<usize> = with_annotation(operators, "autonomous").collect();
    let mut members: HashSet<usize> = starts.iter().copied().collect();
    let mut open = starts.to_vec();
    while let Some(next) = open.pop() {
        for &to in &after[next] {
            if !ends.contains(&to) && members.insert(to) {
                open.push(to);
            }
        }
    }
    members
}

/// No port may be fed from inside and from outside of a region.
fn mixed_inputs(
    operators: &[OperatorNode],
    sites: &[OperatorSite],
    members: &HashSet<usize>,
    diagnostics: &Diagnostics,
) {
    for (operator, site) in operators.iter().zip(sites) {
        for (input, place) in operator.inputs.iter().zip(&site.inputs) {
            let is_in = |edge: &graph::OutPortId| members.contains(&(edge.operator.0 as usize));
            let inside = input.sources.iter().filter(|edge| is_in(edge)).count();
            if inside > 0 && inside < input.sources.len() {
                let message =
                    "this port is fed from inside and from outside of a consistent region";
                diagnostics.add(Diagnostic::error("consistent-region", place.span, message));
            }
        }
    }
}

/// No feedback loop may lie within a region: reports the first operator that is in a loop of the
/// region or downstream of one.
fn loops(
    operators: &[OperatorNode],
    sites: &[OperatorSite],
    members: &HashSet<usize>,
    diagnostics: &Diagnostics,
) {
    let mut after: Vec<Vec<u32>> = vec![Vec::new(); operators.len()];
    for &at in members {
        let edges = operators[at].inputs.iter().flat_map(|input| &input.sources);
        let sources = edges.map(|edge| edge.operator.0 as usize);
        let inside = sources.filter(|from| members.contains(from));
        inside.for_each(|from| after[from].push(at as u32));
    }
    let looped = find_loops(after.clone()).into_iter().enumerate();
    let looped = looped.filter(|(_, number)| number.is_some());
    let mut open: Vec<usize> = looped.map(|(at, _)| at).collect();
    let mut reached: HashSet<usize> = open.iter().copied().collect();
    while let Some(at) = open.pop() {
        let next = after[at].iter().map(|&to| to as usize);
        open.extend(next.filter(|&to| reached.insert(to)));
    }
    if let Some(&first) = reached.iter().min() {
        let message = "a consistent region cannot hold a feedback loop".to_owned();
        diagnostics.add(finding(&sites[first], message));
    }
}
