//! Items: nodes of trees and atomic values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::atomic_value::AtomicValue;
use super::xml_tree::{XmlNodeKind, XmlNodeRecord, XmlTree};
use super::{QueryFailure, QueryResult};

/// A name with its namespace. The prefix is only for printing.
#[derive(Clone, Debug)]
pub struct XmlName {
    pub prefix: Rc<str>,
    /// Empty: in no namespace.
    pub uri: Rc<str>,
    pub local: Rc<str>,
}

impl PartialEq for XmlName {
    fn eq(&self, other: &XmlName) -> bool {
        self.local == other.local && self.uri == other.uri
    }
}

impl XmlName {
    /// As it is written.
    pub fn lexical_form(&self) -> String {
        match &*self.prefix {
            "" => self.local.to_string(),
            prefix => format!("{prefix}:{}", self.local),
        }
    }
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub struct XmlNode {
    pub tree: Rc<XmlTree>,
    pub index: u32,
}

/// One item of a sequence.
#[derive(Clone, Debug)]
pub enum Item {
    Node(XmlNode),
    Atomic(AtomicValue),
}

/// What every expression gives.
pub type Sequence = Vec<Item>;

impl PartialEq for XmlNode {
    fn eq(&self, other: &XmlNode) -> bool {
        self.document_position() == other.document_position()
    }
}

impl XmlNode {
    /// The first node of a tree.
    pub fn root(tree: Rc<XmlTree>) -> XmlNode {
        XmlNode { tree, index: 0 }
    }

    pub fn record(&self) -> &XmlNodeRecord {
        &self.tree.nodes[self.index as usize]
    }

    pub fn kind(&self) -> XmlNodeKind {
        self.record().kind
    }

    /// Another node of the same tree.
    pub fn sibling(&self, at: u32) -> XmlNode {
        XmlNode {
            tree: Rc::clone(&self.tree),
            index: at,
        }
    }

    pub fn parent(&self) -> Option<XmlNode> {
        self.record().parent.map(|at| self.sibling(at))
    }

    /// Where the node stands among all: trees in the order in which they were made.
    pub fn document_position(&self) -> (u64, u32) {
        (self.tree.serial, self.index)
    }

    /// The text that it holds.
    pub fn text(&self) -> String {
        let data = self.record();
        match data.kind {
            XmlNodeKind::Document | XmlNodeKind::Element => {
                let below = &self.tree.nodes[self.index as usize..data.end as usize];
                let texts = below.iter().filter(|node| node.kind == XmlNodeKind::Text);
                texts.map(|node| &node.text[..]).collect()
            }
            _ => data.text.clone(),
        }
    }

    /// The value that it stands for: without a schema it has no type.
    fn value(&self) -> AtomicValue {
        match self.kind() {
            XmlNodeKind::Comment | XmlNodeKind::Instruction => AtomicValue::text(&self.text()),
            _ => AtomicValue::Untyped(self.text().into()),
        }
    }
}

impl Item {
    pub fn atomize(&self) -> AtomicValue {
        match self {
            Item::Atomic(value) => value.clone(),
            Item::Node(node) => node.value(),
        }
    }

    /// Its text: `fn:string`.
    pub fn text(&self) -> String {
        match self {
            Item::Atomic(value) => value.to_string(),
            Item::Node(node) => node.text(),
        }
    }
}

/// The values of all items.
pub fn atomize_all(sequence: &[Item]) -> Vec<AtomicValue> {
    sequence.iter().map(Item::atomize).collect()
}

/// The one item of a sequence, or none.
pub fn at_most_one<'s>(sequence: &'s [Item], what: &str) -> QueryResult<Option<&'s Item>> {
    match sequence {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        more => {
            let count = more.len();
            let why = format!("{what} takes one item at most, and there are {count}");
            Err(QueryFailure::Value(why))
        }
    }
}

/// The effective boolean value of a sequence.
pub fn effective_boolean_value(sequence: &[Item]) -> QueryResult<bool> {
    match sequence {
        [] => Ok(false),
        [Item::Node(_), ..] => Ok(true),
        [Item::Atomic(value)] => Ok(value.effective_boolean_value()),
        _ => {
            let why = "several values are neither true nor false";
            Err(QueryFailure::Value(why.to_owned()))
        }
    }
}

/// The nodes of a sequence in the order of their documents, each once.
pub fn in_document_order(sequence: Sequence, what: &str) -> QueryResult<Vec<XmlNode>> {
    let mut nodes = nodes(sequence, what)?;
    nodes.sort_by(compare_document_order);
    nodes.dedup();
    Ok(nodes)
}

fn compare_document_order(a: &XmlNode, b: &XmlNode) -> Ordering {
    a.document_position().cmp(&b.document_position())
}

/// The items of a sequence of nodes.
pub fn nodes(sequence: Sequence, what: &str) -> QueryResult<Vec<XmlNode>> {
    let node = |item| match item {
        Item::Node(node) => Ok(node),
        Item::Atomic(value) => Err(QueryFailure::Value(format!(
            "{what} takes nodes, and `{value}` is none"
        ))),
    };
    sequence.into_iter().map(node).collect()
}
