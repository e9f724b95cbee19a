//! Functions of nodes, and of the focus.

use super::super::failure::QueryResult;
use super::super::focus::Focus;
use super::super::item::{Item, Sequence, at_most_one, nodes};
use super::super::xml_node::XmlNode;
use super::arguments::first_or_context;
use super::results::{boolean, integer, text};
use super::xpath_function::{XPathFunction, function};
use crate::tree::XmlName;

pub(super) const FUNCTIONS: &[XPathFunction] = &[
    function("position", 0, 0, |focus, _| integer(focus.position)),
    function("last", 0, 0, |focus, _| integer(focus.count)),
    function("true", 0, 0, |_, _| boolean(true)),
    function("false", 0, 0, |_, _| boolean(false)),
    function("name", 0, 1, |focus, arguments| {
        name_part(focus, arguments, XmlName::written)
    }),
    function("local-name", 0, 1, |focus, arguments| {
        name_part(focus, arguments, XmlName::local)
    }),
    function("namespace-uri", 0, 1, |focus, arguments| {
        name_part(focus, arguments, XmlName::uri)
    }),
    function("root", 0, 1, |focus, arguments| {
        let node = node(first_or_context(focus, arguments))?;
        Ok(node.iter().map(|node| Item::Node(node.at(0))).collect())
    }),
    function("has-children", 0, 1, |focus, arguments| {
        let node = node(first_or_context(focus, arguments))?;
        boolean(node.is_some_and(|node| node.as_ref().children().next().is_some()))
    }),
];

fn node(items: Sequence) -> QueryResult<Option<XmlNode>> {
    at_most_one(&items, "a function of nodes")?;
    Ok(nodes(items, "a function of nodes")?.pop())
}

/// A part of a node's name; empty if it has none.
fn name_part(
    focus: &Focus,
    arguments: Vec<Sequence>,
    part: impl Fn(&XmlName) -> &str,
) -> QueryResult<Sequence> {
    let node = node(first_or_context(focus, arguments))?;
    let name = node
        .as_ref()
        .and_then(|node| node.as_ref().record().name.as_ref());
    text(name.map_or("", part))
}
