//! Functions of numbers.

use super::super::atomic_value::{ArithmeticOp, AtomicType, AtomicValue, calculate};
use super::super::failure::{QueryResult, failure};
use super::super::item::{Item, Sequence, at_most_one, atomize_all, singleton};
use super::arguments::{first_or_context, number, numeric};
use super::xpath_function::{XPathFunction, function};

pub(super) const FUNCTIONS: &[XPathFunction] = &[
    function("number", 0, 1, |focus, arguments| {
        let items = first_or_context(focus, arguments);
        let item = at_most_one(&items, "a number")?;
        let found = item.map_or(f64::NAN, |item| item.atomize().to_number());
        Ok(singleton(AtomicValue::Double(found)))
    }),
    function("abs", 1, 1, |_, arguments| {
        map_number(&arguments, |n| n.checked_abs(), |n| n.abs(), f64::abs)
    }),
    function("floor", 1, 1, |_, arguments| {
        map_number(&arguments, Some, |n| n.floor(), f64::floor)
    }),
    function("ceiling", 1, 1, |_, arguments| {
        map_number(&arguments, Some, |n| n.ceil(), f64::ceil)
    }),
    function("round", 1, 1, |_, arguments| {
        // Halves are rounded up, also below 0.
        let half = tuple::Decimal128::scaled(false, 5, -1);
        map_number(&arguments, Some, |n| (n + half).floor(), round)
    }),
    function("sum", 1, 2, |_, mut arguments| {
        let zero = match arguments.len() {
            1 => vec![Item::Atomic(AtomicValue::Integer(0))],
            _ => arguments.swap_remove(1),
        };
        match sum(&atomize_all(&arguments[0]))? {
            Some(sum) => Ok(singleton(sum)),
            None => Ok(zero),
        }
    }),
    function("avg", 1, 1, |_, arguments| {
        let values = atomize_all(&arguments[0]);
        match sum(&values)? {
            Some(sum) => {
                let count = AtomicValue::Integer(values.len() as i64);
                Ok(singleton(calculate(ArithmeticOp::Divide, sum, count)?))
            }
            None => Ok(Vec::new()),
        }
    }),
    function("min", 1, 1, |_, arguments| extreme(&arguments, false)),
    function("max", 1, 1, |_, arguments| extreme(&arguments, true)),
];

/// `f64::floor(n + 0.5)` would round up what lies just below a half.
fn round(n: f64) -> f64 {
    match (n - n.trunc()).abs() == 0.5 {
        true => n.ceil(),
        false => n.round(),
    }
}

/// Applies a function to one number, by its type.
fn map_number(
    arguments: &[Sequence],
    integer: impl Fn(i64) -> Option<i64>,
    decimal: impl Fn(tuple::Decimal128) -> tuple::Decimal128,
    double: impl Fn(f64) -> f64,
) -> QueryResult<Sequence> {
    let Some(number) = number(arguments, 0)? else {
        return Ok(Vec::new());
    };
    Ok(singleton(match number {
        AtomicValue::Integer(n) => match integer(n) {
            Some(n) => AtomicValue::Integer(n),
            None => return Err(failure("a number is too large")),
        },
        AtomicValue::Decimal(n) => AtomicValue::Decimal(decimal(n)),
        other => AtomicValue::Double(double(other.to_number())),
    }))
}

fn sum(values: &[AtomicValue]) -> QueryResult<Option<AtomicValue>> {
    let mut sum = None;
    for value in values {
        let value = numeric(value)?;
        sum = Some(match sum {
            None => value,
            Some(sum) => calculate(ArithmeticOp::Add, sum, value)?,
        });
    }
    Ok(sum)
}

/// The smallest or the largest value; untyped values are cast to numbers. If one is NaN, so is the
/// result.
fn extreme(arguments: &[Sequence], is_largest: bool) -> QueryResult<Sequence> {
    let mut found: Option<AtomicValue> = None;
    for value in atomize_all(&arguments[0]) {
        let value = match value.ty() {
            AtomicType::Untyped => value.cast(AtomicType::Double)?,
            _ => value,
        };
        let is_better = match &found {
            None => true,
            Some(best) => match value.compare(best)? {
                Some(order) if is_largest => order.is_gt(),
                Some(order) => order.is_lt(),
                None => !best.to_number().is_nan(),
            },
        };
        if is_better {
            found = Some(value);
        }
    }
    Ok(found.into_iter().map(Item::Atomic).collect())
}
