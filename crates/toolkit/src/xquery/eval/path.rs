//! Paths: nodes along axes, and what predicates leave of them.

use super::super::QueryResult;
use super::super::item::{
    Item, Sequence, XmlNode, effective_boolean_value, in_document_order, nodes,
};
use super::super::query::{NodeTest, PathStart, QueryExpr, XPathAxis, XPathStep};
use super::super::xml_tree::XmlNodeKind;
use super::{Focus, QueryEvaluator, append, failure};

impl QueryEvaluator<'_> {
    pub(super) fn path(
        &mut self,
        start: PathStart,
        steps: &[XPathStep],
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let mut items = match (start, &focus.item) {
            (PathStart::Context, item) => vec![item.clone()],
            (PathStart::Root, Item::Node(node)) => vec![Item::Node(node.sibling(0))],
            (PathStart::Root, Item::Atomic(value)) => {
                return Err(failure(format!("`/`, and `{value}` is in no document")));
            }
        };
        for (at, step) in steps.iter().enumerate() {
            // A first expression may give values; from then on a step begins at nodes.
            if at > 0 || start == PathStart::Root || matches!(step, XPathStep::Axis(..)) {
                let begin = nodes(items, "a step of a path")?;
                items = begin.into_iter().map(Item::Node).collect();
            }
            items = self.step(items, step, focus, at == 0 && start == PathStart::Context)?;
        }
        Ok(items)
    }

    /// What a step gives for all items, in the order of the document.
    fn step(
        &mut self,
        items: Sequence,
        step: &XPathStep,
        outer: &Focus,
        is_first: bool,
    ) -> QueryResult<Sequence> {
        let count = items.len();
        let mut found = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let more = match step {
                XPathStep::Axis(axis, test, predicates) => match &item {
                    Item::Node(node) => self.filter(axis_matches(*axis, test, node), predicates)?,
                    Item::Atomic(_) => Vec::new(),
                },
                XPathStep::Expr(expr) if is_first => self.eval(expr, outer)?,
                XPathStep::Expr(expr) => {
                    let position = at + 1;
                    self.eval(
                        expr,
                        &Focus {
                            item,
                            position,
                            count,
                        },
                    )?
                }
            };
            append(&mut found, more)?;
        }
        match found.iter().any(|item| matches!(item, Item::Node(_))) {
            false => Ok(found),
            true if is_first && matches!(step, XPathStep::Expr(_)) => Ok(found),
            true => {
                let nodes = in_document_order(found, "a path with nodes")?;
                Ok(nodes.into_iter().map(Item::Node).collect())
            }
        }
    }

    /// The items for which all predicates hold: true, or the item's place.
    pub(super) fn filter(
        &mut self,
        mut items: Sequence,
        predicates: &[QueryExpr],
    ) -> QueryResult<Sequence> {
        for predicate in predicates {
            let count = items.len();
            let mut kept = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let position = at + 1;
                let focus = Focus {
                    item,
                    position,
                    count,
                };
                let verdict = self.eval(predicate, &focus)?;
                let holds = match &verdict[..] {
                    [Item::Atomic(value)] if value.is_number() => {
                        value.to_number() == position as f64
                    }
                    verdict => effective_boolean_value(verdict)?,
                };
                if holds {
                    kept.push(focus.item);
                }
            }
            items = kept;
        }
        Ok(items)
    }
}

/// The nodes along an axis that a test takes, nearest first.
fn axis_matches(axis: XPathAxis, test: &NodeTest, node: &XmlNode) -> Sequence {
    let principal = match axis {
        XPathAxis::Attribute => XmlNodeKind::Attribute,
        _ => XmlNodeKind::Element,
    };
    let found = axis_nodes(axis, node)
        .into_iter()
        .map(|at| node.sibling(at));
    found
        .filter(|node| test_matches(test, node, principal))
        .map(Item::Node)
        .collect()
}

fn axis_nodes(axis: XPathAxis, node: &XmlNode) -> Vec<u32> {
    let (at, end) = (node.index, node.record().end);
    match axis {
        XPathAxis::Itself => vec![at],
        XPathAxis::Child => children(node),
        XPathAxis::Attribute => {
            let below = at + 1..end;
            below
                .take_while(|&at| kind(node, at) == XmlNodeKind::Attribute)
                .collect()
        }
        XPathAxis::Descendant => descendants(node, at + 1, end),
        XPathAxis::DescendantOrSelf => {
            let mut all = vec![at];
            all.extend(descendants(node, at + 1, end));
            all
        }
        XPathAxis::Parent => node.record().parent.into_iter().collect(),
        XPathAxis::Ancestor => ancestors(node),
        XPathAxis::AncestorOrSelf => {
            let mut all = vec![at];
            all.extend(ancestors(node));
            all
        }
        XPathAxis::FollowingSibling => siblings(node).filter(|&other| other > at).collect(),
        XPathAxis::PrecedingSibling => {
            let mut before: Vec<_> = siblings(node).filter(|&other| other < at).collect();
            before.reverse();
            before
        }
        XPathAxis::Following => {
            // Below an attribute there is nothing, and what its element holds follows it.
            descendants(node, end, node.tree.nodes.len() as u32)
        }
        XPathAxis::Preceding => {
            let above = ancestors(node);
            let mut before = descendants(node, 0, at);
            before.retain(|at| !above.contains(at));
            before.reverse();
            before
        }
    }
}

fn kind(node: &XmlNode, at: u32) -> XmlNodeKind {
    node.tree.nodes[at as usize].kind
}

/// Nodes that are no attributes.
fn descendants(node: &XmlNode, from: u32, end: u32) -> Vec<u32> {
    let all = from..end;
    all.filter(|&at| kind(node, at) != XmlNodeKind::Attribute)
        .collect()
}

fn children(node: &XmlNode) -> Vec<u32> {
    let (mut at, end) = (node.index + 1, node.record().end);
    let mut found = Vec::new();
    while at < end {
        let data = &node.tree.nodes[at as usize];
        if data.kind != XmlNodeKind::Attribute {
            found.push(at);
        }
        at = data.end;
    }
    found
}

/// The parent, its parent and so on.
fn ancestors(node: &XmlNode) -> Vec<u32> {
    let up = |at: &u32| node.tree.nodes[*at as usize].parent;
    std::iter::successors(node.record().parent, up).collect()
}

/// The children of the parent; an attribute has no siblings.
fn siblings(node: &XmlNode) -> impl Iterator<Item = u32> {
    let parent = node
        .parent()
        .filter(|_| node.kind() != XmlNodeKind::Attribute);
    parent
        .iter()
        .flat_map(children)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a test takes a node; names are those of the axis' kind of nodes.
pub(super) fn test_matches(test: &NodeTest, node: &XmlNode, principal: XmlNodeKind) -> bool {
    let data = node.record();
    match test {
        NodeTest::Any => true,
        NodeTest::Kind(kind, name) => {
            data.kind == *kind && (name.is_none() || data.name.as_ref() == name.as_ref())
        }
        NodeTest::Name { uri, local } => {
            data.kind == principal
                && data.name.as_ref().is_some_and(|name| {
                    uri.as_ref().is_none_or(|uri| **uri == *name.uri)
                        && local.as_ref().is_none_or(|local| **local == *name.local)
                })
        }
    }
}
