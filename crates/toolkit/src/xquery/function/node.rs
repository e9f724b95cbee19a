//! Functions of nodes: their names and their documents; and of where the evaluation is.

use std::rc::Rc;

use super::super::Outcome;
use super::super::eval::Focus;
use super::super::item::{Item, Name, Node, Sequence, at_most_one, nodes};
use super::{Function, boolean, function, integer, or_context, text};

pub(super) const FUNCTIONS: &[Function] = &[
    function("position", 0, 0, |focus, _| integer(focus.position)),
    function("last", 0, 0, |focus, _| integer(focus.count)),
    function("true", 0, 0, |_, _| boolean(true)),
    function("false", 0, 0, |_, _| boolean(false)),
    function("name", 0, 1, |focus, arguments| {
        named(focus, arguments, Name::shown)
    }),
    function("local-name", 0, 1, |focus, arguments| {
        named(focus, arguments, |name| name.local.to_string())
    }),
    function("namespace-uri", 0, 1, |focus, arguments| {
        named(focus, arguments, |name| name.uri.to_string())
    }),
    function("root", 0, 1, |focus, arguments| {
        let node = node(or_context(focus, arguments))?;
        Ok(node.iter().map(|node| Item::Node(root(node))).collect())
    }),
    function("has-children", 0, 1, |focus, arguments| {
        let node = node(or_context(focus, arguments))?;
        boolean(node.is_some_and(|node| has_children(&node)))
    }),
];

fn node(items: Sequence) -> Outcome<Option<Node>> {
    at_most_one(&items, "a function of nodes")?;
    Ok(nodes(items, "a function of nodes")?.pop())
}

fn root(node: &Node) -> Node {
    Node::root(Rc::clone(&node.tree))
}

fn has_children(node: &Node) -> bool {
    let attributes = super::super::serialize::attributes(node).len() as u32;
    node.data().end > node.at + 1 + attributes
}

/// Something of a node's name; empty if it has none.
fn named(
    focus: &Focus,
    arguments: Vec<Sequence>,
    part: impl Fn(&Name) -> String,
) -> Outcome<Sequence> {
    let node = node(or_context(focus, arguments))?;
    let name = node.and_then(|node| node.data().name.clone());
    text(&name.map_or(String::new(), |name| part(&name)))
}
