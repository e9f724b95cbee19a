//! Functions of sequences.

use super::super::atomic_value::AtomicValue;
use super::super::failure::{QueryResult, failure};
use super::super::item::{Item, Sequence, atomize_all, effective_boolean_value};
use super::arguments::{double, first_or_context};
use super::results::{boolean, integer};
use super::xpath_function::{XPathFunction, function};

pub(super) const FUNCTIONS: &[XPathFunction] = &[
    function("count", 1, 1, |_, arguments| integer(arguments[0].len())),
    function("empty", 1, 1, |_, arguments| {
        boolean(arguments[0].is_empty())
    }),
    function("exists", 1, 1, |_, arguments| {
        boolean(!arguments[0].is_empty())
    }),
    function("boolean", 1, 1, |_, arguments| {
        boolean(effective_boolean_value(&arguments[0])?)
    }),
    function("not", 1, 1, |_, arguments| {
        boolean(!effective_boolean_value(&arguments[0])?)
    }),
    function("data", 0, 1, |focus, arguments| {
        let values = atomize_all(&first_or_context(focus, arguments));
        Ok(values.into_iter().map(Item::Atomic).collect())
    }),
    function("distinct-values", 1, 1, |_, arguments| {
        let mut found: Vec<AtomicValue> = Vec::new();
        for value in atomize_all(&arguments[0]) {
            if !found.iter().any(|known| is_same(known, &value)) {
                found.push(value);
            }
        }
        Ok(found.into_iter().map(Item::Atomic).collect())
    }),
    function("index-of", 2, 2, |_, arguments| {
        let [wanted] = &atomize_all(&arguments[1])[..] else {
            return Err(failure("`index-of` looks for one value"));
        };
        let values = atomize_all(&arguments[0]).into_iter().zip(1_i64..);
        let found = values.filter(|(value, _)| is_same(value, wanted));
        Ok(found
            .map(|(_, at)| Item::Atomic(AtomicValue::Integer(at)))
            .collect())
    }),
    function("reverse", 1, 1, |_, mut arguments| {
        arguments[0].reverse();
        Ok(first(arguments))
    }),
    function("head", 1, 1, |_, mut arguments| {
        arguments[0].truncate(1);
        Ok(first(arguments))
    }),
    function("tail", 1, 1, |_, arguments| {
        Ok(first(arguments).into_iter().skip(1).collect())
    }),
    function("subsequence", 2, 3, |_, arguments| {
        let range = position_range(&arguments)?;
        let items = first(arguments).into_iter().zip(1_u32..);
        let kept = items.filter(|(_, at)| range(f64::from(*at)));
        Ok(kept.map(|(item, _)| item).collect())
    }),
    function("remove", 2, 2, |_, arguments| {
        let place = double(&arguments, 1)?;
        let items = first(arguments).into_iter().zip(1_u32..);
        let kept = items.filter(|(_, at)| f64::from(*at) != place);
        Ok(kept.map(|(item, _)| item).collect())
    }),
    function("insert-before", 3, 3, |_, mut arguments| {
        let place = double(&arguments, 1)?.max(1.0) as usize - 1;
        let more = arguments.swap_remove(2);
        let mut items = first(arguments);
        let place = place.min(items.len());
        items.splice(place..place, more);
        Ok(items)
    }),
    function("exactly-one", 1, 1, |_, arguments| {
        check_cardinality(arguments, |count| count == 1, "one item")
    }),
    function("one-or-more", 1, 1, |_, arguments| {
        check_cardinality(arguments, |count| count > 0, "an item")
    }),
    function("zero-or-one", 1, 1, |_, arguments| {
        check_cardinality(arguments, |count| count < 2, "one item at most")
    }),
];

fn first(mut arguments: Vec<Sequence>) -> Sequence {
    arguments.swap_remove(0)
}

fn check_cardinality(
    arguments: Vec<Sequence>,
    is_right: impl Fn(usize) -> bool,
    wanted: &str,
) -> QueryResult<Sequence> {
    let count = arguments[0].len();
    match is_right(count) {
        true => Ok(first(arguments)),
        false => Err(failure(format!(
            "{wanted} is wanted, and there are {count}"
        ))),
    }
}

/// Whether two values are equal; values that cannot be compared are unequal.
fn is_same(a: &AtomicValue, b: &AtomicValue) -> bool {
    let is_nan = |value: &AtomicValue| value.is_number() && value.to_number().is_nan();
    match a.compare(b) {
        Ok(Some(order)) => order.is_eq(),
        Ok(None) => is_nan(a) && is_nan(b),
        Err(_) => false,
    }
}

/// Test of a position by the second and the third argument: a begin and a length, rounded.
pub(super) fn position_range(arguments: &[Sequence]) -> QueryResult<impl Fn(f64) -> bool + use<>> {
    let rounded = |n: f64| (n + 0.5).floor();
    let begin = rounded(double(arguments, 1)?);
    let end = match arguments.len() {
        3 => begin + rounded(double(arguments, 2)?),
        _ => f64::INFINITY,
    };
    Ok(move |place| place >= begin && place < end)
}
