//! Evaluation of a path on the tree, from the element of a trigger.

use std::borrow::Cow;
use std::convert::Infallible;

use super::alternative::{PathAlternative, PathStep, PathTail};
use super::name_matching::NameMatching;
use super::xml_path::XmlPath;
use crate::step::{XPathAxis, filter, nodes_along};
use crate::tree::{XmlNodeKind, XmlNodeRef};

/// One find of a path.
#[derive(Clone, Debug)]
pub enum SelectedNode<'t> {
    /// An element of the tree.
    Element(XmlNodeRef<'t>),
    /// The own text of an element, or the value of an attribute.
    Text(Cow<'t, str>),
}

impl XmlPath {
    /// All finds of the path from an element, in the order of the document. An element without own
    /// text has no `text()`. Two alternatives that find one node give it twice.
    pub fn select<'t>(&self, from: XmlNodeRef<'t>, names: NameMatching) -> Vec<SelectedNode<'t>> {
        let mut selected = Vec::new();
        if let [only] = &self.alternatives[..] {
            for element in only.elements(from, names) {
                select_tail(element, &only.tail, names, &mut selected);
            }
            return selected;
        }
        let mut ends = Vec::new();
        for alternative in &self.alternatives {
            let elements = alternative.elements(from, names).into_iter();
            ends.extend(elements.map(|element| (element, &alternative.tail)));
        }
        // The sort is stable: at one element the alternatives stay in their order.
        ends.sort_by_key(|(element, _)| element.index());
        for (element, tail) in ends {
            select_tail(element, tail, names, &mut selected);
        }
        selected
    }
}

impl PathAlternative {
    /// The elements that the steps lead to, in the order of the document, each once.
    fn elements<'t>(&self, from: XmlNodeRef<'t>, names: NameMatching) -> Vec<XmlNodeRef<'t>> {
        let mut elements = vec![from];
        for step in &self.steps {
            if step.is_deep {
                elements = with_descendants(&elements);
            }
            let children = elements.iter();
            let mut children: Vec<_> = children
                .flat_map(|element| step.matching_children(*element, names))
                .collect();
            // Children of nested elements are found out of order.
            children.sort_unstable_by_key(|child| child.index());
            elements = children;
        }
        match self.is_deep {
            true => with_descendants(&elements),
            false => elements,
        }
    }
}

/// Elements with all that are below them; both in the order of the document, each once.
fn with_descendants<'t>(elements: &[XmlNodeRef<'t>]) -> Vec<XmlNodeRef<'t>> {
    let mut all = Vec::new();
    let mut end = 0;
    for element in elements {
        if element.index() >= end {
            end = element.end();
            all.extend(nodes_along(
                XPathAxis::DescendantOrSelf,
                *element,
                is_element,
            ));
        }
    }
    all
}

fn is_element(node: XmlNodeRef<'_>) -> bool {
    node.kind() == XmlNodeKind::Element
}

impl PathStep {
    /// The children of an element that the step leads to.
    fn matching_children<'t>(
        &self,
        of: XmlNodeRef<'t>,
        names: NameMatching,
    ) -> Vec<XmlNodeRef<'t>> {
        let named = nodes_along(XPathAxis::Child, of, |child| {
            is_element(child) && self.matches_name(child.name(), names)
        });
        let holds = filter(
            named,
            &self.conditions,
            |condition, child, position, count| {
                Ok::<_, Infallible>(condition.holds(*child, (position, count), names))
            },
        );
        match holds {
            Ok(children) => children,
            Err(never) => match never {},
        }
    }
}

fn select_tail<'t>(
    of: XmlNodeRef<'t>,
    tail: &PathTail,
    names: NameMatching,
    selected: &mut Vec<SelectedNode<'t>>,
) {
    match tail {
        PathTail::Element | PathTail::Attributes => selected.push(SelectedNode::Element(of)),
        PathTail::Text => {
            let text = of.own_text();
            if !text.is_empty() {
                selected.push(SelectedNode::Text(text));
            }
        }
        PathTail::Attribute(wanted) => {
            let mut named = of.attributes();
            let found = named.find(|attribute| names.matches(wanted, attribute.name()));
            let value = found.map(|attribute| Cow::Borrowed(attribute.value()));
            selected.extend(value.map(SelectedNode::Text));
        }
    }
}
