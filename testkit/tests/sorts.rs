//! Sorts with windows of a number of tuples and of a marker, against naive lists, interpreted and
//! compiled.
//!
//! `THALWEG_WINDOWS` is the number of random sorts, 200 by default.

use graph::{Expr, Policy, PortIndex, Pos, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{OperatorBuilder, TextHarness, exprs, window_case_count};
use tuple::{Decimal64, Timestamp, TupleType, Type, Value, text};

fn schema() -> [(&'static str, Type); 5] {
    [
        ("id", Type::Int64),
        ("symbol", Type::RString),
        ("price", Type::Float64),
        ("amount", Type::Decimal64),
        ("at", Type::Timestamp),
    ]
}

fn attribute(at: usize) -> Expr {
    let (_, ty) = &schema()[at];
    exprs::attribute(PortIndex(0), at as u32, ty.clone())
}

/// A tuple that comes to the Sort, as its attributes, or a window marker.
type Arrival = Option<[Value; 5]>;

/// How tuples are sorted.
#[derive(Clone, Debug)]
struct SortCase {
    /// Attributes that are compared, and whether each is descending.
    by: Vec<(usize, bool)>,
    kind: WindowKind,
    evict: Policy,
}

/// A naive Sort: a list, into which each tuple goes behind all that are not greater.
struct SortedList<'c> {
    case: &'c SortCase,
    tuples: Vec<&'c [Value; 5]>,
    submitted: Vec<String>,
}

impl<'c> SortedList<'c> {
    fn insert(&mut self, tuple: &'c [Value; 5]) {
        let by = &self.case.by;
        let is_before = |other: &&[Value; 5]| {
            let mut orders = by.iter().map(|&(at, is_descending)| {
                let order = other[at].total_cmp(&tuple[at]);
                if is_descending {
                    order.reverse()
                } else {
                    order
                }
            });
            orders
                .find(|order| order.is_ne())
                .is_none_or(|order| order.is_lt())
        };
        let at = self.tuples.partition_point(is_before);
        self.tuples.insert(at, tuple);
    }

    fn submit_first(&mut self) {
        let ty = Type::Tuple(TupleType::new(output()).into());
        let tuple = self.tuples.remove(0);
        let attributes = [tuple[0].clone(), tuple[1].clone(), tuple[2].clone()];
        let tuple = text::to_text(&Value::Tuple(attributes.into()), &ty);
        self.submitted.push(format!("0 {tuple}"));
    }

    fn submit_all(&mut self) {
        while !self.tuples.is_empty() {
            self.submit_first();
        }
    }

    fn flush(&mut self) {
        self.submit_all();
        self.submitted.push("0 window".to_owned());
    }
}

/// Submissions of a Sort by a naive list.
fn expected(arrivals: &[Arrival], case: &SortCase) -> Vec<String> {
    let mut list = SortedList {
        case,
        tuples: Vec::new(),
        submitted: Vec::new(),
    };
    for arrival in arrivals {
        match (arrival, &case.evict, case.kind) {
            (None, Policy::Punct, _) => list.flush(),
            (None, ..) => {}
            (Some(tuple), Policy::Count(size), kind) => {
                let size = *size as usize;
                if kind == WindowKind::Sliding && list.tuples.len() == size {
                    list.submit_first();
                }
                list.insert(tuple);
                if kind == WindowKind::Tumbling && list.tuples.len() == size {
                    list.flush();
                }
            }
            (Some(tuple), ..) => list.insert(tuple),
        }
    }
    if case.kind == WindowKind::Sliding {
        list.submit_all();
    }
    list.submitted.push("0 final".to_owned());
    list.submitted
}

fn output() -> [(&'static str, Type); 3] {
    let [id, symbol, price, ..] = schema();
    [id, symbol, price]
}

/// Submissions of a Sort on a backend.
fn submitted(arrivals: &[Arrival], case: &SortCase, backend: &mut dyn Backend) -> Vec<String> {
    let window = Window {
        kind: case.kind,
        evict: case.evict.clone(),
        trigger: (case.kind == WindowKind::Sliding).then_some(Policy::Count(1)),
        partition: None,
        pos: Pos::default(),
    };
    let orders = case
        .by
        .iter()
        .map(|(_, is_descending)| match is_descending {
            true => "descending",
            false => "ascending",
        });
    let operator = OperatorBuilder::new("spl.relational::Sort", "Sorted")
        .input("Trades", schema())
        .window(window)
        .param("sortBy", case.by.iter().map(|(at, _)| attribute(*at)))
        .literal("order", &orders.collect::<Vec<_>>())
        .output("Sorted", output())
        .assign([0, 1, 2].map(|at| Some(attribute(at))));
    let entry = OperatorEntry::find(toolkit::operators(), "spl.relational::Sort");
    let mut harness = TextHarness::with_backend(&operator.build(), entry.unwrap(), backend);
    for arrival in arrivals {
        match arrival {
            None => harness.window_marker(PortIndex(0)),
            Some(tuple) => {
                let tuple = Value::Tuple(tuple.clone().into());
                let handed = harness.try_process_value(PortIndex(0), &tuple);
                handed.unwrap_or_else(|fault| panic!("{fault}"));
            }
        }
    }
    harness.final_marker(PortIndex(0));
    harness.take_submitted()
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let price = prop_oneof![
        4 => (0..4_u8).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => Just(-0.0),
        1 => -1e9..1e9_f64,
    ];
    let symbol = prop_oneof![3 => "[AB]{0,2}", 1 => "a long symbol [0-9]{1,2}"];
    let at = (-2..2_i64, 0..2_u32).prop_map(|(seconds, nanos)| Timestamp {
        seconds,
        nanos,
        machine: 0,
    });
    let id = prop_oneof![-4..5_i64, any::<i64>()];
    let tuple = (id, symbol, price, -3..3_i64, at);
    let tuple = tuple.prop_map(|(id, symbol, price, amount, at)| {
        [
            Value::Int64(id),
            Value::RString(symbol.as_str().into()),
            Value::Float64(price),
            Value::Decimal64(Decimal64::from_i64(amount)),
            Value::Timestamp(at),
        ]
    });
    prop::collection::vec(
        prop_oneof![9 => tuple.prop_map(Some), 1 => Just(None)],
        0..300,
    )
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn sorts_are_those_of_lists(
        arrivals in arrivals(),
        by in prop::sample::subsequence(vec![0_usize, 1, 2, 3, 4], 1..4).prop_shuffle(),
        orders in prop::collection::vec(any::<bool>(), 4),
        size in prop_oneof![1..4_u32, 4..100_u32],
        window in 0..3_u8,
    ) {
        let by = by.into_iter().zip(orders).collect();
        let (kind, evict) = match window {
            0 => (WindowKind::Sliding, Policy::Count(size)),
            1 => (WindowKind::Tumbling, Policy::Count(size)),
            _ => (WindowKind::Tumbling, Policy::Punct),
        };
        let case = SortCase { by, kind, evict };
        let expected = expected(&arrivals, &case);
        let mut interpreter = InterpreterBackend::new(&[], &[]);
        prop_assert_eq!(&submitted(&arrivals, &case, &mut interpreter), &expected);
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        prop_assert_eq!(&submitted(&arrivals, &case, &mut jit), &expected);
    }
}
