//! Construction of elements, attributes, texts and comments.

use super::super::failure::{QueryResult, failure};
use super::super::focus::Focus;
use super::super::item::Item;
use super::super::query::{ConstructorPart, ElementConstructor};
use super::super::xml_node::XmlNode;
use super::evaluator::QueryEvaluator;
use crate::tree::{XmlName, XmlNodeKind, XmlTreeBuilder};

impl QueryEvaluator<'_> {
    pub(super) fn element(
        &mut self,
        element: &ElementConstructor,
        focus: &Focus,
    ) -> QueryResult<XmlNode> {
        let mut builder = XmlTreeBuilder::default();
        let name = Some(element.name.clone());
        builder.start(XmlNodeKind::Element, name, element.namespaces.clone());
        for (name, parts) in &element.attributes {
            let value = self.text(parts, focus)?;
            attribute(&mut builder, name, &value)?;
        }
        for part in &element.content {
            match part {
                ConstructorPart::Text(text) => builder.leaf(XmlNodeKind::Text, None, text),
                ConstructorPart::Expr(expr) => {
                    let items = self.eval(expr, focus)?;
                    content(&mut builder, &items)?;
                }
            }
        }
        builder.end();
        Ok(XmlNode::root(builder.finish()))
    }

    /// Constructs an attribute, a text or a comment.
    pub(super) fn leaf(
        &mut self,
        kind: XmlNodeKind,
        name: Option<&XmlName>,
        parts: &[ConstructorPart],
        focus: &Focus,
    ) -> QueryResult<XmlNode> {
        let text = self.text(parts, focus)?;
        if kind == XmlNodeKind::Comment && (text.contains("--") || text.ends_with('-')) {
            return Err(failure("`--` in a comment"));
        }
        let mut builder = XmlTreeBuilder::default();
        builder.leaf(kind, name.cloned(), &text);
        Ok(XmlNode::root(builder.finish()))
    }

    /// The text of parts; values of one expression have spaces between them.
    fn text(&mut self, parts: &[ConstructorPart], focus: &Focus) -> QueryResult<String> {
        let mut out = String::new();
        for part in parts {
            match part {
                ConstructorPart::Text(text) => out += text,
                ConstructorPart::Expr(expr) => {
                    let items = self.eval(expr, focus)?;
                    let texts: Vec<_> = items.iter().map(Item::text).collect();
                    out += &texts.join(" ");
                }
            }
        }
        Ok(out)
    }
}

/// Adds the result of an expression to an element: nodes as copies, values as text with spaces
/// between them.
fn content(builder: &mut XmlTreeBuilder, items: &[Item]) -> QueryResult<()> {
    let mut is_behind_value = false;
    for item in items {
        match item {
            Item::Atomic(value) => {
                if is_behind_value {
                    builder.leaf(XmlNodeKind::Text, None, " ");
                }
                builder.leaf(XmlNodeKind::Text, None, &value.to_string());
            }
            Item::Node(node) if node.as_ref().kind() == XmlNodeKind::Attribute => {
                if builder.has_content() {
                    return Err(failure(
                        "an attribute stands behind contents of its element",
                    ));
                }
                let record = node.as_ref().record();
                if let Some(name) = &record.name {
                    attribute(builder, name, &record.text)?;
                }
            }
            Item::Node(node) => builder.copy(node.as_ref()),
        }
        is_behind_value = matches!(item, Item::Atomic(_));
    }
    Ok(())
}

fn attribute(builder: &mut XmlTreeBuilder, name: &XmlName, value: &str) -> QueryResult<()> {
    if builder.has_attribute(name) {
        let name = name.written();
        return Err(failure(format!(
            "an element has the attribute `{name}` twice"
        )));
    }
    builder.leaf(XmlNodeKind::Attribute, Some(name.clone()), value);
    Ok(())
}
