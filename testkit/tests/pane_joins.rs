//! Joins over panes of event time against naive lists, interpreted and compiled.
//!
//! `THALWEG_WINDOWS` is the number of random joins, 200 by default.

use graph::{BinaryOp, Expr, Policy, PortIndex, Pos, TimeInterval, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{OperatorBuilder, TextHarness, exprs, input_clock, window_case_count};
use tuple::{Resolution, TupleType, Type, Value, text};

/// A tuple of either stream.
#[derive(Clone, Debug, Default)]
struct Quote {
    at: i64,
    id: i32,
    price: f64,
}

/// A tuple of a side, or an advance of the watermark.
#[derive(Clone, Debug)]
enum Step {
    Tuple(usize, Quote),
    Watermark(i64),
}

/// How the tuples of a pane are paired.
#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    interval: TimeInterval,
    algorithm: &'static str,
    /// Whether unmatched tuples leave on ports of their own.
    has_ports: bool,
    /// Attributes that have to be equal: places in the schema.
    by: Vec<usize>,
    /// Whether the left price has to be at most the right one, too.
    has_match: bool,
}

fn schema() -> [(&'static str, Type); 3] {
    [
        ("at", Type::Int64),
        ("id", Type::Int32),
        ("price", Type::Float64),
    ]
}

fn attribute(side: usize, at: usize) -> Expr {
    exprs::attribute(PortIndex(side as u32), at as u32, schema()[at].1.clone())
}

fn output() -> [(&'static str, Type); 4] {
    [
        ("left", Type::Int64),
        ("leftId", Type::Int32),
        ("right", Type::Int64),
        ("price", Type::Float64),
    ]
}

fn to_text(values: Vec<Value>, schema: impl IntoIterator<Item = (&'static str, Type)>) -> String {
    let ty = Type::Tuple(TupleType::new(schema).into());
    text::to_text(&Value::Tuple(values.into()), &ty)
}

impl Quote {
    fn to_value(&self) -> Vec<Value> {
        vec![
            Value::Int64(self.at),
            Value::Int32(self.id),
            Value::Float64(self.price),
        ]
    }
}

impl Case {
    /// Whether unmatched tuples of a side count.
    fn is_outer(&self, side: usize) -> bool {
        let one_sided = ["leftOuter", "rightOuter"][side];
        self.algorithm == "outer" || self.algorithm == one_sided
    }

    fn matches(&self, left: &Quote, right: &Quote) -> bool {
        let is_equal = self.by.iter().all(|at| match at {
            1 => left.id == right.id,
            _ => left.price == right.price,
        });
        is_equal && (!self.has_match || left.price <= right.price)
    }

    fn operator(&self) -> OperatorBuilder {
        let mut operator = OperatorBuilder::new("spl.relational::Join", "Pairs");
        for (side, name) in ["Left", "Right"].into_iter().enumerate() {
            operator = operator.input(name, schema()).window(Window {
                kind: WindowKind::TimeInterval,
                evict: Policy::Interval(self.interval),
                trigger: None,
                partition: None,
                pos: Pos::default(),
            });
            if !self.by.is_empty() {
                let keys = self.by.iter().map(|&at| attribute(side, at));
                operator = operator.param(["equalityLHS", "equalityRHS"][side], keys);
            }
        }
        let clock = input_clock("at", Resolution::Nanoseconds);
        operator = operator.event_clock(clock);
        operator = operator.literal("algorithm", &[self.algorithm]);
        if self.has_match {
            let at_most = exprs::binary(BinaryOp::Le, attribute(0, 2), attribute(1, 2));
            let at_most = Expr {
                ty: Type::Boolean,
                ..at_most
            };
            operator = operator.param("match", [at_most]);
        }
        let assigned = [
            attribute(0, 0),
            attribute(0, 1),
            attribute(1, 0),
            attribute(1, 2),
        ];
        operator = operator
            .output("Pairs", output())
            .assign(assigned.map(Some).to_vec());
        for side in (0..2).filter(|side| self.has_ports && self.is_outer(*side)) {
            let unmatched = (0..3).map(|at| Some(attribute(side, at)));
            operator = operator
                .output(["Lefts", "Rights"][side], schema())
                .assign(unmatched.collect::<Vec<_>>());
        }
        operator
    }

    /// Submissions of the operator on a backend, and its counts: panes and tuples that have not
    /// fired, and tuples that are kept.
    fn submitted(&self, backend: &mut dyn Backend) -> (Vec<String>, Vec<i64>) {
        let entry = OperatorEntry::find(toolkit::operators(), "spl.relational::Join");
        let mut harness = TextHarness::with_backend(&self.operator(), entry.unwrap(), backend);
        for step in &self.steps {
            match step {
                Step::Watermark(ns) => harness.advance_watermark((*ns).into()),
                Step::Tuple(side, quote) => {
                    let value = Value::Tuple(quote.to_value().into());
                    let handed = harness.try_process_value(PortIndex(*side as u32), &value);
                    handed.unwrap_or_else(|fault| panic!("{fault}"));
                }
            }
        }
        let submitted = harness.take_submitted();
        harness.final_marker(PortIndex(0));
        harness.final_marker(PortIndex(1));
        let counts = [
            "nIncompleteWindows",
            "nIncompleteWindowTuples",
            "nStateEntries",
        ];
        (submitted, harness.metric_values(&counts))
    }

    /// Submissions and counts by naive lists: for each pane that fires, all its tuples.
    fn expected(&self) -> (Vec<String>, Vec<i64>) {
        let TimeInterval {
            duration_ns,
            period_ns,
            offset_ns,
            discard_ns,
            ..
        } = self.interval;
        // All tuples that were not too late, and by pane those since it fired.
        let mut tuples: Vec<(usize, Quote)> = Vec::new();
        let mut new_in: Vec<i128> = Vec::new();
        let mut submitted = Vec::new();
        let mut watermark = i128::MIN / 2;
        let lies_in = |start: i128, quote: &Quote| {
            (start..start + duration_ns).contains(&i128::from(quote.at))
        };
        for step in &self.steps {
            match step {
                Step::Tuple(side, quote) => {
                    let at = i128::from(quote.at);
                    let mut start = (at - offset_ns).div_euclid(period_ns) * period_ns + offset_ns;
                    while start + duration_ns > at && at >= watermark - discard_ns {
                        new_in.push(start);
                        start -= period_ns;
                    }
                    if at >= watermark - discard_ns {
                        tuples.push((*side, quote.clone()));
                    }
                }
                Step::Watermark(to) => {
                    watermark = (*to).into();
                    new_in.sort_unstable();
                    new_in.dedup();
                    for &start in new_in
                        .iter()
                        .filter(|start| **start + duration_ns <= watermark)
                    {
                        // A pane that is discarded is found no more by a later tuple.
                        let of_pane = tuples.iter().filter(|(_, quote)| lies_in(start, quote));
                        self.submit(&of_pane.collect::<Vec<_>>(), &mut submitted);
                    }
                    new_in.retain(|start| start + duration_ns > watermark);
                    // What lies only in panes that are old enough is kept no more.
                    tuples.retain(|(_, quote)| {
                        let at = i128::from(quote.at);
                        let last = (at - offset_ns).div_euclid(period_ns) * period_ns + offset_ns;
                        last + duration_ns > at && last + duration_ns + discard_ns > watermark
                    });
                }
            }
        }
        tuples.retain(|(_, quote)| {
            let at = i128::from(quote.at);
            at - offset_ns < (at - offset_ns).div_euclid(period_ns) * period_ns + duration_ns
        });
        new_in.sort_unstable();
        new_in.dedup();
        let of_new = new_in.iter().map(|start| {
            let of_pane = tuples.iter().filter(|(_, quote)| lies_in(*start, quote));
            of_pane.count() as i64
        });
        let counts = vec![new_in.len() as i64, of_new.sum(), tuples.len() as i64];
        (submitted, counts)
    }

    /// Results of the tuples of a pane.
    fn submit(&self, tuples: &[&(usize, Quote)], submitted: &mut Vec<String>) {
        let of = |side: usize| tuples.iter().filter(move |(of, _)| *of == side);
        let mut has_pairs = false;
        let mut pair = |left: &Quote, right: &Quote, submitted: &mut Vec<String>| {
            let values = vec![
                Value::Int64(left.at),
                Value::Int32(left.id),
                Value::Int64(right.at),
                Value::Float64(right.price),
            ];
            has_pairs = true;
            submitted.push(format!("0 {}", to_text(values, output())));
        };
        let none = Quote::default();
        let left_port = 1;
        let right_port = 1 + usize::from(self.is_outer(0));
        for (_, left) in of(0) {
            let partners = of(1).filter(|(_, right)| self.matches(left, right));
            let mut count = 0;
            for (_, right) in partners {
                pair(left, right, submitted);
                count += 1;
            }
            match (count, self.is_outer(0), self.has_ports) {
                (0, true, true) => {
                    submitted.push(format!(
                        "{left_port} {}",
                        to_text(left.to_value(), schema())
                    ));
                }
                (0, true, false) => pair(left, &none, submitted),
                _ => {}
            }
        }
        for (_, right) in of(1).filter(|_| self.is_outer(1)) {
            if of(0).any(|(_, left)| self.matches(left, right)) {
                continue;
            }
            match self.has_ports {
                true => {
                    let right = to_text(right.to_value(), schema());
                    submitted.push(format!("{right_port} {right}"));
                }
                false => pair(&none, right, submitted),
            }
        }
        if has_pairs {
            submitted.push("0 window".to_owned());
        }
    }

    fn check(&self) {
        let expected = self.expected();
        let interpreted = self.submitted(&mut InterpreterBackend::new(&[], &[]));
        assert_eq!(interpreted, expected, "interpreted");
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        assert_eq!(self.submitted(&mut jit), expected, "compiled");
    }
}

prop_compose! {
    fn any_case()(
        duration in 1..30_i128,
        period in 1..20_i128,
        offset in 0..30_i128,
        discard in prop_oneof![1 => Just(0_i128), 2 => 1..40_i128],
        algorithm in prop::sample::select(vec!["inner", "outer", "leftOuter", "rightOuter"]),
        has_ports in any::<bool>(),
        by in prop::sample::subsequence(vec![1_usize, 2], 0..3),
        has_match in any::<bool>(),
        steps in proptest::collection::vec(
            (0..8_u8, 0..2_usize, 0..30_i64, 0..4_i32, -1..4_i64), 0..120
        ),
    ) -> Case {
        let (mut now, mut watermark) = (0, i64::MIN);
        let mut all = Vec::new();
        for (kind, side, back, id, price) in steps {
            now += i64::from(kind) / 3;
            if kind == 0 {
                let to = now - back / 2;
                if to > watermark {
                    watermark = to;
                    all.push(Step::Watermark(to));
                }
                continue;
            }
            let late = if back > 20 { back } else { back / 6 };
            let price = if price < 0 { f64::NAN } else { price as f64 };
            all.push(Step::Tuple(side, Quote { at: now - late, id, price }));
        }
        let interval = TimeInterval {
            duration_ns: duration,
            period_ns: period,
            offset_ns: offset,
            discard_ns: discard,
            attribute: 0,
            resolution: Resolution::Nanoseconds,
        };
        let has_ports = has_ports && algorithm != "inner";
        Case { steps: all, interval, algorithm, has_ports, by, has_match }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn joins_over_panes_are_those_of_lists(case in any_case()) {
        case.check();
    }
}
