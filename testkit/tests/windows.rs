//! Windows of a number of tuples, and those that markers, timers and deltas flush, with partitions
//! and groups or without, against a naive list, interpreted and compiled.
//!
//! `THALWEG_WINDOWS` is the number of random windows, 200 by default.

#[path = "windows/sliding_partition.rs"]
mod sliding_partition;

use graph::{Expr, Partition, Policy, PortIndex, Pos, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{OperatorBuilder, TextHarness, exprs, window_case_count};
use tuple::{Decimal64, List, TupleType, Type, Value, text};

use self::sliding_partition::{SlidingPartition, sum};

/// A tuple of the windows' stream.
#[derive(Clone, Debug)]
struct Trade {
    id: i64,
    symbol: String,
    price: f64,
    size: i32,
}

fn schema() -> [(&'static str, Type); 6] {
    [
        ("id", Type::Int64),
        ("symbol", Type::RString),
        ("price", Type::Float64),
        ("size", Type::Int32),
        ("wide", Type::Uint64),
        ("exact", Type::Decimal64),
    ]
}

fn attribute(at: usize) -> Expr {
    let (_, ty) = &schema()[at];
    exprs::attribute(PortIndex(0), at as u32, ty.clone())
}

impl Trade {
    fn to_value(&self) -> Value {
        let symbol = Value::RString(self.symbol.as_str().into());
        let (id, price, size) = (self.id, self.price, self.size);
        let values = [
            Value::Int64(id),
            symbol,
            Value::Float64(price),
            Value::Int32(size),
            Value::Uint64(id as u64),
            Value::Decimal64(Decimal64::from_i64(size.into())),
        ];
        Value::Tuple(values.into())
    }

    /// Texts that differ where the partition keys of these attributes do.
    fn key(&self, by: &[usize]) -> Vec<String> {
        let price = match self.price {
            price if price.is_nan() => "nan".to_owned(),
            price => (price + 0.0).to_string(),
        };
        let parts = [
            self.id.to_string(),
            self.symbol.clone(),
            price,
            self.size.to_string(),
        ];
        by.iter().map(|&at| parts[at].clone()).collect()
    }
}

/// Results of a window: name, output function, arguments, type.
fn results(functions: Functions) -> Vec<(&'static str, &'static str, Vec<Expr>, Type)> {
    if functions == Functions::OfTumbling {
        return further_results();
    }
    let (id, price, size) = (attribute(0), attribute(2), attribute(3));
    let wide = cast(&id, Type::Uint64);
    vec![
        ("symbol", "Last", vec![attribute(1)], Type::RString),
        ("count", "Count", vec![], Type::Int32),
        ("all", "CountAll", vec![], Type::Int32),
        ("groups", "CountGroups", vec![], Type::Int32),
        ("total", "Sum", vec![id.clone()], Type::Int64),
        ("mean", "Average", vec![price.clone()], Type::Float64),
        ("meanSize", "Average", vec![size.clone()], Type::Int32),
        ("highest", "Max", vec![price.clone()], Type::Float64),
        ("lowest", "Min", vec![size.clone()], Type::Int32),
        ("first", "First", vec![size], Type::Int32),
        (
            "idOfHighest",
            "ArgMax",
            vec![price, id.clone()],
            Type::Int64,
        ),
        ("meanId", "Average", vec![id], Type::Int64),
        ("meanWide", "Average", vec![wide], Type::Uint64),
    ]
}

/// Results that sliding windows do not compute in statements.
fn further_results() -> Vec<(&'static str, &'static str, Vec<Expr>, Type)> {
    let [id, symbol, price, size] = [0, 1, 2, 3].map(attribute);
    let exact = cast(&size, Type::Decimal64);
    let named = exprs::expr(
        graph::ExprKind::Tuple(vec![id, symbol.clone()]),
        named_type(),
    );
    let list = |element: Type| Type::List(element.into(), None);
    vec![
        ("sizes", "Collect", vec![size.clone()], list(Type::Int32)),
        (
            "symbols",
            "CollectDistinct",
            vec![symbol.clone()],
            list(Type::RString),
        ),
        (
            "prices",
            "CollectDistinct",
            vec![price.clone()],
            list(Type::Float64),
        ),
        (
            "highestTrades",
            "CollectArgMax",
            vec![price.clone(), named],
            list(named_type()),
        ),
        (
            "symbolsOfLowest",
            "CollectArgMin",
            vec![size.clone(), symbol.clone()],
            list(Type::RString),
        ),
        ("ofHighest", "MaxCount", vec![price.clone()], Type::Int32),
        ("ofLowest", "MinCount", vec![size.clone()], Type::Int32),
        ("last", "Max", vec![symbol.clone()], Type::RString),
        ("first", "Min", vec![symbol], Type::RString),
        ("exact", "Sum", vec![exact.clone()], Type::Decimal64),
        ("exactMean", "Average", vec![exact.clone()], Type::Decimal64),
        ("exactHighest", "Max", vec![exact], Type::Decimal64),
    ]
}

/// Type of a trade's id and symbol.
fn named_type() -> Type {
    let attributes = [("id", Type::Int64), ("symbol", Type::RString)];
    Type::Tuple(TupleType::new(attributes).into())
}

/// The values without those that equal one before them, as a list of a type.
fn distinct(values: impl Iterator<Item = Value>, element: &Type) -> Value {
    let set: tuple::Set = values.collect();
    Value::List(List::from_values(element, set.iter().cloned()))
}

/// The values of [`further_results`], computed by the definition of each function.
fn expected_further(window: &[&Trade]) -> Vec<Value> {
    let first = window[0].price;
    let highest = window[1..]
        .iter()
        .fold(first, |best, trade| match trade.price {
            price if price > best => price,
            _ => best,
        });
    let lowest = window.iter().map(|trade| trade.size).min().unwrap();
    let count = |holds: &dyn Fn(&Trade) -> bool| {
        Value::Int32(window.iter().filter(|trade| holds(trade)).count() as i32)
    };
    let symbols = window.iter().map(|trade| trade.symbol.as_str());
    let sizes = window.iter().map(|trade| i64::from(trade.size));
    let sum = Decimal64::from_i64(sizes.clone().sum());
    let symbol = |trade: &&Trade| Value::RString(trade.symbol.as_str().into());
    let highest_trades = window.iter().filter(|trade| trade.price == highest);
    let named = |trade: &&Trade| Value::Tuple([Value::Int64(trade.id), symbol(trade)].into());
    let of_lowest = window.iter().filter(|trade| trade.size == lowest);
    vec![
        Value::List(List::Int32(window.iter().map(|trade| trade.size).collect())),
        distinct(window.iter().map(symbol), &Type::RString),
        distinct(
            window.iter().map(|trade| Value::Float64(trade.price)),
            &Type::Float64,
        ),
        distinct(highest_trades.map(named), &named_type()),
        distinct(of_lowest.map(symbol), &Type::RString),
        count(&|trade| trade.price == highest),
        count(&|trade| trade.size == lowest),
        Value::RString(symbols.clone().max().unwrap().into()),
        Value::RString(symbols.min().unwrap().into()),
        Value::Decimal64(sum),
        Value::Decimal64(sum / Decimal64::from_i64(window.len() as i64)),
        Value::Decimal64(Decimal64::from_i64(sizes.max().unwrap())),
    ]
}

/// Output functions that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Functions {
    OfAll,
    OfTumbling,
}

fn cast(value: &Expr, ty: Type) -> Expr {
    exprs::expr(graph::ExprKind::Cast(Box::new(value.clone())), ty)
}

/// The results of the trades of one group of a window, computed by the definition of each function
/// but for the sum of prices, whose order of additions is the window's. `CountAll` and
/// `CountGroups` are given.
fn expected_results(window: &[&Trade], prices: f64, all: usize, groups: usize) -> Vec<Value> {
    let last = window[window.len() - 1];
    let best = |is_better: &dyn Fn(&Trade, &Trade) -> bool| {
        let better = |best, &trade| if is_better(trade, best) { trade } else { best };
        window.iter().fold(window[0], better)
    };
    // A NaN is the extreme while it is the oldest, and is ignored otherwise.
    let highest = best(&|a, b| a.price > b.price);
    let sizes: i64 = window.iter().map(|trade| i64::from(trade.size)).sum();
    let ids = window
        .iter()
        .fold(0_i64, |sum, trade| sum.wrapping_add(trade.id));
    vec![
        Value::RString(last.symbol.as_str().into()),
        Value::Int32(window.len() as i32),
        Value::Int32(all as i32),
        Value::Int32(groups as i32),
        Value::Int64(ids),
        Value::Float64(prices / window.len() as f64),
        Value::Int32((sizes / window.len() as i64) as i32),
        Value::Float64(highest.price),
        Value::Int32(best(&|a, b| a.size < b.size).size),
        Value::Int32(window[0].size),
        Value::Int64(highest.id),
        Value::Int64(mean(window.iter().map(|trade| trade.id.into()))),
        Value::Uint64(mean(window.iter().map(|trade| (trade.id as u64).into()))),
    ]
}

/// Text of an output tuple with these results of a window.
fn output_text(functions: Functions, mut values: Vec<Value>, window: &[&Trade]) -> String {
    let last = window[window.len() - 1];
    values.push(Value::Float64(last.price));
    values.push(Value::RString(last.symbol.as_str().into()));
    let tuple = Value::Tuple(values.into());
    format!("0 {}", text::to_text(&tuple, &output_type(functions)))
}

/// Attributes of the output: the results, and two that the last tuple has.
fn output(functions: Functions) -> Vec<(&'static str, Type)> {
    let results = results(functions).into_iter();
    let names = results.map(|(name, .., ty)| (name, ty));
    let last = [("lastPrice", Type::Float64), ("lastSymbol", Type::RString)];
    names.chain(last).collect()
}

fn output_type(functions: Functions) -> Type {
    Type::Tuple(TupleType::new(output(functions)).into())
}

/// The results of a window's groups, in the order of their first trades.
fn expected_groups(window: &[&Trade], by: &[usize], functions: Functions) -> Vec<String> {
    let mut groups: Vec<(Vec<String>, Vec<&Trade>)> = Vec::new();
    for trade in window {
        let key = trade.key(by);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, trades)) => trades.push(trade),
            None => groups.push((key, vec![trade])),
        }
    }
    let text = |(_, trades): &(Vec<String>, Vec<&Trade>)| {
        let prices = sum(trades.iter().map(|trade| trade.price)).unwrap_or_default();
        let values = match functions {
            Functions::OfAll => expected_results(trades, prices, window.len(), groups.len()),
            Functions::OfTumbling => expected_further(trades),
        };
        output_text(functions, values, trades)
    };
    groups.iter().map(text).collect()
}

