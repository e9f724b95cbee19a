//! Functions of numbers.

use super::super::Outcome;
use super::super::atomic::{Arithmetic, Atomic, Type, calculate};
use super::super::item::{Item, Sequence, at_most_one, atomics};
use super::{Function, failure, function, number, numeric, one, or_context};

pub(super) const FUNCTIONS: &[Function] = &[
    function("number", 0, 1, |focus, arguments| {
        let items = or_context(focus, arguments);
        let item = at_most_one(&items, "a number")?;
        let found = item.map_or(f64::NAN, |item| item.atomic().number());
        one(Atomic::Double(found))
    }),
    function("abs", 1, 1, |_, arguments| {
        rounded(&arguments, |n| n.checked_abs(), |n| n.abs(), f64::abs)
    }),
    function("floor", 1, 1, |_, arguments| {
        rounded(&arguments, Some, |n| n.floor(), f64::floor)
    }),
    function("ceiling", 1, 1, |_, arguments| {
        rounded(&arguments, Some, |n| n.ceil(), f64::ceil)
    }),
    function("round", 1, 1, |_, arguments| {
        // Halves go up, also below 0.
        let half = tuple::Decimal128::scaled(false, 5, -1);
        rounded(&arguments, Some, |n| (n + half).floor(), round)
    }),
    function("sum", 1, 2, |_, mut arguments| {
        let zero = match arguments.len() {
            1 => vec![Item::Atomic(Atomic::Integer(0))],
            _ => arguments.swap_remove(1),
        };
        match sum(&atomics(&arguments[0]))? {
            Some(sum) => one(sum),
            None => Ok(zero),
        }
    }),
    function("avg", 1, 1, |_, arguments| {
        let values = atomics(&arguments[0]);
        match sum(&values)? {
            Some(sum) => {
                let count = Atomic::Integer(values.len() as i64);
                one(calculate(Arithmetic::Divide, sum, count)?)
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

/// A function of one number, for each type of number.
fn rounded(
    arguments: &[Sequence],
    integer: impl Fn(i64) -> Option<i64>,
    decimal: impl Fn(tuple::Decimal128) -> tuple::Decimal128,
    double: impl Fn(f64) -> f64,
) -> Outcome<Sequence> {
    let Some(number) = number(arguments, 0)? else {
        return Ok(Vec::new());
    };
    one(match number {
        Atomic::Integer(n) => match integer(n) {
            Some(n) => Atomic::Integer(n),
            None => return Err(failure("a number is too large")),
        },
        Atomic::Decimal(n) => Atomic::Decimal(decimal(n)),
        other => Atomic::Double(double(other.number())),
    })
}

fn sum(values: &[Atomic]) -> Outcome<Option<Atomic>> {
    let mut sum = None;
    for value in values {
        let value = numeric(value)?;
        sum = Some(match sum {
            None => value,
            Some(sum) => calculate(Arithmetic::Add, sum, value)?,
        });
    }
    Ok(sum)
}

/// The smallest or the largest value; untyped ones are numbers. One that is none decides.
fn extreme(arguments: &[Sequence], is_largest: bool) -> Outcome<Sequence> {
    let mut found: Option<Atomic> = None;
    for value in atomics(&arguments[0]) {
        let value = match value.ty() {
            Type::Untyped => value.cast(Type::Double)?,
            _ => value,
        };
        let is_better = match &found {
            None => true,
            Some(best) => match value.order(best)? {
                Some(order) if is_largest => order.is_gt(),
                Some(order) => order.is_lt(),
                None => !best.number().is_nan(),
            },
        };
        if is_better {
            found = Some(value);
        }
    }
    Ok(found.into_iter().map(Item::Atomic).collect())
}
