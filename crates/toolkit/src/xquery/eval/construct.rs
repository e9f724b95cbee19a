//! Elements, attributes and texts that a query makes.

use super::super::Outcome;
use super::super::item::{Item, Name, Node};
use super::super::query::{Element, Part};
use super::super::tree::{Builder, Kind};
use super::{Evaluator, Focus, failure};

impl Evaluator<'_> {
    pub(super) fn element(&mut self, element: &Element, focus: &Focus) -> Outcome<Node> {
        let mut builder = Builder::default();
        let name = Some(element.name.clone());
        builder.start(Kind::Element, name, element.namespaces.clone());
        for (name, parts) in &element.attributes {
            let value = self.text(parts, focus)?;
            attribute(&mut builder, name, &value)?;
        }
        for part in &element.content {
            match part {
                Part::Text(text) => builder.leaf(Kind::Text, None, text),
                Part::Expr(expr) => {
                    let items = self.eval(expr, focus)?;
                    content(&mut builder, &items)?;
                }
            }
        }
        builder.end();
        Ok(Node::root(builder.finish()))
    }

    /// An attribute, a text or a comment.
    pub(super) fn leaf(
        &mut self,
        kind: Kind,
        name: Option<&Name>,
        parts: &[Part],
        focus: &Focus,
    ) -> Outcome<Node> {
        let text = self.text(parts, focus)?;
        if kind == Kind::Comment && (text.contains("--") || text.ends_with('-')) {
            return Err(failure("`--` in a comment"));
        }
        let mut builder = Builder::default();
        builder.leaf(kind, name.cloned(), &text);
        Ok(Node::root(builder.finish()))
    }

    /// The text of parts: values with spaces between those of one expression.
    fn text(&mut self, parts: &[Part], focus: &Focus) -> Outcome<String> {
        let mut out = String::new();
        for part in parts {
            match part {
                Part::Text(text) => out += text,
                Part::Expr(expr) => {
                    let items = self.eval(expr, focus)?;
                    let texts: Vec<_> = items.iter().map(Item::text).collect();
                    out += &texts.join(" ");
                }
            }
        }
        Ok(out)
    }
}

/// Adds what an expression in an element gives: nodes as copies, values as text with spaces between them.
fn content(builder: &mut Builder, items: &[Item]) -> Outcome<()> {
    let mut is_behind_value = false;
    for item in items {
        match item {
            Item::Atomic(value) => {
                if is_behind_value {
                    builder.leaf(Kind::Text, None, " ");
                }
                builder.leaf(Kind::Text, None, &value.to_string());
            }
            Item::Node(node) if node.kind() == Kind::Attribute => {
                if builder.has_content() {
                    return Err(failure(
                        "an attribute stands behind contents of its element",
                    ));
                }
                let data = node.data();
                if let Some(name) = &data.name {
                    attribute(builder, name, &data.text)?;
                }
            }
            Item::Node(node) => builder.copy(node),
        }
        is_behind_value = matches!(item, Item::Atomic(_));
    }
    Ok(())
}

fn attribute(builder: &mut Builder, name: &Name, value: &str) -> Outcome<()> {
    if builder.has_attribute(name) {
        let name = name.shown();
        return Err(failure(format!(
            "an element has the attribute `{name}` twice"
        )));
    }
    builder.leaf(Kind::Attribute, Some(name.clone()), value);
    Ok(())
}
