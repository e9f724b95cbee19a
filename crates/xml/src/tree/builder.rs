//! Building a tree from its first node on.

use super::name::{NamespaceBinding, XmlName};
use super::xml_tree::{XmlNodeKind, XmlNodeRecord, XmlNodeRef, XmlTree};

/// Adds nodes to a tree in the order of the document.
#[derive(Debug, Default)]
pub struct XmlTreeBuilder {
    tree: XmlTree,
    /// Indices of the documents and elements that have begun and not ended, outermost first.
    open: Vec<u32>,
}

impl XmlTreeBuilder {
    /// Begins a document or an element, and returns its index.
    pub(crate) fn start(
        &mut self,
        kind: XmlNodeKind,
        name: Option<XmlName>,
        namespaces: Vec<NamespaceBinding>,
    ) -> u32 {
        let index = self.push(kind, name, String::new());
        self.tree.nodes[index as usize].namespaces = namespaces;
        self.open.push(index);
        index
    }

    /// Begins an element whose name is not resolved, and returns its index.
    pub fn start_element(&mut self, name: String, attributes: Vec<(String, String)>) -> u32 {
        let name = Some(XmlName::without_namespace(name));
        let index = self.start(XmlNodeKind::Element, name, Vec::new());
        for (name, value) in attributes {
            let name = XmlName::without_namespace(name);
            self.push(XmlNodeKind::Attribute, Some(name), value);
        }
        index
    }

    /// Ends the innermost open document or element.
    pub fn end(&mut self) {
        if let Some(index) = self.open.pop() {
            self.tree.nodes[index as usize].end = self.tree.len();
        }
    }

    /// Adds text to the innermost open element; adjoining texts become one node, empty ones none.
    pub fn text(&mut self, text: &str) {
        self.leaf(XmlNodeKind::Text, None, text);
    }

    /// Adds a node that has no others below it. Within an element, adjoining texts become one node
    /// and empty ones none.
    pub(crate) fn leaf(&mut self, kind: XmlNodeKind, name: Option<XmlName>, text: &str) {
        let parent = self.open.last().copied();
        if kind == XmlNodeKind::Text && parent.is_some() {
            if text.is_empty() {
                return;
            }
            if let Some(last) = self.tree.nodes.last_mut()
                && last.kind == XmlNodeKind::Text
                && last.parent == parent
            {
                last.text.push_str(text);
                return;
            }
        }
        self.push(kind, name, text.to_owned());
    }

    /// Adds a copy of a node with all below it; of a document, only what is below it.
    pub(crate) fn copy(&mut self, node: XmlNodeRef<'_>) {
        let record = node.record();
        match record.kind {
            XmlNodeKind::Document => {
                let mut index = node.index() + 1;
                while index < record.end {
                    let child = node.at(index);
                    self.copy(child);
                    index = child.end();
                }
            }
            XmlNodeKind::Element => self.copy_element(node),
            kind => self.leaf(kind, record.name.clone(), &record.text),
        }
    }

    fn copy_element(&mut self, node: XmlNodeRef<'_>) {
        let base = self.tree.len();
        let moved = |index: u32| index - node.index() + base;
        let open = self.open.last().copied();
        for record in node.records() {
            let mut record = record.clone();
            record.end = moved(record.end);
            record.parent = record
                .parent
                .filter(|&index| index >= node.index())
                .map(moved)
                .or(open);
            self.tree.nodes.push(record);
        }
        let top = &mut self.tree.nodes[base as usize];
        top.parent = open;
        top.namespaces = node.namespaces_in_scope();
    }

    /// The tree as far as it has been built. An open element ends where it began.
    pub fn tree(&self) -> &XmlTree {
        &self.tree
    }

    /// Removes the node at an index and all behind it. None of them may be open.
    ///
    /// # Panics
    /// In debug builds, if one of them is open.
    pub fn truncate(&mut self, index: u32) {
        debug_assert!(self.open.last().is_none_or(|&open| open < index));
        self.tree.nodes.truncate(index as usize);
    }

    /// Removes all nodes, open ones included.
    pub fn clear(&mut self) {
        self.open.clear();
        self.tree.nodes.clear();
    }

    /// The tree; everything in it has ended.
    pub fn finish(self) -> XmlTree {
        self.tree
    }

    /// Whether the innermost open element has an attribute of this name.
    pub(crate) fn has_attribute(&self, name: &XmlName) -> bool {
        let parent = self.open.last().copied();
        let mut records = self.tree.nodes.iter().rev();
        records.any(|record| {
            record.kind == XmlNodeKind::Attribute
                && record.parent == parent
                && record.name.as_ref() == Some(name)
        })
    }

    /// Whether the innermost open element has anything but attributes.
    pub(crate) fn has_content(&self) -> bool {
        let Some(&parent) = self.open.last() else {
            return false;
        };
        let last = self.tree.len() - 1;
        let record = &self.tree.nodes[last as usize];
        let is_attribute = record.kind == XmlNodeKind::Attribute && record.parent == Some(parent);
        last != parent && !is_attribute
    }

    fn push(&mut self, kind: XmlNodeKind, name: Option<XmlName>, text: String) -> u32 {
        let index = self.tree.len();
        self.tree.nodes.push(XmlNodeRecord {
            kind,
            name,
            text,
            parent: self.open.last().copied(),
            end: index + 1,
            namespaces: Vec::new(),
        });
        index
    }
}
