//! Items: nodes of trees and atomic values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::atomic::Atomic;
use super::tree::{Data, Kind, Tree};
use super::{Failure, Outcome};

/// A name with its namespace. The prefix is only for printing.
#[derive(Clone, Debug)]
pub struct Name {
    pub prefix: Rc<str>,
    /// Empty: in no namespace.
    pub uri: Rc<str>,
    pub local: Rc<str>,
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.local == other.local && self.uri == other.uri
    }
}

impl Name {
    /// As it is written.
    pub fn shown(&self) -> String {
        match &*self.prefix {
            "" => self.local.to_string(),
            prefix => format!("{prefix}:{}", self.local),
        }
    }
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub struct Node {
    pub tree: Rc<Tree>,
    pub at: u32,
}

/// One item of a sequence.
#[derive(Clone, Debug)]
pub enum Item {
    Node(Node),
    Atomic(Atomic),
}

/// What every expression gives.
pub type Sequence = Vec<Item>;

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.place() == other.place()
    }
}

impl Node {
    /// The first node of a tree.
    pub fn root(tree: Rc<Tree>) -> Node {
        Node { tree, at: 0 }
    }

    pub fn data(&self) -> &Data {
        &self.tree.nodes[self.at as usize]
    }

    pub fn kind(&self) -> Kind {
        self.data().kind
    }

    /// Another node of the same tree.
    pub fn sibling(&self, at: u32) -> Node {
        Node {
            tree: Rc::clone(&self.tree),
            at,
        }
    }

    pub fn parent(&self) -> Option<Node> {
        self.data().parent.map(|at| self.sibling(at))
    }

    /// Where the node stands among all: trees in the order in which they were made.
    pub fn place(&self) -> (u64, u32) {
        (self.tree.serial, self.at)
    }

    /// The text that it holds.
    pub fn text(&self) -> String {
        let data = self.data();
        match data.kind {
            Kind::Document | Kind::Element => {
                let below = &self.tree.nodes[self.at as usize..data.end as usize];
                let texts = below.iter().filter(|node| node.kind == Kind::Text);
                texts.map(|node| &node.text[..]).collect()
            }
            _ => data.text.clone(),
        }
    }

    /// The value that it stands for: without a schema it has no type.
    fn value(&self) -> Atomic {
        match self.kind() {
            Kind::Comment | Kind::Instruction => Atomic::text(&self.text()),
            _ => Atomic::Untyped(self.text().into()),
        }
    }
}

impl Item {
    pub fn atomic(&self) -> Atomic {
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
pub fn atomics(sequence: &[Item]) -> Vec<Atomic> {
    sequence.iter().map(Item::atomic).collect()
}

/// The one item of a sequence, or none.
pub fn at_most_one<'s>(sequence: &'s [Item], what: &str) -> Outcome<Option<&'s Item>> {
    match sequence {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        more => {
            let count = more.len();
            let why = format!("{what} takes one item at most, and there are {count}");
            Err(Failure::Value(why))
        }
    }
}

/// The effective boolean value of a sequence.
pub fn truth(sequence: &[Item]) -> Outcome<bool> {
    match sequence {
        [] => Ok(false),
        [Item::Node(_), ..] => Ok(true),
        [Item::Atomic(value)] => Ok(value.truth()),
        _ => {
            let why = "several values are neither true nor false";
            Err(Failure::Value(why.to_owned()))
        }
    }
}

/// The nodes of a sequence in the order of their documents, each once.
pub fn ordered(sequence: Sequence, what: &str) -> Outcome<Vec<Node>> {
    let mut nodes = nodes(sequence, what)?;
    nodes.sort_by(by_place);
    nodes.dedup();
    Ok(nodes)
}

fn by_place(a: &Node, b: &Node) -> Ordering {
    a.place().cmp(&b.place())
}

/// The items of a sequence of nodes.
pub fn nodes(sequence: Sequence, what: &str) -> Outcome<Vec<Node>> {
    let node = |item| match item {
        Item::Node(node) => Ok(node),
        Item::Atomic(value) => Err(Failure::Value(format!(
            "{what} takes nodes, and `{value}` is none"
        ))),
    };
    sequence.into_iter().map(node).collect()
}
