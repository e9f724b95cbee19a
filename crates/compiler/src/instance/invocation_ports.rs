//! Ports of an invocation as they are written: their names, and words for their number.

use std::collections::HashSet;
use std::sync::Arc;

use syntax::Span;
use syntax::ast::Invocation;

/// Every name that means an input port, for each: its alias, then the names of its streams. A name
/// that is the alias of a port means no other port, whatever streams that has, and the first stream
/// of a port without alias means that port: in `(A; A as B)`, `A` is the first, `B` the second.
pub(crate) fn input_names(ast: &Invocation) -> Vec<Vec<Arc<str>>> {
    let aliases = ast.inputs.iter().filter_map(|port| port.alias.as_ref());
    let aliases: HashSet<&str> = aliases.map(|alias| &*alias.text).collect();
    let plain = ast.inputs.iter().filter(|port| port.alias.is_none());
    let plain: HashSet<&str> = plain
        .filter_map(|port| port.streams.first())
        .map(|stream| &*stream.text)
        .collect();
    let ports = ast.inputs.iter().map(|port| {
        let is_own = |name: &str| {
            let is_of_another = port.alias.is_some() && plain.contains(name);
            !aliases.contains(name) && !is_of_another
        };
        let own = port.streams.iter().filter(|stream| is_own(&stream.text));
        let names = port.alias.iter().chain(own);
        names.map(|name| name.text.clone()).collect()
    });
    ports.collect()
}

/// Help for an invocation with too few ports and several streams at one port.
pub(crate) const COMMA_HELP: &str =
    "`,` brings several streams to one port; ports are separated by `;`, as in `(A; B)`";

/// The first input port that has several streams.
pub(crate) fn first_merging_port(ast: &Invocation) -> Option<Span> {
    let port = ast.inputs.iter().find(|port| port.streams.len() > 1)?;
    Some(port.span)
}

/// `no output ports`, `1 output port`, `2 output ports`.
pub(crate) fn count_phrase(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