/// Policy that flushes a tumbling window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    Count(usize),
    /// A window marker, which follows each trade whose number the step divides, and another one
    /// behind some of them.
    Marker(usize),
    /// A timer, which fires where a marker would follow.
    Timer(usize),
    /// A trade whose attribute is above that of the first by more than an amount.
    Delta(usize, u8),
}

impl Flush {
    /// Number of window markers, or firings of the timer, that follow a trade.
    fn signals_behind(self, number: usize) -> usize {
        match self {
            Flush::Marker(step) | Flush::Timer(step) if number.is_multiple_of(step) => {
                1 + number / step % 3 / 2
            }
            _ => 0,
        }
    }

    /// Whether a trade flushes the window that begins with another one.
    fn is_flushed_by(self, new: &Trade, first: &Trade) -> bool {
        let Flush::Delta(attribute, amount) = self else {
            return false;
        };
        let moved = |new: i128, old: i128| new - old > amount.into();
        match attribute {
            0 => moved(new.id.into(), first.id.into()),
            2 => new.price - first.price > amount.into(),
            4 => moved((new.id as u64).into(), (first.id as u64).into()),
            _ => moved(new.size.into(), first.size.into()),
        }
    }

    fn policy(self) -> Policy {
        match self {
            Flush::Count(size) => Policy::Count(size as u32),
            Flush::Marker(_) => Policy::Punct,
            Flush::Timer(_) => Policy::Time(1e9),
            Flush::Delta(attribute, amount) => Policy::Delta(
                attribute as u32,
                match schema()[attribute].1 {
                    Type::Int64 => Value::Int64(amount.into()),
                    Type::Float64 => Value::Float64(amount.into()),
                    Type::Int32 => Value::Int32(amount.into()),
                    Type::Uint64 => Value::Uint64(amount.into()),
                    _ => Value::Decimal64(Decimal64::from_i64(amount.into())),
                },
            ),
        }
    }
}

