//! Comparisons of values, of sequences, of nodes.

use std::cmp::Ordering;

use super::super::atomic_value::{AtomicType, AtomicValue};
use super::super::failure::QueryResult;
use super::super::focus::Focus;
use super::super::item::{Sequence, atomize_all, singleton};
use super::super::query::{ComparisonOp, QueryComparison, QueryExpr};
use super::evaluator::QueryEvaluator;

impl QueryEvaluator<'_> {
    pub(super) fn compare(
        &mut self,
        how: QueryComparison,
        [left, right]: &[QueryExpr; 2],
        focus: &Focus,
    ) -> QueryResult<Sequence> {
        let holds = match how {
            QueryComparison::General(order) => {
                let left = atomize_all(&self.eval(left, focus)?);
                let right = atomize_all(&self.eval(right, focus)?);
                Some(any_pair_satisfies(order, &left, &right)?)
            }
            QueryComparison::Value(order) => {
                let left = self.value(left, focus, "a comparison of values")?;
                let right = self.value(right, focus, "a comparison of values")?;
                match (left, right) {
                    (Some(a), Some(b)) => Some(satisfies(order, a.compare(&b)?)),
                    _ => None,
                }
            }
            QueryComparison::IsSameNode | QueryComparison::Precedes | QueryComparison::Follows => {
                match (self.node(left, focus)?, self.node(right, focus)?) {
                    (Some(a), Some(b)) => {
                        let wanted = match how {
                            QueryComparison::Precedes => Ordering::Less,
                            QueryComparison::Follows => Ordering::Greater,
                            _ => Ordering::Equal,
                        };
                        Some(a.document_position().cmp(&b.document_position()) == wanted)
                    }
                    _ => None,
                }
            }
        };
        Ok(holds.map_or(Vec::new(), |holds| singleton(AtomicValue::Boolean(holds))))
    }
}

/// Whether a comparison holds for some value of one side and some value of the other.
fn any_pair_satisfies(
    order: ComparisonOp,
    left: &[AtomicValue],
    right: &[AtomicValue],
) -> QueryResult<bool> {
    for a in left {
        for b in right {
            let (a, b) = (cast_untyped(a, b)?, cast_untyped(b, a)?);
            if satisfies(order, a.compare(&b)?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Casts an untyped value to the type of the value that it is compared with.
fn cast_untyped(value: &AtomicValue, other: &AtomicValue) -> QueryResult<AtomicValue> {
    match (value.ty(), other.ty()) {
        (AtomicType::Untyped, _) if other.is_number() => value.cast(AtomicType::Double),
        (AtomicType::Untyped, AtomicType::Boolean) => value.cast(AtomicType::Boolean),
        _ => Ok(value.clone()),
    }
}

fn satisfies(order: ComparisonOp, found: Option<Ordering>) -> bool {
    match (order, found) {
        (ComparisonOp::NotEqual, None) => true,
        (_, None) => false,
        (ComparisonOp::Equal, Some(found)) => found.is_eq(),
        (ComparisonOp::NotEqual, Some(found)) => found.is_ne(),
        (ComparisonOp::Less, Some(found)) => found.is_lt(),
        (ComparisonOp::LessEqual, Some(found)) => found.is_le(),
        (ComparisonOp::Greater, Some(found)) => found.is_gt(),
        (ComparisonOp::GreaterEqual, Some(found)) => found.is_ge(),
    }
}
