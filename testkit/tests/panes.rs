//! Windows over event time against a naive list of panes, interpreted and compiled.
//!
//! `THALWEG_WINDOWS` is the number of random windows, 200 by default.

use graph::{Expr, Policy, PortIndex, Pos, TimeInterval, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{
    OperatorBuilder, TextHarness, TimeAttribute, WindowKey, WindowResult, exprs, input_clock,
    window_case_count,
};
use tuple::{EventTime, List, Resolution, Timestamp, TupleType, Type, Value, text};

/// A tuple of the windows' stream.
#[derive(Clone, Debug)]
struct Reading {
    ns: i128,
    key: i32,
    value: f64,
    count: i64,
}

/// A tuple, or an advance of the watermark.
#[derive(Clone, Debug)]
enum Step {
    Tuple(Reading),
    Watermark(i128),
}

#[derive(Clone, Debug)]
struct Case {
    steps: Vec<Step>,
    ty: Type,
    interval: TimeInterval,
    key: WindowKey,
    functions: Functions,
}

/// Output functions of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Functions {
    /// Functions of all kinds.
    All,
    /// Functions of integers, which are merged from slices where panes overlap.
    OfIntegers,
}

impl Case {
    fn schema(&self) -> [(&'static str, Type); 4] {
        [
            ("at", self.ty.clone()),
            ("key", Type::Int32),
            ("value", Type::Float64),
            ("count", Type::Int64),
        ]
    }

    fn overlaps(&self) -> bool {
        self.interval.duration_ns > self.interval.period_ns
    }

    fn time(&self) -> TimeAttribute {
        TimeAttribute {
            ty: self.ty.clone(),
            resolution: self.interval.resolution,
        }
    }

    fn attribute(&self, at: usize) -> Expr {
        exprs::attribute(PortIndex(0), at as u32, self.schema()[at].1.clone())
    }

    fn to_value(&self, reading: &Reading) -> Value {
        let values = [
            self.time().to_value(reading.ns),
            Value::Int32(reading.key),
            Value::Float64(reading.value),
            Value::Int64(reading.count),
        ];
        Value::Tuple(values.into())
    }

    /// Results of a pane: name, output function, arguments, type.
    fn results(&self) -> Vec<WindowResult> {
        let [key, value, count] = [1, 2, 3].map(|at| self.attribute(at));
        if self.functions == Functions::OfIntegers {
            return vec![
                ("tuples", "Count", vec![], Type::Int32),
                ("total", "Sum", vec![count.clone()], Type::Int64),
                ("meanCount", "Average", vec![count.clone()], Type::Int64),
                ("meanKey", "Average", vec![key.clone()], Type::Int32),
                ("least", "Min", vec![count.clone()], Type::Int64),
                ("most", "Max", vec![count.clone()], Type::Int64),
                ("first", "First", vec![value.clone()], Type::Float64),
                ("last", "Last", vec![value], Type::Float64),
                ("any", "Any", vec![count], Type::Int64),
            ];
        }
        let list = |element: Type| Type::List(element.into(), None);
        // Panes that overlap share what is collected of all tuples: they are not lowered.
        let (function, arguments) = match self.overlaps() {
            true => ("CollectArgMin", vec![count.clone(); 2]),
            false => ("Collect", vec![count.clone()]),
        };
        vec![
            ("counts", function, arguments, list(Type::Int64)),
            (
                "keys",
                "CollectArgMax",
                vec![value.clone(), key.clone()],
                list(Type::Int32),
            ),
            ("tuples", "Count", vec![], Type::Int32),
            ("sum", "Sum", vec![value.clone()], Type::Float64),
            ("total", "Sum", vec![count.clone()], Type::Int64),
            ("mean", "Average", vec![value.clone()], Type::Float64),
            ("meanCount", "Average", vec![count.clone()], Type::Int64),
            ("highest", "Max", vec![value.clone()], Type::Float64),
            ("least", "Min", vec![count.clone()], Type::Int64),
            ("first", "First", vec![count.clone()], Type::Int64),
            ("last", "Last", vec![count.clone()], Type::Int64),
            ("ofHighest", "ArgMax", vec![value, key], Type::Int32),
        ]
    }

    fn output(&self) -> Vec<(&'static str, Type)> {
        WindowKey::output(&self.attribute(1), &self.results())
    }

    fn operator(&self) -> OperatorBuilder {
        let window = Window {
            kind: WindowKind::TimeInterval,
            evict: Policy::Interval(self.interval),
            trigger: None,
            partition: self.key.partition(),
            pos: Pos::default(),
        };
        let clock = input_clock("at", self.interval.resolution);
        let operator = OperatorBuilder::new("spl.relational::Aggregate", "Panes")
            .input("In", self.schema())
            .window(window)
            .event_clock(clock);
        let key = self.attribute(1);
        self.key.add_to(operator, &key, self.results())
    }

    /// Submissions of the operator on a backend, and its counts of panes left and of late tuples.
    fn submitted(&self, backend: &mut dyn Backend) -> (Vec<String>, Vec<i64>) {
        let entry = OperatorEntry::find(toolkit::operators(), "spl.relational::Aggregate");
        let mut harness = TextHarness::with_backend(&self.operator(), entry.unwrap(), backend);
        for step in &self.steps {
            match step {
                Step::Watermark(ns) => harness.advance_watermark(*ns),
                Step::Tuple(reading) => {
                    let handed = harness.try_process_value(PortIndex(0), &self.to_value(reading));
                    handed.unwrap_or_else(|fault| panic!("{fault}"));
                }
            }
        }
        let submitted = harness.take_submitted();
        harness.final_marker(PortIndex(0));
        let counts = [
            "nIncompleteWindows",
            "nIncompleteWindowTuples",
            "nLateTuples",
        ];
        (submitted, harness.metric_values(&counts))
    }

    /// Text of the results of tuples.
    fn text(&self, readings: &[Reading]) -> String {
        let last = &readings[readings.len() - 1];
        let sum = readings.iter().map(|reading| reading.value);
        let sum = sum.reduce(|sum, value| sum + value).unwrap();
        let highest = readings.iter().fold(&readings[0], |best, reading| {
            match reading.value > best.value {
                true => reading,
                false => best,
            }
        });
        let counts = readings.iter().map(|reading| reading.count);
        let total = counts.clone().fold(0_i64, i64::wrapping_add);
        let exact: i128 = counts.clone().map(i128::from).sum();
        let least = counts.clone().min().unwrap();
        let keys = readings
            .iter()
            .filter(|reading| reading.value == highest.value);
        let keys: tuple::Set = keys.map(|reading| Value::Int32(reading.key)).collect();
        let collected = match self.overlaps() {
            true => vec![least],
            false => counts.clone().collect(),
        };
        let mean = |sum: i128| sum / readings.len() as i128;
        if self.functions == Functions::OfIntegers {
            let of_keys = readings.iter().map(|reading| i128::from(reading.key)).sum();
            return self.text_of(vec![
                Value::Int32(readings.len() as i32),
                Value::Int64(total),
                Value::Int64(mean(exact) as i64),
                Value::Int32(mean(of_keys) as i32),
                Value::Int64(least),
                Value::Int64(counts.max().unwrap()),
                Value::Float64(readings[0].value),
                Value::Float64(last.value),
                Value::Int64(last.count),
                Value::Int32(last.key),
            ]);
        }
        self.text_of(vec![
            Value::List(List::Int64(collected)),
            Value::List(List::from_values(&Type::Int32, keys.iter().cloned())),
            Value::Int32(readings.len() as i32),
            Value::Float64(sum),
            Value::Int64(total),
            Value::Float64(sum / readings.len() as f64),
            Value::Int64(mean(exact) as i64),
            Value::Float64(highest.value),
            Value::Int64(least),
            Value::Int64(readings[0].count),
            Value::Int64(last.count),
            Value::Int32(highest.key),
            Value::Int32(last.key),
        ])
    }

    fn text_of(&self, values: Vec<Value>) -> String {
        let ty = Type::Tuple(TupleType::new(self.output()).into());
        format!("0 {}", text::to_text(&Value::Tuple(values.into()), &ty))
    }

    /// Submissions, and counts of what has not fired and of what was late, by a naive list.
    fn expected(&self) -> (Vec<String>, Vec<i64>) {
        let mut panes: Vec<NaivePane> = Vec::new();
        let mut submitted = Vec::new();
        let mut watermark: Option<i128> = None;
        let mut late = 0;
        let interval = &self.interval;
        for step in &self.steps {
            match step {
                Step::Tuple(reading) => {
                    let ns = self.event_time(reading);
                    if watermark.is_some_and(|reached| ns < reached - interval.discard_ns) {
                        late += 1;
                        continue;
                    }
                    let last = (ns - interval.offset_ns).div_euclid(interval.period_ns);
                    let mut start = interval.offset_ns + last * interval.period_ns;
                    while start + interval.duration_ns > ns {
                        let at = panes.binary_search_by_key(&start, |pane| pane.start);
                        let at = at.unwrap_or_else(|at| {
                            panes.insert(at, NaivePane::new(start));
                            at
                        });
                        panes[at].add(reading, self.key);
                        start -= interval.period_ns;
                    }
                }
                Step::Watermark(to) => {
                    watermark = Some(*to);
                    let ends = |pane: &&mut NaivePane| pane.start + interval.duration_ns <= *to;
                    for pane in panes.iter_mut().filter(ends) {
                        pane.fire(self, &mut submitted);
                    }
                    let kept = interval.duration_ns + interval.discard_ns;
                    panes.retain(|pane| pane.start + kept > *to);
                }
            }
        }
        let new: Vec<u64> = panes
            .iter()
            .flat_map(|pane| pane.new_sizes(self.key))
            .collect();
        (
            submitted,
            vec![new.len() as i64, new.iter().sum::<u64>() as i64, late],
        )
    }

    /// Compares interpreted and compiled panes with those of the naive list.
    fn check(&self) {
        let expected = self.expected();
        let interpreted = self.submitted(&mut InterpreterBackend::new(&[], &[]));
        assert_eq!(interpreted, expected, "interpreted");
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        assert_eq!(self.submitted(&mut jit), expected, "compiled");
    }

    /// The event time of a tuple, as its attribute holds it.
    fn event_time(&self, reading: &Reading) -> i128 {
        self.time().held_ns(reading.ns)
    }
}

/// A pane with the tuples of each key, in the order of their first ones.
struct NaivePane {
    start: i128,
    parts: Vec<(i32, Vec<Reading>, bool)>,
}

impl NaivePane {
    fn new(start: i128) -> NaivePane {
        NaivePane {
            start,
            parts: Vec::new(),
        }
    }