/// Submissions of an Aggregate by a naive list, as the harness writes them.
fn expected(
    trades: &[Trade],
    by: &[usize],
    groups: &[usize],
    (flush, functions): (Flush, Functions),
) -> Vec<String> {
    let mut windows: Vec<(Vec<String>, Vec<&Trade>)> = Vec::new();
    let mut submitted = Vec::new();
    for (number, trade) in trades.iter().enumerate() {
        let key = trade.key(by);
        let at = windows.iter().position(|(other, _)| *other == key);
        let at = at.unwrap_or_else(|| {
            windows.push((key, Vec::new()));
            windows.len() - 1
        });
        let window = &windows[at].1;
        if window
            .first()
            .is_some_and(|first| flush.is_flushed_by(trade, first))
        {
            submitted.extend(expected_groups(window, groups, functions));
            submitted.push("0 window".to_owned());
            windows[at].1.clear();
        }
        windows[at].1.push(trade);
        let is_full = matches!(flush, Flush::Count(size) if windows[at].1.len() == size);
        let signals = flush.signals_behind(number);
        let flushed = match (is_full, signals) {
            (true, _) => at..at + 1,
            (_, 0) => continue,
            _ => 0..windows.len(),
        };
        for (_, window) in windows.drain(flushed) {
            submitted.extend(expected_groups(&window, groups, functions));
            submitted.push("0 window".to_owned());
        }
        // Each further signal finds no tuples.
        submitted.extend((1..signals).map(|_| "0 window".to_owned()));
    }
    let tuples: usize = windows.iter().map(|(_, window)| window.len()).sum();
    submitted.push(incomplete_text(windows.len() as i64, tuples as i64));
    submitted
}

