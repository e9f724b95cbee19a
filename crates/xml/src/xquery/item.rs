//! Items and sequences: the values of expressions.

use super::atomic_value::AtomicValue;
use super::failure::{QueryResult, failure};
use super::xml_node::XmlNode;
use crate::tree::XmlNodeKind;

/// One item of a sequence.
#[derive(Clone, Debug)]
pub(super) enum Item {
    Node(XmlNode),
    Atomic(AtomicValue),
}

/// The value of an expression: items in order.
pub(super) type Sequence = Vec<Item>;

impl Item {
    pub(super) fn atomize(&self) -> AtomicValue {
        match self {
            Item::Atomic(value) => value.clone(),
            Item::Node(node) => typed_value(node),
        }
    }

    /// Text of the item, as `fn:string` gives it.
    pub(super) fn text(&self) -> String {
        match self {
            Item::Atomic(value) => value.to_string(),
            Item::Node(node) => node.as_ref().string_value(),
        }
    }
}

/// The typed value of a node: without a schema, text of elements and attributes has no type.
fn typed_value(node: &XmlNode) -> AtomicValue {
    let node = node.as_ref();
    match node.kind() {
        XmlNodeKind::Comment | XmlNodeKind::Instruction => AtomicValue::text(&node.string_value()),
        _ => AtomicValue::Untyped(node.string_value().into()),
    }
}

/// A sequence of one value.
pub(super) fn singleton(value: AtomicValue) -> Sequence {
    vec![Item::Atomic(value)]
}

/// The atomic values of all items.
pub(super) fn atomize_all(sequence: &[Item]) -> Vec<AtomicValue> {
    sequence.iter().map(Item::atomize).collect()
}

/// The only item of a sequence; `None` if it is empty.
///
/// # Errors
/// If there are several; `what` names the place in the message.
pub(super) fn at_most_one<'s>(sequence: &'s [Item], what: &str) -> QueryResult<Option<&'s Item>> {
    match sequence {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        more => {
            let count = more.len();
            let why = format!("{what} takes one item at most, and there are {count}");
            Err(failure(why))
        }
    }
}

/// The effective boolean value of a sequence.
pub(super) fn effective_boolean_value(sequence: &[Item]) -> QueryResult<bool> {
    match sequence {
        [] => Ok(false),
        [Item::Node(_), ..] => Ok(true),
        [Item::Atomic(value)] => Ok(value.effective_boolean_value()),
        _ => Err(failure("several values are neither true nor false")),
    }
}

/// The nodes of a sequence in the order of their documents, each once.
///
/// # Errors
/// If an item is not a node; `what` names the place in the message.
pub(super) fn in_document_order(sequence: Sequence, what: &str) -> QueryResult<Vec<XmlNode>> {
    let mut nodes = nodes(sequence, what)?;
    nodes.sort_by_key(XmlNode::document_position);
    nodes.dedup();
    Ok(nodes)
}

/// The nodes of a sequence.
///
/// # Errors
/// If an item is not a node; `what` names the place in the message.
pub(super) fn nodes(sequence: Sequence, what: &str) -> QueryResult<Vec<XmlNode>> {
    let node = |item| match item {
        Item::Node(node) => Ok(node),
        Item::Atomic(value) => Err(failure(format!(
            "{what} takes nodes, and `{value}` is none"
        ))),
    };
    sequence.into_iter().map(node).collect()
}
