//! Evaluation of paths and filters.

use super::super::failure::{QueryResult, failure};
use super::super::focus::Focus;
use super::super::item::{Item, Sequence, effective_boolean_value, in_document_order, nodes};
use super::super::query::{NodeTest, PathStart, QueryExpr, XPathStep};
use super::super::xml_node::XmlNode;
use super::evaluator::QueryEvaluator;
use super::node_test::test_matches;
use super::sequence_limit::append;
use crate::step::{XPathAxis, filter, nodes_along};
use crate::tree::XmlNodeKind;

impl QueryEvaluator<'_> {
    pub(super) fn path(
        &mut self,
        start: PathStart,
        steps: &[XPathStep],
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let mut items = match (start, &focus.item) {
            (PathStart::Context, item) => vec![item.clone()],
            (PathStart::Root, Item::Node(node)) => vec![Item::Node(node.at(0))],
            (PathStart::Root, Item::Atomic(value)) => {
                return Err(failure(format!("`/`, and `{value}` is in no document")));
            }
        };
        for (at, step) in steps.iter().enumerate() {
            // A first expression may give values; all further steps begin at nodes.
            if at > 0 || start == PathStart::Root || matches!(step, XPathStep::Axis(..)) {
                let begin = nodes(items, "a step of a path")?;
                items = begin.into_iter().map(Item::Node).collect();
            }
            items = self.step(items, step, focus, at == 0 && start == PathStart::Context)?;
        }
        Ok(items)
    }

    /// Evaluates a step for all items; nodes are in the order of the document.
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

    /// The items for which all predicates are true, or a number equal to the item's position.
    pub(super) fn filter(
        &mut self,
        items: Sequence,
        predicates: &[QueryExpr],
    ) -> QueryResult<Sequence> {
        filter(items, predicates, |predicate, item, position, count| {
            let focus = Focus {
                item: item.clone(),
                position,
                count,
            };
            match &self.eval(predicate, &focus)?[..] {
                [Item::Atomic(value)] if value.is_number() => {
                    Ok(value.to_number() == position as f64)
                }
                values => effective_boolean_value(values),
            }
        })
    }
}

/// The nodes along an axis that pass a test, nearest first.
fn axis_matches(axis: XPathAxis, test: &NodeTest, node: &XmlNode) -> Sequence {
    let principal = match axis {
        XPathAxis::Attribute => XmlNodeKind::Attribute,
        _ => XmlNodeKind::Element,
    };
    let found = nodes_along(axis, node.as_ref(), |other| {
        test_matches(test, other, principal)
    });
    let found = found.into_iter().map(|other| node.at(other.index()));
    found.map(Item::Node).collect()
}
