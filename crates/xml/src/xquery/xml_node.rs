//! Nodes as values of a query: they share the tree that they are in.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::tree::{XmlNodeRef, XmlTree};

/// A tree with its place among all trees: a query may compare nodes of several.
#[derive(Debug)]
pub(super) struct NumberedTree {
    /// Number of the tree, which grows from tree to tree.
    serial: u64,
    tree: XmlTree,
}

impl NumberedTree {
    /// Gives a tree the next number.
    pub(super) fn new(tree: XmlTree) -> Rc<NumberedTree> {
        static NEXT_SERIAL: AtomicU64 = AtomicU64::new(0);
        let serial = NEXT_SERIAL.fetch_add(1, Ordering::Relaxed);
        Rc::new(NumberedTree { serial, tree })
    }
}

/// A node of a document, or one that the query constructed.
#[derive(Clone, Debug)]
pub(super) struct XmlNode {
    tree: Rc<NumberedTree>,
    index: u32,
}

impl PartialEq for XmlNode {
    fn eq(&self, other: &XmlNode) -> bool {
        self.document_position() == other.document_position()
    }
}

impl XmlNode {
    /// The first node of a new tree.
    pub(super) fn root(tree: XmlTree) -> XmlNode {
        XmlNode {
            tree: NumberedTree::new(tree),
            index: 0,
        }
    }

    /// The node in its tree.
    pub(super) fn as_ref(&self) -> XmlNodeRef<'_> {
        self.tree.tree.node(self.index)
    }

    /// The node of this tree at an index.
    pub(super) fn at(&self, index: u32) -> XmlNode {
        XmlNode {
            tree: Rc::clone(&self.tree),
            index,
        }
    }

    /// Place of the node in the order of all documents: number of the tree, index within it.
    pub(super) fn document_position(&self) -> (u64, u32) {
        (self.tree.serial, self.index)
    }
}
