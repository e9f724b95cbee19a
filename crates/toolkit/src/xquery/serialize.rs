//! Items as text: documents and elements as XML, everything else as its value.

use std::rc::Rc;

use super::item::{Item, XmlName, XmlNode};
use super::xml_tree::{NamespaceBinding, XML, XmlNodeKind, XmlNodeRecord};

/// The text of an item.
pub fn serialize_item(item: &Item) -> String {
    match item {
        Item::Node(node) if matches!(node.kind(), XmlNodeKind::Document | XmlNodeKind::Element) => {
            let mut writer = XmlNodeWriter::default();
            writer.write(node);
            writer.out
        }
        item => item.text(),
    }
}

/// Writes a node with all below it; what is open is kept here, so that depth costs no stack.
#[derive(Default)]
struct XmlNodeWriter {
    out: String,
    /// Where each open element ends, its name, and the length of `namespaces` before it.
    open: Vec<(u32, String, usize)>,
    /// What prefixes stand for where we are.
    namespaces: Vec<NamespaceBinding>,
}

impl XmlNodeWriter {
    fn write(&mut self, top: &XmlNode) {
        for at in top.index..top.record().end {
            self.close(at);
            let node = top.sibling(at);
            let data = node.record();
            match data.kind {
                XmlNodeKind::Document | XmlNodeKind::Attribute => {}
                XmlNodeKind::Element if at == top.index => {
                    self.element(&node, node.tree.in_scope(at))
                }
                XmlNodeKind::Element => self.element(&node, data.namespaces.clone()),
                XmlNodeKind::Text => escape(&data.text, false, &mut self.out),
                XmlNodeKind::Comment => self.out += &format!("<!--{}-->", data.text),
                XmlNodeKind::Instruction => self.out += &instruction(data),
            }
        }
        self.close(u32::MAX);
    }

    /// Closes what ends before a place.
    fn close(&mut self, at: u32) {
        while let Some((_, name, known)) = self.open.pop_if(|(end, ..)| *end <= at) {
            self.out += &format!("</{name}>");
            self.namespaces.truncate(known);
        }
    }

    fn element(&mut self, node: &XmlNode, declared: Vec<NamespaceBinding>) {
        let (data, known) = (node.record(), self.namespaces.len());
        let Some(name) = &data.name else { return };
        let shown = name.lexical_form();
        self.out += &format!("<{shown}");
        for (prefix, uri) in declared {
            self.declare(&prefix, &uri);
        }
        self.declare(&name.prefix, &name.uri);
        let attributes = attributes(node);
        for attribute in attributes.iter().filter_map(|data| data.name.as_ref()) {
            self.declare_for_attribute(attribute);
        }
        for data in &attributes {
            let name = data
                .name
                .as_ref()
                .map(XmlName::lexical_form)
                .unwrap_or_default();
            self.out += &format!(" {name}=\"");
            escape(&data.text, true, &mut self.out);
            self.out.push('"');
        }
        if data.end == node.index + 1 + attributes.len() as u32 {
            self.out += "/>";
            self.namespaces.truncate(known);
        } else {
            self.out.push('>');
            self.open.push((data.end, shown, known));
        }
    }

    fn declare_for_attribute(&mut self, name: &XmlName) {
        if !name.prefix.is_empty() {
            self.declare(&name.prefix, &name.uri);
        }
    }

    /// Declares a namespace unless it is known.
    fn declare(&mut self, prefix: &Rc<str>, uri: &Rc<str>) {
        let mut scope = self.namespaces.iter().rev();
        let known = scope.find(|(known, _)| known == prefix);
        let known = known.map_or("", |(_, uri)| uri);
        if known == &**uri || **uri == *XML {
            return;
        }
        self.out += match &**prefix {
            "" => " xmlns=\"",
            _ => " xmlns:",
        };
        if !prefix.is_empty() {
            self.out += &format!("{prefix}=\"");
        }
        escape(uri, true, &mut self.out);
        self.out.push('"');
        self.namespaces.push((Rc::clone(prefix), Rc::clone(uri)));
    }
}

/// The attributes of an element.
pub fn attributes(node: &XmlNode) -> Vec<&XmlNodeRecord> {
    let below = &node.tree.nodes[node.index as usize + 1..node.record().end as usize];
    below
        .iter()
        .take_while(|data| data.kind == XmlNodeKind::Attribute)
        .collect()
}

fn instruction(data: &XmlNodeRecord) -> String {
    let name = data
        .name
        .as_ref()
        .map(XmlName::lexical_form)
        .unwrap_or_default();
    match &data.text[..] {
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