fn incomplete_text(windows: i64, tuples: i64) -> String {
    format!("{windows} incomplete windows with {tuples} tuples")
}

/// The mean of integers, cut off.
fn mean<T: TryFrom<i128, Error: std::fmt::Debug>>(numbers: impl Iterator<Item = i128>) -> T {
    let (count, sum) = numbers.fold((0, 0), |(count, sum), number| (count + 1, sum + number));
    T::try_from(sum / count).unwrap()
}

/// Submissions of an Aggregate with a sliding window by a naive list.
fn expected_sliding(trades: &[Trade], by: &[usize], size: usize, slide: Slide) -> Vec<String> {
    let mut windows: Vec<(Vec<String>, SlidingPartition<'_>)> = Vec::new();
    let mut submitted = Vec::new();
    let mut all = 0;
    for trade in trades {
        let key = trade.key(by);
        let at = windows.iter().position(|(other, _)| *other == key);
        let at = at.unwrap_or_else(|| {
            windows.push((key, SlidingPartition::default()));
            windows.len() - 1
        });
        let window = &mut windows[at].1;
        if window.trades.len() - window.left == size {
            window.remove_oldest();
            all -= 1;
        }
        window.trades.push(trade);
        all += 1;
        window.since_trigger += 1;
        if window.since_trigger < slide.every {
            continue;
        }
        window.since_trigger = 0;
        let items = &window.trades[window.left..];
        if items.len() == size || slide.fires_incomplete {
            let results = expected_results(items, window.prices(), all, 1);
            submitted.push(output_text(Functions::OfAll, results, items));
            submitted.push("0 window".to_owned());
        }
    }
    submitted
}

/// When a sliding window gives results.
#[derive(Clone, Copy, Debug)]
struct Slide {
    every: usize,
    fires_incomplete: bool,
}

/// Submissions of an Aggregate on a backend.
fn submitted(
    trades: &[Trade],
    by: &[usize],
    groups: &[usize],
    (flush, slide, functions): (Flush, Option<Slide>, Functions),
    backend: &mut dyn Backend,
) -> Vec<String> {
    let window = Window {
        kind: match slide {
            Some(_) => WindowKind::Sliding,
            None => WindowKind::Tumbling,
        },
        evict: flush.policy(),
        trigger: slide.map(|slide| Policy::Count(slide.every as u32)),
        partition: (!by.is_empty()).then_some(Partition { evict: None }),
        pos: Pos::default(),
    };
    let mut operator = OperatorBuilder::new("spl.relational::Aggregate", "Sums")
        .input("In", schema())
        .window(window);
    for (param, attributes) in [("partitionBy", by), ("groupBy", groups)] {
        if !attributes.is_empty() {
            operator = operator.param(param, attributes.iter().map(|&at| attribute(at)));
        }
    }
    if let Some(slide) = slide {
        let incomplete = exprs::constant(Value::Boolean(slide.fires_incomplete), Type::Boolean);
        operator = operator.param("aggregateIncompleteWindows", [incomplete]);
    }
    let mut operator = operator.output("Sums", output(functions));
    let mut assigned = Vec::new();
    for (at, (_, function, arguments, ty)) in results(functions).into_iter().enumerate() {
        let call = graph::ExprKind::OutputCall(at as u32);
        assigned.push(Some(exprs::expr(call, ty.clone())));
        operator = operator.call(function, arguments, ty);
    }
    assigned.extend([Some(attribute(2)), Some(attribute(1))]);
    let operator = operator.assign(assigned);
    let entry = OperatorEntry::find(toolkit::operators(), "spl.relational::Aggregate");
    let mut harness = TextHarness::with_backend(&operator, entry.unwrap(), backend);
    for (number, trade) in trades.iter().enumerate() {
        let handed = harness.try_process_value(PortIndex(0), &trade.to_value());
        handed.unwrap_or_else(|fault| panic!("{fault}"));
        for _ in 0..flush.signals_behind(number) {
            match flush {
                Flush::Timer(_) => harness.fire_timer(0),
                _ => harness.window_marker(PortIndex(0)),
            }
        }
    }
    let mut submitted = harness.take_submitted();
    if slide.is_none() {
        harness.final_marker(PortIndex(0));
        let counts = ["nIncompleteWindows", "nIncompleteWindowTuples"];
        let counts = harness.metric_values(&counts);
        submitted.push(incomplete_text(counts[0], counts[1]));
    }
    submitted
}

fn trades(count: usize) -> impl Strategy<Value = Vec<Trade>> {
    let price = prop_oneof![
        4 => (0..4_u8).prop_map(|n| f64::from(n) / 3.0),
        1 => Just(f64::NAN),
        1 => Just(-0.0),
        1 => any::<f64>(),
    ];
    let id = prop_oneof![4 => 0..4_i64, 1 => any::<i64>()];
    let symbol = prop_oneof![3 => "[AB]{0,2}", 1 => "a long symbol [0-9]{1,2}"];
    let trade = (id, symbol, price, -3..3_i32).prop_map(|(id, symbol, price, size)| Trade {
        id,
        symbol,
        price,
        size,
    });
    prop::collection::vec(trade, 0..count)
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn tumbling_windows_are_those_of_a_list(
        trades in trades(120),
        by in prop::sample::subsequence(vec![0_usize, 1, 2, 3], 0..4),
        groups in prop::sample::subsequence(vec![0_usize, 1, 2, 3], 0..3),
        flush in prop_oneof![
            (1..9_usize).prop_map(Flush::Count),
            (1..20_usize).prop_map(Flush::Marker),
            (1..20_usize).prop_map(Flush::Timer),
            (prop::sample::select(vec![0, 2, 3, 4, 5]), 0..4_u8)
                .prop_map(|(attribute, amount)| Flush::Delta(attribute, amount)),
        ],
        functions in prop_oneof![Just(Functions::OfAll), Just(Functions::OfTumbling)],
    ) {
        let expected = expected(&trades, &by, &groups, (flush, functions));
        let window = (flush, None, functions);
        let mut interpreter = InterpreterBackend::new(&[], &[]);
        let interpreted = submitted(&trades, &by, &groups, window, &mut interpreter);
        prop_assert_eq!(&interpreted, &expected);
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        prop_assert_eq!(&submitted(&trades, &by, &groups, window, &mut jit), &expected);
    }

    #[test]
    fn sliding_windows_are_those_of_a_list(
        trades in trades(600),
        by in prop::sample::subsequence(vec![0_usize, 1, 3], 0..3),
        size in prop_oneof![1..9_usize, 60..70_usize, 1..300_usize],
        every in prop_oneof![Just(1_usize), 1..9_usize],
        fires_incomplete in any::<bool>(),
    ) {
        let slide = Slide { every, fires_incomplete };
        let expected = expected_sliding(&trades, &by, size, slide);
        let window = (Flush::Count(size), Some(slide), Functions::OfAll);
        let mut interpreter = InterpreterBackend::new(&[], &[]);
        let interpreted = submitted(&trades, &by, &[], window, &mut interpreter);
        prop_assert_eq!(&interpreted, &expected);
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        prop_assert_eq!(&submitted(&trades, &by, &[], window, &mut jit), &expected);
    }
}

/// Groups that come again are kept from one window to the next, those of a large window are not.
#[test]
fn windows_of_many_and_of_few_groups_follow_each_other() {
    let size = 1_500;
    // Distinct groups of each window, and the first of them.
    let windows = [
        (1_500, 0),
        (1_500, 700),
        (3, 100),
        (40, 90),
        (1_024, 0),
        (1, 5),
        (1_025, 4),
    ];
    let trades: Vec<Trade> = windows
        .iter()
        .flat_map(|&(groups, first)| (0..size).map(move |n| first + n % groups))
        .map(|id| Trade {
            id,
            symbol: String::new(),
            price: 1.5,
            size: 2,
        })
        .collect();
    let flush = Flush::Count(size as usize);
    let expected = expected(&trades, &[], &[0], (flush, Functions::OfTumbling));
    let window = (flush, None, Functions::OfTumbling);
    let mut interpreter = InterpreterBackend::new(&[], &[]);
    let interpreted = submitted(&trades, &[], &[0], window, &mut interpreter);
    assert_eq!(interpreted, expected);
    let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
    assert_eq!(submitted(&trades, &[], &[0], window, &mut jit), expected);
}
