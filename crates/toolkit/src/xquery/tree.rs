//! Documents and constructed elements: nodes in the order of the document, in one array.
//!
//! ```text
//! <a b="1">x<c/></a>      0 document  1 a  2 @b  3 x  4 c
//!                         end: 5      5    3     4    5      behind the last node below
//! ```
//! Attributes stand behind their element, before its children.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use graph::xml::{Limits, Scanner, Token};

use super::item::{Name, Node};

/// Elements nest so deep at most, as in casts.
const LIMITS: Limits = Limits {
    depth: 1000,
    item_bytes: usize::MAX,
};

/// What `xml:` stands for.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Document,
    Element,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// A prefix, empty for elements without one, and what it stands for.
pub type Namespace = (Rc<str>, Rc<str>);

/// A node.
#[derive(Clone, Debug)]
pub struct Data {
    pub kind: Kind,
    /// Of elements, attributes and instructions.
    pub name: Option<Name>,
    /// Of all but documents and elements.
    pub text: String,
    pub parent: Option<u32>,
    /// Behind the last node below this one.
    pub end: u32,
    /// Declared by this element.
    pub namespaces: Vec<Namespace>,
}

/// A document, or a node that a query has made.
#[derive(Debug)]
pub struct Tree {
    /// Grows from tree to tree.
    pub serial: u64,
    pub nodes: Vec<Data>,
}

/// Makes a tree from its beginning.
#[derive(Debug, Default)]
pub struct Builder {
    nodes: Vec<Data>,
    open: Vec<u32>,
}

impl Builder {
    /// A document or an element begins.
    pub fn start(&mut self, kind: Kind, name: Option<Name>, namespaces: Vec<Namespace>) {
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
    pub fn leaf(&mut self, kind: Kind, name: Option<Name>, text: &str) {
        let parent = self.open.last().copied();
        if kind == Kind::Text && parent.is_some() {
            if text.is_empty() {
                return;
            }
            if let Some(last) = self.nodes.last_mut()
                && last.kind == Kind::Text
                && last.parent == parent
            {
                last.text.push_str(text);
                return;
            }
        }
        self.push(kind, name, text.to_owned());
    }

    /// A copy of a node with all that is below it; of a document, what is below.
    pub fn copy(&mut self, node: &Node) {
        let data = node.data();
        match data.kind {
            Kind::Document => {
                let mut at = node.at + 1;
                while at < data.end {
                    let child = node.sibling(at);
                    self.copy(&child);
                    at = child.data().end;
                }
            }
            Kind::Element => self.copy_element(node),
            kind => self.leaf(kind, data.name.clone(), &data.text),
        }
    }

    fn copy_element(&mut self, node: &Node) {
        let base = self.nodes.len() as u32;
        let moved = |at: u32| at - node.at + base;
        let open = self.open.last().copied();
        let namespaces = node.tree.in_scope(node.at);
        let range = node.at as usize..node.data().end as usize;
        for data in &node.tree.nodes[range] {
            let mut data = data.clone();
            data.end = moved(data.end);
            data.parent = data.parent.filter(|&at| at >= node.at).map(moved).or(open);
            self.nodes.push(data);
        }
        self.nodes[base as usize].parent = open;
        self.nodes[base as usize].namespaces = namespaces;
    }

    pub fn finish(self) -> Rc<Tree> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        Rc::new(Tree {
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            nodes: self.nodes,
        })
    }

    /// The element that is open has this attribute.
    pub fn has_attribute(&self, name: &Name) -> bool {
        let parent = self.open.last().copied();
        let mut nodes = self.nodes.iter().rev();
        nodes.any(|node| {
            node.kind == Kind::Attribute
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
        let is_attribute = data.kind == Kind::Attribute && data.parent == Some(parent);
        last != parent && !is_attribute
    }

    fn push(&mut self, kind: Kind, name: Option<Name>, text: String) -> u32 {
        let at = self.nodes.len() as u32;
        self.nodes.push(Data {
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

impl Tree {
    /// The namespaces that an element knows; undeclared ones are left out.
    pub fn in_scope(&self, at: u32) -> Vec<Namespace> {
        let mut found: Vec<Namespace> = Vec::new();
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
pub fn read(text: &[u8]) -> Result<Rc<Tree>, String> {
    if text.is_empty() {
        return Err("the value was never assigned a document".to_owned());
    }
    let mut scanner = Scanner::with_asides(LIMITS);
    scanner.push(text);
    let mut reader = Reader::default();
    reader.builder.start(Kind::Document, None, Vec::new());
    while let Some(token) = scanner.token()? {
        reader.take(token)?;
    }
    scanner.end()?;
    reader.builder.end();
    Ok(reader.builder.finish())
}

/// Makes a tree of tokens.
#[derive(Default)]
struct Reader {
    builder: Builder,
    /// The namespaces declared by the elements that are open.
    scope: Vec<Namespace>,
    /// How many there were when each of these began.
    marks: Vec<usize>,
}

impl Reader {
    fn take(&mut self, token: Token) -> Result<(), String> {
        match token {
            Token::Declaration { .. } => {}
            Token::Start { name, attributes } => self.start(&name, &attributes)?,
            Token::End { .. } => {
                self.builder.end();
                self.scope.truncate(self.marks.pop().unwrap_or(0));
            }
            Token::Text { text, .. } => self.builder.leaf(Kind::Text, None, &text),
            Token::Comment { text } => self.builder.leaf(Kind::Comment, None, &text),
            Token::Instruction { target, text } => {
                let name = plain(&target);
                self.builder.leaf(Kind::Instruction, Some(name), &text);
            }
        }
        Ok(())
    }

    fn start(&mut self, name: &str, attributes: &[(String, String)]) -> Result<(), String> {
        let declared: Vec<_> = attributes.iter().filter_map(declaration).collect();
        self.marks.push(self.scope.len());
        self.scope.extend(declared.iter().cloned());
        let name = self.expand(name, false)?;
        self.builder.start(Kind::Element, Some(name), declared);
        for attribute in attributes {
            if declaration(attribute).is_none() {
                let name = self.expand(&attribute.0, true)?;
                self.builder.leaf(Kind::Attribute, Some(name), &attribute.1);
            }
        }
        Ok(())
    }

    fn expand(&self, name: &str, is_attribute: bool) -> Result<Name, String> {
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
        Ok(Name {
            prefix: prefix.into(),
            uri,
            local: local.into(),
        })
    }
}

/// A name in no namespace.
pub fn plain(name: &str) -> Name {
    Name {
        prefix: "".into(),
        uri: "".into(),
        local: name.into(),
    }
}

/// The namespace that an attribute declares.
fn declaration((name, value): &(String, String)) -> Option<Namespace> {
    match name.strip_prefix("xmlns")? {
        "" => Some(("".into(), value[..].into())),
        prefix => Some((prefix.strip_prefix(':')?.into(), value[..].into())),
    }
}
