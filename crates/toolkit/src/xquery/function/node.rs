//! Functions of nodes: their names and their documents; and of where the evaluation is.

use std::rc::Rc;

use super::super::QueryResult;
use super::super::eval::Focus;
use super::super::item::{Item, Sequence, XmlName, XmlNode, at_most_one, nodes};
use super::{XPathFunction, boolean, first_or_context, function, integer, text};

pub(super) const FUNCTIONS: &[XPathFunction] = &[
    function("position", 0, 0, |focus, _| integer(focus.position)),
    function("last", 0, 0, |focus, _| integer(focus.count)),
    function("true", 0, 0, |_, _| boolean(true)),
    function("false", 0, 0, |_, _| boolean(false)),
    function("name", 0, 1, |focus, arguments| {
        name_part(focus, arguments, XmlName::lexical_form)
    }),
    function("local-name", 0, 1, |focus, arguments| {
        name_part(focus, arguments, |name| name.local.to_string())
    }),
    function("namespace-uri", 0, 1, |focus, arguments| {
        name_part(focus, arguments, |name| name.uri.to_string())
    }),
    function("root", 0, 1, |focus, arguments| {
        let node = node(first_or_context(focus, arguments))?;
        Ok(node.iter().map(|node| Item::Node(root(node))).collect())
    }),
    function("has-children", 0, 1, |focus, arguments| {
        let node = node(first_or_context(focus, arguments))?;
        boolean(node.is_some_and(|node| has_children(&node)))
    }),
];

fn node(items: Sequence) -> QueryResult<Option<XmlNode>> {
    at_most_one(&items, "a function of nodes")?;
    Ok(nodes(items, "a function of nodes")?.pop())
}

fn root(node: &XmlNode) -> XmlNode {
    XmlNode::root(Rc::clone(&node.tree))
}

fn has_children(node: &XmlNode) -> bool {
    let attributes = super::super::serialize::attributes(node).len() as u32;
    node.record().end > node.index + 1 + attributes
}

/// Something of a node's name; empty if it has none.
fn name_part(
    focus: &Focus,
    arguments: Vec<Sequence>,
    part: impl Fn(&XmlName) -> String,
) -> QueryResult<Sequence> {
    let node = node(first_or_context(focus, arguments))?;
    let name = node.and_then(|node| node.record().name.clone());
    text(&name.map_or(String::new(), |name| part(&name)))
}
