//! Items as text: documents and elements as XML, everything else as its value.

use super::item::Item;
use crate::tree::{NamespaceBinding, XML_NAMESPACE, XmlName, XmlNodeKind, XmlNodeRef};

/// The text of an item.
pub fn serialize_item(item: &Item) -> String {
    match item {
        Item::Node(node) => {
            let node = node.as_ref();
            match node.kind() {
                XmlNodeKind::Document | XmlNodeKind::Element => {
                    let mut writer = XmlNodeWriter::default();
                    writer.write(node);
                    writer.out
                }
                _ => node.value().to_owned(),
            }
        }
        Item::Atomic(value) => value.to_string(),
    }
}

/// Writes a node with all below it. Open elements are kept in a list, so that depth costs no stack.
#[derive(Default)]
struct XmlNodeWriter {
    out: String,
    /// For each open element: its end, its name, and the length of `namespaces` before it.
    open: Vec<(u32, String, usize)>,
    /// Namespaces that are bound at the current position.
    namespaces: Vec<NamespaceBinding>,
}

impl XmlNodeWriter {
    fn write(&mut self, top: XmlNodeRef<'_>) {
        for index in top.index()..top.end() {
            self.close(index);
            let node = top.at(index);
            match node.kind() {
                XmlNodeKind::Document | XmlNodeKind::Attribute => {}
                XmlNodeKind::Element if index == top.index() => {
                    self.element(node, &node.namespaces_in_scope());
                }
                XmlNodeKind::Element => self.element(node, &node.record().namespaces),
                XmlNodeKind::Text => escape(node.value(), false, &mut self.out),
                XmlNodeKind::Comment => self.out += &format!("<!--{}-->", node.value()),
                XmlNodeKind::Instruction => self.out += &instruction(node),
            }
        }
        self.close(u32::MAX);
    }

    /// Closes the elements that end before an index.
    fn close(&mut self, at: u32) {
        while let Some((_, name, known)) = self.open.pop_if(|(end, ..)| *end <= at) {
            self.out += &format!("</{name}>");
            self.namespaces.truncate(known);
        }
    }

    fn element(&mut self, node: XmlNodeRef<'_>, declared: &[NamespaceBinding]) {
        let known = self.namespaces.len();
        let Some(name) = &node.record().name else {
            return;
        };
        self.out += &format!("<{}", name.written());
        for (prefix, uri) in declared {
            self.declare(prefix, uri);
        }
        self.declare(name.prefix(), name.uri());
        for attribute in node.attributes() {
            if let Some(name) = &attribute.record().name {
                self.declare_for_attribute(name);
            }
        }
        for attribute in node.attributes() {
            self.out += &format!(" {}=\"", attribute.name());
            escape(attribute.value(), true, &mut self.out);
            self.out.push('"');
        }
        if node.children().next().is_none() {
            self.out += "/>";
            self.namespaces.truncate(known);
        } else {
            self.out.push('>');
            let open = (node.end(), name.written().to_owned(), known);
            self.open.push(open);
        }
    }

    fn declare_for_attribute(&mut self, name: &XmlName) {
        if !name.prefix().is_empty() {
            self.declare(name.prefix(), name.uri());
        }
    }

    /// Declares a namespace unless it is known.
    fn declare(&mut self, prefix: &str, uri: &str) {
        let mut scope = self.namespaces.iter().rev();
        let known = scope.find(|(known, _)| **known == *prefix);
        let known = known.map_or("", |(_, uri)| uri);
        if known == uri || uri == XML_NAMESPACE {
            return;
        }
        self.out += match prefix {
            "" => " xmlns=\"",
            _ => " xmlns:",
        };
        if !prefix.is_empty() {
            self.out += &format!("{prefix}=\"");
        }
        escape(uri, true, &mut self.out);
        self.out.push('"');
        self.namespaces.push((prefix.into(), uri.into()));
    }
}

fn instruction(node: XmlNodeRef<'_>) -> String {
    let name = node.name();
    match node.value() {
        "" => format!("<?{name}?>"),
        text => format!("<?{name} {text}?>"),
    }
}

fn escape(text: &str, is_attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => *out += "&amp;",
            '<' => *out += "&lt;",
            '>' => *out += "&gt;",
            '"' if is_attribute => *out += "&quot;",
            '\n' if is_attribute => *out += "&#xA;",
            '\t' if is_attribute => *out += "&#x9;",
            '\r' => *out += "&#xD;",
            c => out.push(c),
        }
    }
}
