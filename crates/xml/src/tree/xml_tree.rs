//! The tree: its nodes in the order of the document, in one array.
//!
//! ```text
//! <a b="1">x<c/></a>      index  0 document  1 a  2 @b  3 x  4 c
//!                         end    5           5    3     4    5
//! ```
//! `end` is the index behind the last node below a node. Attributes follow their element, before
//! its children.

use std::borrow::Cow;
use std::sync::Arc;

use super::name::{NamespaceBinding, XmlName};

/// Kind of a node, as in the data model of XPath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlNodeKind {
    /// The root of a document, above its outermost element.
    Document,
    /// An element, whose tags may enclose other nodes.
    Element,
    /// An attribute of an element.
    Attribute,
    /// Text between two tags.
    Text,
    /// A comment, without its marks.
    Comment,
    /// A processing instruction for some application.
    Instruction,
}

/// Stored form of one node.
#[derive(Clone, Debug)]
pub struct XmlNodeRecord {
    /// Kind of the node.
    pub kind: XmlNodeKind,
    /// Name of an element or attribute, target of an instruction; the others have none.
    pub name: Option<XmlName>,
    /// Characters of a text or comment, value of an attribute; empty for documents and elements.
    pub text: String,
    /// Index of the node around this one.
    pub parent: Option<u32>,
    /// Index behind the last node below this one.
    pub end: u32,
    /// Namespaces that the element itself declares.
    pub namespaces: Vec<NamespaceBinding>,
}

/// A document, or a node that a query constructed, with all that is below it.
///
/// # Example
/// ```
/// use thalweg_xml::{XmlTree, XmlNodeKind};
///
/// let tree = XmlTree::parse(b"<a b='1'>x<c/>y</a>")?;
/// let root = tree.root_element().ok_or("a document has a root element")?;
/// assert_eq!(root.name(), "a");
/// assert_eq!(root.attribute("b"), Some("1"));
/// assert_eq!(root.own_text(), "xy");
/// let children: Vec<_> = root.child_elements().map(|child| child.name()).collect();
/// assert_eq!(children, ["c"]);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Default)]
pub struct XmlTree {
    pub(super) nodes: Vec<XmlNodeRecord>,
}

/// One node of a tree.
#[derive(Clone, Copy, Debug)]
pub struct XmlNodeRef<'t> {
    tree: &'t XmlTree,
    index: u32,
}

impl XmlTree {
    /// The node at an index.
    ///
    /// # Panics
    /// The methods of the node panic if there is no such index.
    pub fn node(&self, index: u32) -> XmlNodeRef<'_> {
        XmlNodeRef { tree: self, index }
    }

    /// Number of nodes in the tree.
    pub fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Whether the tree has no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The outermost element of a document.
    pub fn root_element(&self) -> Option<XmlNodeRef<'_>> {
        let mut all = (0..self.len()).map(|index| self.node(index));
        all.find(|node| node.kind() == XmlNodeKind::Element)
    }
}

impl<'t> XmlNodeRef<'t> {
    /// Index of the node in its tree; indices grow in the order of the document.
    pub fn index(self) -> u32 {
        self.index
    }

    /// Index behind the last node below this one.
    pub fn end(self) -> u32 {
        self.record().end
    }

    /// Number of nodes in the whole tree.
    pub(crate) fn tree_len(self) -> u32 {
        self.tree.len()
    }

    /// Another node of this tree.
    pub(crate) fn at(self, index: u32) -> XmlNodeRef<'t> {
        self.tree.node(index)
    }

    /// The stored form of the node.
    pub(crate) fn record(self) -> &'t XmlNodeRecord {
        &self.tree.nodes[self.index as usize]
    }

    /// The stored forms of the node and of all below it.
    pub(super) fn records(self) -> &'t [XmlNodeRecord] {
        &self.tree.nodes[self.index as usize..self.end() as usize]
    }

    /// Kind of the node.
    pub fn kind(self) -> XmlNodeKind {
        self.record().kind
    }

    /// Name of the node as it is written; empty if it has none.
    pub fn name(self) -> &'t str {
        self.record().name.as_ref().map_or("", XmlName::written)
    }

    /// The node around this one.
    pub(crate) fn parent(self) -> Option<XmlNodeRef<'t>> {
        self.record().parent.map(|index| self.at(index))
    }

    /// All children in order: elements, texts, comments and instructions, but no attributes.
    pub fn children(self) -> impl Iterator<Item = XmlNodeRef<'t>> {
        let end = self.end();
        let mut index = self.index + 1;
        let nodes = std::iter::from_fn(move || {
            let node = (index < end).then(|| self.at(index))?;
            index = node.end();
            Some(node)
        });
        nodes.filter(|node| node.kind() != XmlNodeKind::Attribute)
    }

    /// The children that are elements, in order.
    pub fn child_elements(self) -> impl Iterator<Item = XmlNodeRef<'t>> {
        self.children()
            .filter(|child| child.kind() == XmlNodeKind::Element)
    }

    /// The attributes of an element, in order.
    pub fn attributes(self) -> impl Iterator<Item = XmlNodeRef<'t>> {
        let below = self.index + 1..self.end();
        below
            .map(move |index| self.at(index))
            .take_while(|node| node.kind() == XmlNodeKind::Attribute)
    }

    /// Value of the attribute of a written name.
    pub fn attribute(self, name: &str) -> Option<&'t str> {
        self.attributes()
            .find(|attribute| attribute.name() == name)
            .map(XmlNodeRef::value)
    }

    /// Value of an attribute; characters of a text, comment or instruction.
    pub fn value(self) -> &'t str {
        &self.record().text
    }

    /// The texts directly in an element, without those of its children.
    pub fn own_text(self) -> Cow<'t, str> {
        let texts = self.children();
        let mut texts = texts.filter(|child| child.kind() == XmlNodeKind::Text);
        let Some(first) = texts.next() else {
            return Cow::Borrowed("");
        };
        texts.fold(Cow::Borrowed(first.value()), |all, text| all + text.value())
    }

    /// The string value, as XPath defines it: all texts of a document or element, the value or the
    /// characters of any other node.
    pub(crate) fn string_value(self) -> String {
        match self.kind() {
            XmlNodeKind::Document | XmlNodeKind::Element => {
                let records = self.records().iter();
                let texts = records.filter(|record| record.kind == XmlNodeKind::Text);
                texts.map(|record| &record.text[..]).collect()
            }
            _ => self.value().to_owned(),
        }
    }

    /// The namespaces that are bound at an element, nearest declaration first, without those that
    /// are undeclared again.
    pub(crate) fn namespaces_in_scope(self) -> Vec<NamespaceBinding> {
        let mut found: Vec<NamespaceBinding> = Vec::new();
        let mut next = Some(self);
        while let Some(node) = next {
            for (prefix, uri) in &node.record().namespaces {
                if !found.iter().any(|(known, _)| known == prefix) {
                    found.push((Arc::clone(prefix), Arc::clone(uri)));
                }
            }
            next = node.parent();
        }
        found.retain(|(_, uri)| !uri.is_empty());
        found
    }
}
