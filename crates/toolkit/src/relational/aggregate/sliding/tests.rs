//! After any additions and removals, each function gives the result of the function of its name
//! over the whole column, to the bit; functions of numbers that round, the result of the additions
//! in their order.

use std::collections::VecDeque;
use std::ops::Range;

use tuple::{Decimal64, List, Timestamp, Type, Value};

use super::blocks::BLOCK_ITEMS;
use super::sliding_function;
use crate::function::number::{NumericScalar, WideNumber, numeric};
use crate::relational::aggregate::column;
use crate::relational::aggregate::grouping::ColumnCall;
use crate::relational::aggregate::moments::Moments;
use crate::relational::aggregate::test_random::TestRandom;

/// Calls of all functions on an argument; a text says which is the second one.
pub fn functions(argument: &Type) -> Vec<ColumnCall> {
    let list = |of: &Type| Type::List(of.clone().into(), None);
    let (count, text) = (Type::Int32, Type::RString);
    let of_any = [
        ("Any", argument.clone()),
        ("First", argument.clone()),
        ("Last", argument.clone()),
        ("Collect", list(argument)),
        ("CollectDistinct", list(argument)),
        ("CountDistinct", count.clone()),
        ("CountByDistinct", list(&count)),
    ];
    let of_ordered = [
        ("Max", argument.clone()),
        ("Min", argument.clone()),
        ("MaxCount", count.clone()),
        ("MinCount", count.clone()),
        ("ArgMax", text.clone()),
        ("ArgMin", text.clone()),
        ("CollectArgMax", list(&text)),
        ("CollectArgMin", list(&text)),
    ];
    let of_numbers = ["Sum", "Average", "SampleStdDev", "PopulationStdDev"];
    let of_numbers = of_numbers.map(|name| (name, argument.clone()));
    let some = |is_so: bool, calls: &[(&'static str, Type)]| {
        if is_so { calls.to_vec() } else { Vec::new() }
    };
    let element = match argument {
        Type::List(element, _) => element,
        other => other,
    };
    let sums_texts = *argument == Type::RString;
    let calls = [
        of_any.to_vec(),
        some(argument.is_ordered(), &of_ordered),
        some(argument.is_list(), &of_ordered[..2]),
        some(element.is_numeric(), &of_numbers),
        some(sums_texts, &of_numbers[..1]),
    ];
    let call = |(name, result): (&str, Type)| ColumnCall {
        name: name.into(),
        arguments: vec![argument.clone(), Type::RString],
        result,
        function: column::column_function(name).expect(name),
        columns: Vec::new(),
    };
    calls.into_iter().flatten().map(call).collect()
}

/// Some values of a type, among them equal ones and special ones.
fn kinds() -> Vec<(Type, Vec<Value>)> {
    let decimal = |text: &str| Value::Decimal64(text.parse::<Decimal64>().expect("a decimal"));
    let time = |nanos, machine| {
        Value::Timestamp(Timestamp {
            seconds: 7,
            nanos,
            machine,
        })
    };
    let odd = f64::from_bits(f64::NAN.to_bits() | 1);
    let floats = [
        0.0,
        -0.0,
        0.1,
        0.2,
        -3.5,
        1e300,
        f64::INFINITY,
        f64::NAN,
        odd,
    ];
    let singles = [0.0, -0.0, 0.1, 7.25, f32::NEG_INFINITY, f32::NAN];
    let list = |numbers: [i64; 2]| Value::List(List::Int64(numbers.to_vec()));
    vec![
        (Type::Int8, [-128, 127, 0, 5].map(Value::Int8).to_vec()),
        (Type::Int32, (-9..9).map(Value::Int32).collect()),
        (
            Type::Int64,
            [i64::MIN, i64::MAX, -1, 4].map(Value::Int64).to_vec(),
        ),
        (Type::Uint64, [u64::MAX, 0, 1].map(Value::Uint64).to_vec()),
        (Type::Uint16, (0..500).map(Value::Uint16).collect()),
        (Type::Float64, floats.map(Value::Float64).to_vec()),
        (Type::Float32, singles.map(Value::Float32).to_vec()),
        (
            Type::Decimal64,
            ["1", "1.00", "-2.5", "nan", "0e3", "-0"]
                .map(decimal)
                .to_vec(),
        ),
        (
            Type::Complex64,
            [(1.0, 2.0), (0.5, -2.0)]
                .map(|(re, im)| Value::Complex64(re, im))
                .to_vec(),
        ),
        (
            Type::Timestamp,
            vec![time(1, 1), time(1, 2), time(5, 0), time(0, 9)],
        ),
        (Type::Boolean, [true, false].map(Value::Boolean).to_vec()),
        (
            Type::RString,
            ["", "a", "ab", "b"]
                .map(|text| Value::RString(text.into()))
                .to_vec(),
        ),
        (
            Type::List(Type::Int64.into(), None),
            [[1, -2], [i64::MAX, 0]].map(list).to_vec(),
        ),
    ]
}

/// Whether two values are the same to the bit: as a NaN or a zero shows its sign, and a NaN its
/// bits.
pub fn bits(value: &Value) -> String {
    match value {
        Value::Float32(x) => format!("{:08x}", x.to_bits()),
        Value::Float64(x) => format!("{:016x}", x.to_bits()),
        Value::Decimal64(x) => format!("{:?}", x.unpack()),
        Value::Timestamp(t) => format!("{} {} {}", t.seconds, t.nanos, t.machine),
        Value::List(list) => list.iter().map(|element| bits(&element) + ", ").collect(),
        other => format!("{other:?}"),
    }
}

/// The bits of a function's result. Rust leaves open which of two NaNs a sum becomes ("NaN bit
/// patterns" of `f64`): optimised code may add them in either order.
fn bits_of_result(function: &ColumnCall, value: &Value) -> String {
    match value {
        Value::Float32(x) if x.is_nan() && order_matters(function) => "NaN".to_owned(),
        Value::Float64(x) if x.is_nan() && order_matters(function) => "NaN".to_owned(),
        Value::List(list) => list
            .iter()
            .map(|element| bits_of_result(function, &element) + ", ")
            .collect(),
        other => bits(other),
    }
}

/// Whether sums of a type round.
fn rounds(ty: &Type) -> bool {
    ty.is_numeric() && !ty.is_integral()
}

/// Whether a function adds.
fn order_matters(function: &ColumnCall) -> bool {
    ["Sum", "Average", "SampleStdDev", "PopulationStdDev"].contains(&&*function.name)
}

/// Additions in the order of blocks, each time from the values alone.
#[derive(Default)]
struct AdditionOrder {
    /// All values since there was none, those that have left too.
    items: Vec<Value>,
    left: usize,
    flip: usize,
}

impl AdditionOrder {
    fn remove_oldest(&mut self) {
        self.left += 1;
        let end = self.items.len();
        if self.left == end {
            *self = AdditionOrder::default();
        } else if self.left >= self.flip {
            let filling = end / BLOCK_ITEMS * BLOCK_ITEMS;
            self.flip = if self.left >= filling { end } else { filling };
        }
    }

    /// The result of a function that rounds; `None` of others.
    fn result(&self, function: &ColumnCall) -> Option<Value> {
        let ty = &function.result;
        if !rounds(ty) || !order_matters(function) {
            return None;
        }
        let count = (self.items.len() - self.left) as i64;
        numeric!(ty, T => match &*function.name {
            "Sum" | "Average" => {
                let sum = self.fold::<T, <T as NumericScalar>::Wide>(|x| x, WideNumber::add, WideNumber::add);
                let divisor = if &*function.name == "Sum" { 1 } else { count };
                let sum = if divisor == 1 { sum } else { sum.div(WideNumber::from_i64(divisor)).unwrap() };
                Some(T::narrow(sum).to_value())
            }
            "SampleStdDev" | "PopulationStdDev" => {
                let moments = self.fold::<T, Moments<_>>(Moments::of, Moments::add, Moments::merge);
                let deviation = moments.deviation(i64::from(&*function.name == "SampleStdDev"));
                let deviation = deviation.map(|wide| T::narrow(wide).to_value());
                Some(deviation.unwrap_or_else(|| Value::default_of(ty)))
            }
            _ => None,
        })
    }

    fn fold<T: NumericScalar, A: Copy>(
        &self,
        of: impl Fn(T::Wide) -> A,
        add: impl Fn(A, T::Wide) -> A,
        merge: impl Fn(A, A) -> A,
    ) -> A {
        let number = |at: usize| T::from_value(&self.items[at]).widen();
        let (left, flip, end) = (self.left, self.flip, self.items.len());
        let from_left = |range: Range<usize>| {
            let first = range.clone().next().map(|at| of(number(at)));
            first.map(|first| range.skip(1).fold(first, |part, at| add(part, number(at))))
        };
        let block_end = |at: usize| (at / BLOCK_ITEMS + 1) * BLOCK_ITEMS;
        let blocks = |range: Range<usize>| {
            let starts = range
                .clone()
                .filter(move |at| *at == range.start || at % BLOCK_ITEMS == 0);
            starts.map(move |at| at..block_end(at)).collect::<Vec<_>>()
        };
        let front_end = block_end(left).min(flip).max(left);
        let front = (left..front_end).rev().map(|at| of(number(at)));
        let front = front.reduce(|later, one| merge(one, later));
        let rest = blocks(front_end..flip.max(front_end))
            .into_iter()
            .rev()
            .filter_map(from_left);
        let rest = rest.reduce(|later, one| merge(one, later));
        let begin = flip.max(left);
        let filling = (end / BLOCK_ITEMS * BLOCK_ITEMS).max(begin);
        let filled = blocks(begin..filling)
            .into_iter()
            .filter_map(from_left)
            .reduce(&merge);
        let parts = [front, rest, filled, from_left(filling..end)];
        parts.into_iter().flatten().reduce(merge).expect("an item")
    }
}

/// Adds and removes values at random, at most `most` of them, and compares results at every step.
fn agree(function: &ColumnCall, values: &[Value], most: usize, draw: &mut TestRandom) {
    let (mut running, mut there) = (sliding_function(function), VecDeque::new());
    let mut order = AdditionOrder::default();
    for turn in 0..300.max(2 * most) {
        if draw.below(100.max(2 * most)) == 0 {
            running.clear();
            there.clear();
            order = AdditionOrder::default();
        }
        while there.len() >= most || (!there.is_empty() && draw.below(3) == 0) {
            running.remove_oldest();
            there.pop_front();
            order.remove_oldest();
        }
        let value = values[draw.below(values.len())].clone();
        let other = Value::RString(format!("of {}", turn % 7).as_str().into());
        running.add(value.clone(), Some(other.clone()));
        there.push_back((value.clone(), other));
        order.items.push(value);
        let (values, others): (Vec<_>, Vec<_>) = there.iter().cloned().unzip();
        let values = List::from_values(&function.arguments[0], values);
        let others = List::from_values(&Type::RString, others);
        let whole = match order.result(function) {
            Some(result) => result,
            None => (function.function)(&values, &others, &function.result).expect("no fault"),
        };
        let result = running.result().expect("no fault");
        assert_eq!(
            bits_of_result(function, &result),
            bits_of_result(function, &whole),
            "{} of {values:?}",
            function.name
        );
    }
}

#[test]
fn a_window_that_slides_gives_what_its_whole_column_gives() {
    let mut draw = TestRandom::new(1);
    for (ty, values) in kinds() {
        for function in functions(&ty) {
            // Several blocks.
            let long = (rounds(&ty) && order_matters(&function)).then_some(700);
            for most in [1, 2, 5, 40, 150].into_iter().chain(long) {
                agree(&function, &values, most, &mut draw);
            }
        }
    }
}

#[test]
fn what_has_grown_for_many_shrinks_when_few_are_left() {
    let mut queue: VecDeque<u64> = (0..100_000).collect();
    while queue.len() > 10 {
        queue.pop_front();
        super::shrink_excess(&mut queue);
    }
    assert!(queue.capacity() <= 64, "{}", queue.capacity());
    assert_eq!(queue[0], 99_990);
}
