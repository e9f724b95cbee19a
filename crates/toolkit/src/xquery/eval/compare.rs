//! Comparisons: of values, of some item with some other, of nodes.

use std::cmp::Ordering;

use super::super::Outcome;
use super::super::atomic::{Atomic, Type};
use super::super::item::{Sequence, atomics};
use super::super::query::{Comparison, Expr, Order};
use super::{Evaluator, Focus, one};

impl Evaluator<'_> {
    pub(super) fn compare(
        &mut self,
        how: Comparison,
        [left, right]: &[Expr; 2],
        focus: &Focus,
    ) -> Outcome<Sequence> {
        let holds = match how {
            Comparison::General(order) => {
                let left = atomics(&self.eval(left, focus)?);
                let right = atomics(&self.eval(right, focus)?);
                Some(some(order, &left, &right)?)
            }
            Comparison::Value(order) => {
                let left = self.value(left, focus, "a comparison of values")?;
                let right = self.value(right, focus, "a comparison of values")?;
                match (left, right) {
                    (Some(a), Some(b)) => Some(holds(order, a.order(&b)?)),
                    _ => None,
                }
            }
            Comparison::Same | Comparison::Before | Comparison::After => {
                match (self.node(left, focus)?, self.node(right, focus)?) {
                    (Some(a), Some(b)) => {
                        let wanted = match how {
                            Comparison::Before => Ordering::Less,
                            Comparison::After => Ordering::Greater,
                            _ => Ordering::Equal,
                        };
                        Some(a.place().cmp(&b.place()) == wanted)
                    }
                    _ => None,
                }
            }
        };
        Ok(holds.map_or(Vec::new(), |holds| one(Atomic::Boolean(holds))))
    }
}

/// Whether some value of one side and some value of the other compare so.
fn some(order: Order, left: &[Atomic], right: &[Atomic]) -> Outcome<bool> {
    for a in left {
        for b in right {
            let (a, b) = (alike(a, b)?, alike(b, a)?);
            if holds(order, a.order(&b)?) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// An untyped value as the type of what it is compared with.
fn alike(value: &Atomic, other: &Atomic) -> Outcome<Atomic> {
    match (value.ty(), other.ty()) {
        (Type::Untyped, _) if other.is_number() => value.cast(Type::Double),
        (Type::Untyped, Type::Boolean) => value.cast(Type::Boolean),
        _ => Ok(value.clone()),
    }
}

fn holds(order: Order, found: Option<Ordering>) -> bool {
    match (order, found) {
        (Order::NotEqual, None) => true,
        (_, None) => false,
        (Order::Equal, Some(found)) => found.is_eq(),
        (Order::NotEqual, Some(found)) => found.is_ne(),
        (Order::Less, Some(found)) => found.is_lt(),
        (Order::LessEqual, Some(found)) => found.is_le(),
        (Order::Greater, Some(found)) => found.is_gt(),
        (Order::GreaterEqual, Some(found)) => found.is_ge(),
    }
}
