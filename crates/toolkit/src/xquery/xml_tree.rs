//! Documents and constructed elements: nodes in the order of the document, in one array.
//!
//! ```text
//! <a b="1">x<c/></a>      0 document  1 a  2 @b  3 x  4 c
//!                         end: 5      5    3     4    5      behind the last node below
//! ```
//! Attributes stand behind their element, before its children.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use xml::{Scanner, ScannerLimits, XmlToken};

use super::item::{XmlName, XmlNode};

/// Elements nest so deep at most, as in casts.
const LIMITS: ScannerLimits = ScannerLimits {
    depth: 1000,
    item_bytes: usize::MAX,
};

/// What `xml:` stands for.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlNodeKind {
    Document,
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// A prefix, empty for elements without one, and what it stands for.
pub type NamespaceBinding = (Rc<str>, Rc<str>);

/// A node.
#[derive(Clone, Debug)]
pub struct XmlNodeRecord {
    pub kind: XmlNodeKind,
    /// Of elements, attributes and instructions.
    pub name: Option<XmlName>,
    /// Of all but documents and elements.
    pub text: String,
    pub parent: Option<u32>,
    /// Behind the last node below this one.
    pub end: u32,
    /// Declared by this element.
    pub namespaces: Vec<NamespaceBinding>,
}

/// A document, or a node that a query has made.
#[derive(Debug)]
pub struct XmlTree {
    /// Grows from tree to tree.
    pub serial: u64,
    pub nodes: Vec<XmlNodeRecord>,
}

/// Makes a tree from its beginning.
#[derive(Debug, Default)]
pub struct XmlTreeBuilder {
    nodes: Vec<XmlNodeRecord>,
    open: Vec<u32>,
}

impl XmlTreeBuilder {
    /// A document or an element begins.
    pub fn start(
        &mut self,
        kind: XmlNodeKind,
        name: Option<XmlName>,
        namespaces: Vec<NamespaceBinding>,
    ) {
        let at = self.push(kind, name, String::new());
        self.nodes[at as usize].namespaces = namespaces;
        self.open.push(at);
    }

    /// What was begun last ends.
    pub fn end(&mut self) {
        if let Some(at) = self.open.pop() {
            self.nodes[at as usize].end = self.nodes.len() as u32;
        }
    }

    /// A node without others below it. Texts that touch become one, and empty ones none.
    pub fn leaf(&mut self, kind: XmlNodeKind, name: Option<XmlName>, text: &str) {
        let parent = self.open.last().copied();
        if kind == XmlNodeKind::Text && parent.is_some() {
            if text.is_empty() {
                return;
            }
            if let Some(last) = self.nodes.last_mut()
                && last.kind == XmlNodeKind::Text
                && last.parent == parent
            {
                last.text.push_str(text);
                return;
            }
        }
        self.push(kind, name, text.to_owned());
    }

    /// A copy of a node with all that is below it; of a document, what is below.
    pub fn copy(&mut self, node: &XmlNode) {
        let data = node.record();
        match data.kind {
            XmlNodeKind::Document => {
                let mut at = node.index + 1;
                while at < data.end {
                    let child = node.sibling(at);
                    self.copy(&child);
                    at = child.record().end;
                }
            }
            XmlNodeKind::Element => self.copy_element(node),
            kind => self.leaf(kind, data.name.clone(), &data.text),
        }
    }

    fn copy_element(&mut self, node: &XmlNode) {
        let base = self.nodes.len() as u32;
        let moved = |at: u32| at - node.index + base;
        let open = self.open.last().copied();
        let namespaces = node.tree.in_scope(node.index);
        let range = node.index as usize..node.record().end as usize;
        for data in &node.tree.nodes[range] {
            let mut data = data.clone();
            data.end = moved(data.end);
            data.parent = data
                .parent
                .filter(|&at| at >= node.index)
                .map(moved)
                .or(open);
            self.nodes.push(data);
        }
        self.nodes[base as usize].parent = open;
        self.nodes[base as usize].namespaces = namespaces;
    }

    pub fn finish(self) -> Rc<XmlTree> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        Rc::new(XmlTree {
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            nodes: self.nodes,
        })
    }

    /// The element that is open has this attribute.
    pub fn has_attribute(&self, name: &XmlName) -> bool {
        let parent = self.open.last().copied();
        let mut nodes = self.nodes.iter().rev();
        nodes.any(|node| {
            node.kind == XmlNodeKind::Attribute
                && node.parent == parent
                && node.name.as_ref() == Some(name)
        })
    }

    /// The element that is open has more than attributes.
    pub fn has_content(&self) -> bool {
        let Some(&parent) = self.open.last() else {
            return false;
        };
        let last = self.nodes.len() as u32 - 1;
        let data = &self.nodes[last as usize];
        let is_attribute = data.kind == XmlNodeKind::Attribute && data.parent == Some(parent);
        last != parent && !is_attribute
    }

    fn push(&mut self, kind: XmlNodeKind, name: Option<XmlName>, text: String) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(XmlNodeRecord {
            kind,
            name,
            text,
            parent: self.open.last().copied(),
            end: at + 1,
            namespaces: Vec::new(),
        });
        at
    }
}

