//! Searches in lists: `has` and the `find*` functions.
//!
//! Indexes count from 0; -1 stands for none. A start index below 0 counts as 0; a last index below
//! 0 finds nothing, one beyond the end counts as the last. Elements are compared as by `==`.

use eval::{NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::collection;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    collection(
        "<any T> boolean has(list<T> values, T item)",
        "Whether the list has the value as an element.",
        |c| {
            Ok(Value::Boolean(
                first(c.list(0), 0, equals(c.arg(1))).is_some(),
            ))
        },
    ),
    collection(
        "<any T> list<int32> find(list<T> values, T item)",
        "The indexes of the elements that equal the value.",
        |c| all_indexes(c, equals(c.arg(1))),
    ),
    collection(
        "<any T> list<int32> findOf(list<T> values, list<T> items)",
        "The indexes of the elements that equal one of the items.",
        |c| all_indexes(c, is_one_of(c.list(1))),
    ),
    collection(
        "<any T> list<int32> findNotOf(list<T> values, list<T> items)",
        "The indexes of the elements that equal none of the items.",
        |c| all_indexes(c, negate(is_one_of(c.list(1)))),
    ),
    collection(
        "<any T> int32 findFirst(list<T> values, T item, int32 sidx)",
        "Index of the first element, from `sidx` on, that equals the value; -1 if there is none.",
        |c| index(first(c.list(0), c.int32(2), equals(c.arg(1)))),
    ),
    collection(
        "<any T> int32 findFirst(list<T> values, T item)",
        "Index of the first element that equals the value; -1 if there is none.",
        |c| index(first(c.list(0), 0, equals(c.arg(1)))),
    ),
    collection(
        "<any T> int32 findFirst(list<T> values, list<T> items, int32 sidx)",
        "Index at which the first occurrence of the items in a row begins, from `sidx` on; -1 if \
         there is none.",
        |c| index(first_run(c.list(0), c.list(1), c.int32(2))),
    ),
    collection(
        "<any T> int32 findFirst(list<T> values, list<T> items)",
        "Index at which the first occurrence of the items in a row begins; -1 if there is none.",
        |c| index(first_run(c.list(0), c.list(1), 0)),
    ),
    collection(
        "<any T> int32 findLast(list<T> values, list<T> items, int32 lidx)",
        "Index at which the last occurrence of the items in a row begins that ends at `lidx` or \
         earlier; -1 if there is none.",
        |c| index(last_run(c.list(0), c.list(1), c.int32(2))),
    ),
    collection(
        "<any T> int32 findLast(list<T> values, T item, int32 lidx)",
        "Index of the last element, up to `lidx`, that equals the value; -1 if there is none.",
        |c| index(last(c.list(0), c.int32(2), equals(c.arg(1)))),
    ),
    collection(
        "<any T> int32 findFirstOf(list<T> values, list<T> items, int32 sidx)",
        "Index of the first element, from `sidx` on, that equals one of the items; -1 if there is \
         none.",
        |c| index(first(c.list(0), c.int32(2), is_one_of(c.list(1)))),
    ),
    collection(
        "<any T> int32 findFirstOf(list<T> values, list<T> items)",
        "Index of the first element that equals one of the items; -1 if there is none.",
        |c| index(first(c.list(0), 0, is_one_of(c.list(1)))),
    ),
    collection(
        "<any T> int32 findLastOf(list<T> values, list<T> items, int32 lidx)",
        "Index of the last element, up to `lidx`, that equals one of the items; -1 if there is \
         none.",
        |c| index(last(c.list(0), c.int32(2), is_one_of(c.list(1)))),
    ),
    collection(
        "<any T> int32 findFirstNotOf(list<T> values, list<T> items, int32 sidx)",
        "Index of the first element, from `sidx` on, that equals none of the items; -1 if all do.",
        |c| index(first(c.list(0), c.int32(2), negate(is_one_of(c.list(1))))),
    ),
    collection(
        "<any T> int32 findFirstNotOf(list<T> values, list<T> items)",
        "Index of the first element that equals none of the items; -1 if all do.",
        |c| index(first(c.list(0), 0, negate(is_one_of(c.list(1))))),
    ),
    collection(
        "<any T> int32 findLastNotOf(list<T> values, list<T> items, int32 lidx)",
        "Index of the last element, up to `lidx`, that equals none of the items; -1 if all do.",
        |c| index(last(c.list(0), c.int32(2), negate(is_one_of(c.list(1))))),
    ),
];

fn index(found: Option<usize>) -> NativeResult {
    Ok(Value::Int32(found.map_or(-1, |at| at as i32)))
}

fn equals(item: &Value) -> impl Fn(&Value) -> bool {
    move |x| x.spl_eq(item)
}

fn is_one_of(items: &List) -> impl Fn(&Value) -> bool {
    move |x| {
        matching_indexes(items, 0..items.len(), equals(x))
            .next()
            .is_some()
    }
}

fn negate(wanted: impl Fn(&Value) -> bool) -> impl Fn(&Value) -> bool {
    move |x| !wanted(x)
}

/// The indexes of a range whose elements are wanted.
fn matching_indexes(
    list: &List,
    range: impl Iterator<Item = usize>,
    wanted: impl Fn(&Value) -> bool,
) -> impl Iterator<Item = usize> {
    range.filter(move |&at| match list.get_ref(at) {
        Some(value) => wanted(value),
        None => list.get(at).is_some_and(|value| wanted(&value)),
    })
}

fn all_indexes(c: &NativeCall<'_>, wanted: impl Fn(&Value) -> bool) -> NativeResult {
    let list = c.list(0);
    let found = matching_indexes(list, 0..list.len(), wanted);
    c.bounded_list(List::Int32(found.map(|at| at as i32).collect()))
}

fn first(list: &List, from: i32, wanted: impl Fn(&Value) -> bool) -> Option<usize> {
    matching_indexes(list, from.max(0) as usize..list.len(), wanted).next()
}

fn last(list: &List, upto: i32, wanted: impl Fn(&Value) -> bool) -> Option<usize> {
    let end = usize::try_from(upto)
        .ok()?
        .saturating_add(1)
        .min(list.len());
    matching_indexes(list, (0..end).rev(), wanted).next()
}

fn first_run(list: &List, items: &List, from: i32) -> Option<usize> {
    let latest = list.len().checked_sub(items.len())?;
    // No run begins at the end, not even an empty one.
    let end = (latest + 1).min(list.len());
    (from.max(0) as usize..end).find(|&at| starts_with_at(list, at, items))
}

fn last_run(list: &List, items: &List, upto: i32) -> Option<usize> {
    let end = usize::try_from(upto)
        .ok()?
        .saturating_add(1)
        .min(list.len());
    let latest = end.checked_sub(items.len())?;
    let found = (0..=latest)
        .rev()
        .find(|&at| starts_with_at(list, at, items));
    found.filter(|_| !items.is_empty())
}

fn starts_with_at(list: &List, at: usize, items: &List) -> bool {
    let same = |(n, item): (usize, Value)| list.get(at + n).is_some_and(|x| x.spl_eq(&item));
    items.iter().enumerate().all(same)
}