    fn add(&mut self, reading: &Reading, by: WindowKey) {
        let key = match by {
            WindowKey::None => 0,
            _ => reading.key,
        };
        let at = self.parts.iter().position(|(other, ..)| *other == key);
        let at = at.unwrap_or_else(|| {
            self.parts.push((key, Vec::new(), false));
            self.parts.len() - 1
        });
        self.parts[at].1.push(reading.clone());
        self.parts[at].2 = true;
    }

    fn fire(&mut self, case: &Case, submitted: &mut Vec<String>) {
        let is_new = self.parts.iter().any(|(.., is_new)| *is_new);
        for (_, readings, is_part_new) in &mut self.parts {
            let fires = match case.key {
                WindowKey::Partition => *is_part_new,
                _ => is_new,
            };
            *is_part_new = false;
            if fires {
                submitted.push(case.text(readings));
            }
            if fires && case.key == WindowKey::Partition {
                submitted.push("0 window".to_owned());
            }
        }
        if is_new && case.key != WindowKey::Partition {
            submitted.push("0 window".to_owned());
        }
    }

    /// Sizes of the windows that have got tuples since they fired.
    fn new_sizes(&self, by: WindowKey) -> Vec<u64> {
        let size = |(_, readings, _): &(i32, Vec<Reading>, bool)| readings.len() as u64;
        let new: Vec<u64> = self.parts.iter().filter(|part| part.2).map(size).collect();
        match by {
            WindowKey::Partition => new,
            _ if new.is_empty() => new,
            _ => vec![self.parts.iter().map(size).sum()],
        }
    }
}

prop_compose! {
    fn any_case()(
        // Periods of nanoseconds leave compiled code, those of milliseconds do not.
        ty in prop_oneof![Just(Type::Int64), Just(Type::Uint64), Just(Type::Timestamp)],
        resolution in prop_oneof![Just(Resolution::Milliseconds), Just(Resolution::Nanoseconds)],
        scale in prop_oneof![Just(1_000_000_i128), Just(1), Just(1_300_000)],
        // Times about the epoch, and about the last that a word of nanoseconds holds.
        origin_ns in prop_oneof![2 => Just(0_i128), 1 => Just(i128::from(i64::MAX))],
        duration in 1..40_i128,
        period in 1..20_i128,
        offset in -30..30_i128,
        discard in prop_oneof![2 => Just(0_i128), 1 => 1..40_i128],
        // Panes of as many whole periods are merged from slices, up to eight of them.
        periods in prop_oneof![1 => Just(0_i128), 1 => 2..10_i128],
        functions in prop_oneof![Just(Functions::All), Just(Functions::OfIntegers)],
        key in prop_oneof![Just(WindowKey::None), Just(WindowKey::Partition), Just(WindowKey::Group)],
        steps in proptest::collection::vec(
            (0..8_u8, 0..30_i128, 0..4_i32, -3..9_i64, any::<bool>()), 0..150
        ),
    ) -> Case {
        let (mut now, mut watermark) = (0, i128::MIN);
        let mut all = Vec::new();
        let time = TimeAttribute { ty: ty.clone(), resolution };
        for (kind, back, key, count, is_large) in steps {
            now += i128::from(kind) / 3;
            let at = |units: i128| {
                time.nearest_ns(origin_ns + (units - 20) * scale)
            };
            if kind == 0 {
                let to = at(now - back / 2);
                if to > watermark {
                    watermark = to;
                    all.push(Step::Watermark(to));
                }
                continue;
            }
            let value = if is_large { 1e16 } else { count as f64 / 3.0 };
            let late = if back > 20 { back } else { back / 6 };
            all.push(Step::Tuple(Reading { ns: at(now - late), key, value, count }));
        }
        let (duration, discard) = match (periods, functions) {
            (2.., Functions::OfIntegers) => (period * periods, 0),
            (2.., _) => (period * periods, discard),
            _ => (duration, discard),
        };
        let interval = TimeInterval {
            duration_ns: duration * scale,
            period_ns: period * scale,
            offset_ns: offset * scale,
            discard_ns: discard * scale,
            attribute: 0,
            resolution,
        };
        Case { steps: all, ty, interval, key, functions }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn panes_are_those_of_a_list(case in any_case()) {
        case.check();
    }
}

/// Panes of nanoseconds at the last milliseconds that an int64 holds: their numbers are greater
/// than any int64, so they are not lowered.
#[test]
fn panes_may_be_more_than_an_int64_counts() {
    for ty in [Type::Int64, Type::Timestamp] {
        let ns = match ty {
            Type::Int64 => i128::from(i64::MAX) * 1_000_000,
            _ => {
                EventTime::from(Timestamp {
                    seconds: i64::MAX,
                    ..Timestamp::default()
                })
                .0
            }
        };
        let reading = Reading {
            ns,
            key: 1,
            value: 0.5,
            count: 2,
        };
        let interval = TimeInterval {
            duration_ns: 3,
            period_ns: 1,
            offset_ns: 0,
            discard_ns: 2,
            attribute: 0,
            resolution: Resolution::Milliseconds,
        };
        let steps = vec![
            Step::Tuple(reading.clone()),
            Step::Watermark(ns + 1),
            Step::Tuple(reading),
            Step::Watermark(ns + 2),
        ];
        Case {
            steps,
            ty,
            interval,
            key: WindowKey::Partition,
            functions: Functions::All,
        }
        .check();
    }
}
