//! Functions of a list of numbers, or of ordered values.
//!
//! The result has the type of the elements: the average of integers is cut off, and a sum of
//! integers wraps around. The average and the deviation do not overflow on the way. Of an empty
//! list the result is the type's default value.

use std::cmp::Ordering;

use eval::{Fault, NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::math;
use crate::function::number::{NumericScalar, WideNumber, numeric, total};

const STDDEV: &str = "The standard deviation of a population, in the type of the elements; the \
    default value of an empty list.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    math(
        "<ordered T> T max(T v1, T v2)",
        "The greater one of two values.",
        |c| {
            let first = compares(c.arg(0), c.arg(1), Ordering::is_ge);
            Ok(c.arg(if first { 0 } else { 1 }).clone())
        },
    ),
    math(
        "<ordered T> T max(list<T> vals)",
        "The greatest element; the default value of an empty \
         list.",
        |c| extreme(c, Ordering::is_gt),
    ),
    math(
        "<ordered T> T min(T v1, T v2)",
        "The smaller one of two values.",
        |c| {
            let first = compares(c.arg(0), c.arg(1), Ordering::is_le);
            Ok(c.arg(if first { 0 } else { 1 }).clone())
        },
    ),
    math(
        "<ordered T> T min(list<T> vals)",
        "The smallest element; the default value of an empty \
         list.",
        |c| extreme(c, Ordering::is_lt),
    ),
    math(
        "<numeric T> T sum(list<T> vals)",
        "The sum of the elements, in their type; 0 of an empty \
         list.",
        |c| numeric!(c.element_type(0), T => Ok(T::narrow(total(numbers::<T>(c))).to_value())),
    ),
    math(
        "<numeric T> T avg(list<T> vals)",
        "The average of the elements, in their type; 0 of an \
         empty list.",
        |c| numeric!(c.element_type(0), T => Ok(average(numbers::<T>(c))?.to_value())),
    ),
    math(
        "<ordered T> T kthelem(list<T> vals, uint32 k)",
        "The element that would have index `k` if the list were sorted. Faults if there is none.",
        |c| {
            let k = c.uint32(1) as usize;
            let len = c.list(0).len();
            let found = ranked(c.list(0), k);
            found.ok_or_else(|| {
                Fault::value(format!(
                    "kthelem asks for index {k} of a list with {len} elements"
                ))
            })
        },
    ),
    math(
        "<ordered T> T median(list<T> vals)",
        "The middle element of the sorted list. If there are two, their average in the type of the \
         elements, or the second one if they are not numbers; the default value of an empty list.",
        median,
    ),
    math(
        "<numeric T> T stddev(list<T> vals, boolean sample)",
        "The standard deviation of a sample (dividing by one less than the length) or of a \
         population, in the type of the elements; the default value of an empty list.",
        |c| deviation(c, c.boolean(1)),
    ),
    math("<numeric T> T stddev(list<T> vals)", STDDEV, |c| {
        deviation(c, false)
    }),
];

fn numbers<'a, T: NumericScalar>(c: &'a NativeCall<'_>) -> &'a [T] {
    c.list(0).as_slice().unwrap_or_default()
}

fn average<T: NumericScalar>(numbers: &[T]) -> Result<T, Fault> {
    if numbers.is_empty() {
        return Ok(T::narrow(WideNumber::from_i64(0)));
    }
    Ok(T::narrow(
        total(numbers).div(WideNumber::from_i64(numbers.len() as i64))?,
    ))
}

fn deviation(c: &mut NativeCall<'_>, sample: bool) -> NativeResult {
    numeric!(c.element_type(0), T => {
        let numbers = numbers::<T>(c);
        if numbers.is_empty() {
            return Ok(Value::default_of(c.result_type()));
        }
        let mean = average(numbers)?.widen();
        let square = |x: &T| x.widen().sub(mean).mul(x.widen().sub(mean));
        let squares = numbers[1..].iter().fold(square(&numbers[0]), |sum, x| sum.add(square(x)));
        let count = numbers.len() as i64 - i64::from(sample);
        Ok(T::narrow(squares.div(WideNumber::from_i64(count))?.sqrt()).to_value())
    })
}

/// Whether two values are ordered so; never if one is not-a-number.
fn compares(a: &Value, b: &Value, wanted: fn(Ordering) -> bool) -> bool {
    a.spl_cmp(b).is_some_and(wanted)
}

/// The first element that no other surpasses.
fn extreme(c: &mut NativeCall<'_>, surpasses: fn(Ordering) -> bool) -> NativeResult {
    fn of<T: Copy + PartialOrd>(list: &[T], surpasses: fn(Ordering) -> bool) -> Option<T> {
        let better = |best: T, &x: &T| match x.partial_cmp(&best) {
            Some(order) if surpasses(order) => x,
            _ => best,
        };
        list.split_first()
            .map(|(first, rest)| rest.iter().fold(*first, better))
    }
    let best = match c.list(0) {
        List::Int32(v) => of(v, surpasses).map(Value::Int32),
        List::Int64(v) => of(v, surpasses).map(Value::Int64),
        List::Uint64(v) => of(v, surpasses).map(Value::Uint64),
        List::Float64(v) => of(v, surpasses).map(Value::Float64),
        List::Any(v) => {
            let better = |best, x| {
                if compares(x, best, surpasses) {
                    x
                } else {
                    best
                }
            };
            v.iter().reduce(better).cloned()
        }
        other => {
            let better = |best, x| {
                if compares(&x, &best, surpasses) {
                    x
                } else {
                    best
                }
            };
            other.iter().reduce(better)
        }
    };
    Ok(best.unwrap_or_else(|| Value::default_of(c.result_type())))
}

/// The element of a rank.
fn ranked(list: &List, rank: usize) -> Option<Value> {
    if rank >= list.len() {
        return None;
    }
    let mut values: Vec<Value> = list.iter().collect();
    let (_, value, _) = values.select_nth_unstable_by(rank, Value::total_cmp);
    Some(value.clone())
}

fn median(c: &mut NativeCall<'_>) -> NativeResult {
    let list = c.list(0);
    let middle = list.len() / 2;
    let Some(upper) = ranked(list, middle) else {
        return Ok(Value::default_of(c.result_type()));
    };
    let element = c.element_type(0);
    if list.len() % 2 == 1 || !element.is_numeric() {
        return Ok(upper);
    }
    let lower = ranked(list, middle - 1).unwrap_or_else(|| upper.clone());
    numeric!(element, T => {
        let sum = T::from_value(&lower).widen().add(T::from_value(&upper).widen());
        Ok(T::narrow(sum.div(WideNumber::from_i64(2))?).to_value())
    })
}
