//! Paths: nodes along axes, and what predicates leave of them.

use super::super::Outcome;
use super::super::item::{Item, Node, Sequence, nodes, ordered, truth};
use super::super::query::{Axis, Expr, Start, Step, Test};
use super::super::tree::Kind;
use super::{Evaluator, Focus, append, failure};

impl Evaluator<'_> {
    pub(super) fn path(
        &mut self,
        start: Start,
        steps: &[Step],
        focus: &Focus,
    ) -> Outcome<Sequence> {
        let mut items = match (start, &focus.item) {
            (Start::Context, item) => vec![item.clone()],
            (Start::Root, Item::Node(node)) => vec![Item::Node(node.sibling(0))],
            (Start::Root, Item::Atomic(value)) => {
                return Err(failure(format!("`/`, and `{value}` is in no document")));
            }
        };
        for (at, step) in steps.iter().enumerate() {
            // A first expression may give values; from then on a step begins at nodes.
            if at > 0 || start == Start::Root || matches!(step, Step::Axis(..)) {
                let begin = nodes(items, "a step of a path")?;
                items = begin.into_iter().map(Item::Node).collect();
            }
            items = self.step(items, step, focus, at == 0 && start == Start::Context)?;
        }
        Ok(items)
    }

    /// What a step gives for all items, in the order of the document.
    fn step(
        &mut self,
        items: Sequence,
        step: &Step,
        outer: &Focus,
        is_first: bool,
    ) -> Outcome<Sequence> {
        let count = items.len();
        let mut found = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let more = match step {
                Step::Axis(axis, test, predicates) => match &item {
                    Item::Node(node) => self.filter(along(*axis, test, node), predicates)?,
                    Item::Atomic(_) => Vec::new(),
                },
                Step::Expr(expr) if is_first => self.eval(expr, outer)?,
                Step::Expr(expr) => {
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
            true if is_first && matches!(step, Step::Expr(_)) => Ok(found),
            true => {
                let nodes = ordered(found, "a path with nodes")?;
                Ok(nodes.into_iter().map(Item::Node).collect())
            }
        }
    }

    /// The items for which all predicates hold: true, or the item's place.
    pub(super) fn filter(&mut self, mut items: Sequence, predicates: &[Expr]) -> Outcome<Sequence> {
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
                    [Item::Atomic(value)] if value.is_number() => value.number() == position as f64,
                    verdict => truth(verdict)?,
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
fn along(axis: Axis, test: &Test, node: &Node) -> Sequence {
    let principal = match axis {
        Axis::Attribute => Kind::Attribute,
        _ => Kind::Element,
    };
    let found = axis_nodes(axis, node)
        .into_iter()
        .map(|at| node.sibling(at));
    found
        .filter(|node| takes(test, node, principal))
        .map(Item::Node)
        .collect()
}

fn axis_nodes(axis: Axis, node: &Node) -> Vec<u32> {
    let (at, end) = (node.at, node.data().end);
    match axis {
        Axis::Itself => vec![at],
        Axis::Child => children(node),
        Axis::Attribute => {
            let below = at + 1..end;
            below
                .take_while(|&at| kind(node, at) == Kind::Attribute)
                .collect()
        }
        Axis::Descendant => below(node, at + 1, end),
        Axis::DescendantOrSelf => {
            let mut all = vec![at];
            all.extend(below(node, at + 1, end));
            all
        }
        Axis::Parent => node.data().parent.into_iter().collect(),
        Axis::Ancestor => ancestors(node),
        Axis::AncestorOrSelf => {
            let mut all = vec![at];
            all.extend(ancestors(node));
            all
        }
        Axis::FollowingSibling => siblings(node).filter(|&other| other > at).collect(),
        Axis::PrecedingSibling => {
            let mut before: Vec<_> = siblings(node).filter(|&other| other < at).collect();
            before.reverse();
            before
        }
        Axis::Following => {
            // Below an attribute there is nothing, and what its element holds follows it.
            below(node, end, node.tree.nodes.len() as u32)
        }
        Axis::Preceding => {
            let above = ancestors(node);
            let mut before = below(node, 0, at);
            before.retain(|at| !above.contains(at));
            before.reverse();
            before
        }
    }
}

fn kind(node: &Node, at: u32) -> Kind {
    node.tree.nodes[at as usize].kind
}

/// Nodes that are no attributes.
fn below(node: &Node, from: u32, end: u32) -> Vec<u32> {
    let all = from..end;
    all.filter(|&at| kind(node, at) != Kind::Attribute)
        .collect()
}

fn children(node: &Node) -> Vec<u32> {
    let (mut at, end) = (node.at + 1, node.data().end);
    let mut found = Vec::new();
    while at < end {
        let data = &node.tree.nodes[at as usize];
        if data.kind != Kind::Attribute {
            found.push(at);
        }
        at = data.end;
    }
    found
}

/// The parent, its parent and so on.
fn ancestors(node: &Node) -> Vec<u32> {
    let up = |at: &u32| node.tree.nodes[*at as usize].parent;
    std::iter::successors(node.data().parent, up).collect()
}

/// The children of the parent; an attribute has no siblings.
fn siblings(node: &Node) -> impl Iterator<Item = u32> {
    let parent = node.parent().filter(|_| node.kind() != Kind::Attribute);
    parent
        .iter()
        .flat_map(children)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a test takes a node; names are those of the axis' kind of nodes.
pub(super) fn takes(test: &Test, node: &Node, principal: Kind) -> bool {
    let data = node.data();
    match test {
        Test::Any => true,
        Test::Kind(kind, name) => {
            data.kind == *kind && (name.is_none() || data.name.as_ref() == name.as_ref())
        }
        Test::Name { uri, local } => {
            data.kind == principal
                && data.name.as_ref().is_some_and(|name| {
                    uri.as_ref().is_none_or(|uri| **uri == *name.uri)
                        && local.as_ref().is_none_or(|local| **local == *name.local)
                })
        }
    }
}
