//! Functions that sort, reverse, select, and compare element by element.

use std::cmp::Ordering;

use eval::{Fault, NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult, VOID};
use crate::function::entry::collection;

const COMPARE: &str = "For each element -1 if it is less than the other side, 0 if equal, 1 \
    otherwise; two lists up to the end of the shorter one.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    collection(
        "<ordered T> list<T> sort(list<T> values)",
        "The elements in ascending order, not-a-number last.",
        |c| {
            let mut list = c.list(0).clone();
            list.sort();
            c.bounded_list(list)
        },
    ),
    collection(
        "<ordered T> void sortM(mutable list<T> values)",
        "Puts the elements in ascending order, not-a-number last.",
        |c| {
            c.list_mut(0).sort();
            Ok(VOID)
        },
    ),
    collection(
        "<ordered T> list<uint32> sortIndices(list<T> values)",
        "The indexes of the elements in ascending order of the elements; equal ones in their \
         order.",
        |c| {
            let values: Vec<Value> = c.list(0).iter().collect();
            let mut indexes: Vec<u32> = (0..values.len() as u32).collect();
            indexes.sort_by(|&a, &b| values[a as usize].total_cmp(&values[b as usize]));
            c.bounded_list(List::Uint32(indexes))
        },
    ),
    collection(
        "<list T> T reverse(T values)",
        "The elements in reverse order.",
        |c| {
            let mut list = c.list(0).clone();
            list.reverse();
            c.bounded_list(list)
        },
    ),
    collection(
        "<list T> void reverseM(mutable T values)",
        "Puts the elements in reverse order.",
        |c| {
            c.list_mut(0).reverse();
            Ok(VOID)
        },
    ),
    collection(
        "<any T> list<T> at(list<T> values, list<uint32> idxs)",
        "The elements at these indexes, in the order of the indexes; indexes beyond the end are \
         left out.",
        |c| {
            let list = c.list(0);
            let indexes = c.list(1).as_slice::<u32>().unwrap_or_default();
            let mut chosen = list.new_same_type();
            chosen.extend(indexes.iter().filter_map(|&at| list.get(at as usize)));
            c.bounded_list(chosen)
        },
    ),
    collection(
        "<list T> T selectFromList(list<boolean> selector, T a, T b)",
        "The elements of `a` where the selector is true, of `b` where it is false. Faults unless \
         the three lists are equally long.",
        select,
    ),
    collection(
        "<ordered T> int32 lexicographicalCompare(list<T> values1, list<T> values2)",
        "-1 if the first list comes before the second in lexicographical order, 1 if after, 0 if \
         they are equal. A list comes before its extensions.",
        |c| {
            let (a, b) = (c.list(0), c.list(1));
            let unequal = a.iter().zip(b.iter()).map(|(a, b)| a.spl_cmp(&b));
            let decisive = unequal.flatten().find(|order| order.is_ne());
            let order = decisive.unwrap_or_else(|| a.len().cmp(&b.len()));
            Ok(Value::Int32(order as i32))
        },
    ),
    collection(
        "<ordered T> list<int32> pairwiseCompare(list<T> a, T b)",
        COMPARE,
        |c| compare(c, c.list(0).iter().map(|a| (a, c.arg(1).clone()))),
    ),
    collection(
        "<ordered T> list<int32> pairwiseCompare(T a, list<T> b)",
        COMPARE,
        |c| compare(c, c.list(1).iter().map(|b| (c.arg(0).clone(), b))),
    ),
    collection(
        "<ordered T> list<int32> pairwiseCompare(list<T> a, list<T> b)",
        COMPARE,
        |c| compare(c, c.list(0).iter().zip(c.list(1).iter())),
    ),
    collection(
        "<ordered T> list<T> pairwiseMin(list<T> a, list<T> b)",
        "The smaller one of each two elements, up to the end of the shorter list.",
        |c| choose(c, Ordering::is_le),
    ),
    collection(
        "<ordered T> list<T> pairwiseMax(list<T> a, list<T> b)",
        "The greater one of each two elements, up to the end of the shorter list.",
        |c| choose(c, Ordering::is_ge),
    ),
];

fn compare(c: &NativeCall<'_>, pairs: impl Iterator<Item = (Value, Value)>) -> NativeResult {
    // NaN is neither less nor equal, so the result is 1.
    let order = |(a, b): (Value, Value)| a.spl_cmp(&b).map_or(1, |order| order as i32);
    c.bounded_list(List::Int32(pairs.map(order).collect()))
}

fn choose(c: &mut NativeCall<'_>, first: fn(Ordering) -> bool) -> NativeResult {
    let better = |(a, b): (Value, Value)| {
        if a.spl_cmp(&b).is_some_and(first) {
            a
        } else {
            b
        }
    };
    c.bounded_list_from(c.list(0).iter().zip(c.list(1).iter()).map(better))
}

fn select(c: &mut NativeCall<'_>) -> NativeResult {
    let (a, b) = (c.list(1), c.list(2));
    let selector: &[bool] = c.list(0).as_slice().unwrap_or_default();
    if selector.len() != a.len() || selector.len() != b.len() {
        return Err(Fault::value(format!(
            "selectFromList needs lists of one length, not of {}, {} and {}",
            selector.len(),
            a.len(),
            b.len()
        )));
    }
    let chosen = selector
        .iter()
        .enumerate()
        .filter_map(|(at, first)| match first {
            true => a.get(at),
            false => b.get(at),
        });
    c.bounded_list_from(chosen)
}