impl XmlTree {
    /// The namespaces that an element knows; undeclared ones are left out.
    pub fn in_scope(&self, at: u32) -> Vec<NamespaceBinding> {
        let mut found: Vec<NamespaceBinding> = Vec::new();
        let mut next = Some(at);
        while let Some(at) = next {
            let data = &self.nodes[at as usize];
            for (prefix, uri) in &data.namespaces {
                if !found.iter().any(|(known, _)| known == prefix) {
                    found.push((Rc::clone(prefix), Rc::clone(uri)));
                }
            }
            next = data.parent;
        }
        found.retain(|(_, uri)| !uri.is_empty());
        found
    }
}

/// The document of a text.
pub fn parse_document(text: &[u8]) -> Result<Rc<XmlTree>, String> {
    if text.is_empty() {
        return Err("the value was never assigned a document".to_owned());
    }
    let mut scanner = Scanner::with_comments(LIMITS);
    scanner.push(text);
    let mut reader = XmlTreeParser::default();
    reader
        .builder
        .start(XmlNodeKind::Document, None, Vec::new());
    while let Some(token) = scanner.token()? {
        reader.process_token(token)?;
    }
    scanner.end()?;
    reader.builder.end();
    Ok(reader.builder.finish())
}

/// Makes a tree of tokens.
#[derive(Default)]
struct XmlTreeParser {
    builder: XmlTreeBuilder,
    /// The namespaces declared by the elements that are open.
    scope: Vec<NamespaceBinding>,
    /// How many there were when each of these began.
    scope_lens: Vec<usize>,
}

impl XmlTreeParser {
    fn process_token(&mut self, token: XmlToken) -> Result<(), String> {
        match token {
            XmlToken::Declaration { .. } => {}
            XmlToken::Start { name, attributes } => self.start(&name, &attributes)?,
            XmlToken::End { .. } => {
                self.builder.end();
                self.scope.truncate(self.scope_lens.pop().unwrap_or(0));
            }
            XmlToken::Text { text, .. } => self.builder.leaf(XmlNodeKind::Text, None, &text),
            XmlToken::Comment { text } => self.builder.leaf(XmlNodeKind::Comment, None, &text),
            XmlToken::Instruction { target, text } => {
                let name = name_without_namespace(&target);
                self.builder
                    .leaf(XmlNodeKind::Instruction, Some(name), &text);
            }
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &[(String, String)]) -> Result<(), String> {
        let declared: Vec<_> = attributes.iter().filter_map(declaration).collect();
        self.scope_lens.push(self.scope.len());
        self.scope.extend(declared.iter().cloned());
        let name = self.expand(name, false)?;
        self.builder
            .start(XmlNodeKind::Element, Some(name), declared);
        for attribute in attributes {
            if declaration(attribute).is_none() {
                let name = self.expand(&attribute.0, true)?;
                self.builder
                    .leaf(XmlNodeKind::Attribute, Some(name), &attribute.1);
            }
        }
        Ok(())
    }

    fn expand(&self, name: &str, is_attribute: bool) -> Result<XmlName, String> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let uri = match prefix {
            "" if is_attribute => "".into(),
            "xml" => XML.into(),
            _ => {
                let mut scope = self.scope.iter().rev();
                let found = scope.find(|(known, _)| **known == *prefix);
                match found {
                    Some((_, uri)) => Rc::clone(uri),
                    None if prefix.is_empty() => "".into(),
                    None => return Err(format!("no namespace is declared for `{prefix}:`")),
                }
            }
        };
        Ok(XmlName {
            prefix: prefix.into(),
            uri,
            local: local.into(),
        })
    }
}

/// A name in no namespace.
pub fn name_without_namespace(name: &str) -> XmlName {
    XmlName {
        prefix: "".into(),
        uri: "".into(),
        local: name.into(),
    }
}

/// The namespace that an attribute declares.
fn declaration((name, value): &(String, String)) -> Option<NamespaceBinding> {
    match name.strip_prefix("xmlns")? {
        "" => Some(("".into(), value[..].into())),
        prefix => Some((prefix.strip_prefix(':')?.into(), value[..].into())),
    }
}
