//! Creation of lists, and slices of them.

use eval::ops::IntegerRange;
use eval::{Fault, NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult, checked_count, rstring};
use crate::function::entry::collection;
use crate::function::number::{NumericScalar, WideNumber, numeric};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    collection(
        "<numeric T> list<T> makeSequence(T val, int32 cnt)",
        "`cnt` numbers that begin with `val` and grow by 1.",
        |c| {
            numeric!(c.arg_type(0), T => {
                let start = T::from_value(c.arg(0)).widen();
                let number = |n: usize| T::narrow(start.add(WideNumber::from_i64(n as i64)));
                c.bounded_list(T::to_list((0..checked_count(c.int32(1))?).map(number).collect()))
            })
        },
    ),
    collection(
        "<numeric T> list<T> makeSequence(T val, int32 cnt, T step)",
        "`cnt` numbers that begin with `val` and grow by `step`.",
        |c| {
            numeric!(c.arg_type(0), T => {
                let step = T::from_value(c.arg(2)).widen();
                let next = |number: &T| Some(T::narrow(number.widen().add(step)));
                let numbers = std::iter::successors(Some(T::from_value(c.arg(0))), next);
                c.bounded_list(T::to_list(numbers.take(checked_count(c.int32(1))?).collect()))
            })
        },
    ),
    collection(
        "<string T> list<T> makeSequence(T val, int32 cnt)",
        "`cnt` strings: `val` with 0, 1, 2 and so on appended.",
        |c| {
            let room = c.capacity(0);
            let numbered = |n: usize| match c.arg(0) {
                Value::UString(s) => {
                    let mut text = s.clone();
                    text.0.extend(n.to_string().encode_utf16());
                    Value::UString(text)
                }
                _ => {
                    let mut text = [c.bytes(0), n.to_string().as_bytes()].concat();
                    text.truncate(room);
                    rstring(text)
                }
            };
            c.bounded_list_from((0..checked_count(c.int32(1))?).map(numbered))
        },
    ),
    range(
        "list<int32> range(int32 limit)",
        "The numbers from 0 up to but not including `limit`.",
    ),
    range(
        "list<int32> range(int32 start, int32 limit)",
        "The numbers from `start` up to but not including `limit`.",
    ),
    range(
        "list<int32> range(int32 start, int32 limit, int32 step)",
        "The numbers from `start` in steps of `step`, before they reach `limit`; a negative step \
         counts down. Faults if the step is 0.",
    ),
    range(
        "<list T> list<int32> range(T l)",
        "The indexes of the list's elements.",
    ),
    collection(
        "<list T> T slice(T values, int32 from, int32 cnt, int32 skip, int32 tape)",
        "`cnt` runs of 1 + `tape` elements each, the first beginning at index `from`, with `skip` \
         elements left out after each run. A run that begins before index 0 counts but gives \
         nothing. Faults if `skip` or `tape` is negative.",
        |c| slice(c, c.int32(3), c.int32(4)),
    ),
    collection(
        "<list T> T slice(T values, int32 from, int32 cnt)",
        "`cnt` elements from index `from` on. Indexes below 0 count but give nothing.",
        |c| slice(c, 0, 0),
    ),
    collection(
        "<list T> T slice(T values, int32 from, int32 cnt, int32 skip)",
        "`cnt` elements from index `from` on, with `skip` elements left out after each. Indexes \
         below 0 count but give nothing. Faults if `skip` is negative.",
        |c| slice(c, c.int32(3), 0),
    ),
];

/// A prototype of `range`.
const fn range(prototype: &'static str, doc: &'static str) -> NativeFn {
    NativeFn {
        is_range: true,
        ..collection(prototype, doc, |c| {
            let args: Vec<&Value> = c.args.iter().map(|arg| &**arg).collect();
            let range = IntegerRange::from_args(&args)?;
            checked_count(i32::try_from(range.len()).unwrap_or(i32::MAX))?;
            c.bounded_list(List::Int32(range.numbers().collect()))
        })
    }
}

fn slice(c: &NativeCall<'_>, skip: i32, tape: i32) -> NativeResult {
    for (name, value) in [("skip", skip), ("tape", tape)] {
        if value < 0 {
            return Err(Fault::value(format!(
                "slice: {name} is {value}, which is negative"
            )));
        }
    }
    let list = c.list(0);
    let (from, runs) = (i64::from(c.int32(1)), i64::from(c.int32(2)));
    let (run, period) = (1 + i64::from(tape), 1 + i64::from(tape) + i64::from(skip));
    // Runs that begin before index 0 take no time, however many there are.
    let before = if from < 0 {
        (-from + period - 1) / period
    } else {
        0
    };
    let mut slice = list.new_same_type();
    for n in before..runs {
        let start = from + n * period;
        if start >= list.len() as i64 {
            break;
        }
        slice.extend_from_range(list, start as usize, (start + run) as usize);
    }
    c.bounded_list(slice)
}
