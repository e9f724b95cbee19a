//! Session windows against naive lists of tuples: the engine by itself, and in an Aggregate,
//! interpreted and compiled.
//!
//! `THALWEG_WINDOWS` is the number of random windows, 200 by default.

use eval::{Fault, Pane, PaneTiming};
use graph::{Expr, Policy, PortIndex, Pos, SessionGap, Window, WindowKind};
use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use runtime::window::{PaneItems, PaneObserver, SessionWindows};
use thalweg_testkit::{
    OperatorBuilder, TextHarness, TimeAttribute, WindowKey, WindowResult, exprs, input_clock,
    window_case_count,
};
use tuple::{EventTime, List, Resolution, TupleType, Type, Value, text};

/// A tuple of the windows' stream.
#[derive(Clone, Debug, PartialEq)]
struct Reading {
    ns: i128,
    key: i32,
    value: f64,
    /// Number of the tuple.
    seq: i64,
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
    gap: SessionGap,
    key: WindowKey,
}

/// A session that fires, or an item that is given back.
#[derive(Clone, Debug, PartialEq)]
struct Firing {
    pane: Pane,
    readings: Vec<Reading>,
}

/// A session as a list, which nothing keeps in order.
struct NaiveSession {
    key: i32,
    readings: Vec<Reading>,
    is_new: bool,
    fire_count: u64,
}

/// Fired sessions and returned items of the engine.
#[derive(Default)]
struct Journal {
    fired: Vec<Firing>,
    left: usize,
}

impl PaneObserver<Reading> for Journal {
    fn fire(&mut self, pane: Pane, items: PaneItems<'_, Reading>) -> Result<(), Fault> {
        let readings = items.iter().cloned().collect();
        self.fired.push(Firing { pane, readings });
        Ok(())
    }

    fn merge(&mut self, _: Option<&mut Reading>, _: &Reading) -> Result<Option<Reading>, Fault> {
        Err(Fault::value("sessions keep all of their items"))
    }

    fn leave(&mut self, _: Reading) {
        self.left += 1;
    }
}

impl NaiveSession {
    fn first_ns(&self) -> i128 {
        let times = self.readings.iter().map(|reading| reading.ns);
        times.min().unwrap()
    }

    fn end_ns(&self, case: &Case) -> i128 {
        let times = self.readings.iter().map(|reading| reading.ns);
        times.max().unwrap() + case.gap.gap_ns
    }

    /// The firing of the session, which is new no more.
    fn fire(&mut self, case: &Case) -> Firing {
        let pane = Pane {
            start: EventTime(self.first_ns()),
            end: EventTime(self.end_ns(case)),
            timing: match self.fire_count {
                0 => PaneTiming::OnComplete,
                _ => PaneTiming::Late,
            },
            index: self.fire_count,
        };
        self.fire_count += 1;
        self.is_new = false;
        let readings = self.readings.clone();
        Firing { pane, readings }
    }
}

impl Case {
    fn schema(&self) -> [(&'static str, Type); 4] {
        [
            ("at", self.ty.clone()),
            ("key", Type::Int32),
            ("value", Type::Float64),
            ("seq", Type::Int64),
        ]
    }

    fn time(&self) -> TimeAttribute {
        TimeAttribute {
            ty: self.ty.clone(),
            resolution: self.gap.resolution,
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
            Value::Int64(reading.seq),
        ];
        Value::Tuple(values.into())
    }

    /// Results of a session: name, output function, arguments, type.
    fn results(&self) -> Vec<WindowResult> {
        let [key, value, seq] = [1, 2, 3].map(|at| self.attribute(at));
        vec![
            ("tuples", "Count", vec![], Type::Int32),
            ("ofAll", "CountAll", vec![], Type::Int32),
            ("groups", "CountGroups", vec![], Type::Int32),
            ("sum", "Sum", vec![value.clone()], Type::Float64),
            ("mean", "Average", vec![seq.clone()], Type::Int64),
            ("highest", "Max", vec![value.clone()], Type::Float64),
            ("first", "First", vec![seq.clone()], Type::Int64),
            ("last", "Last", vec![seq.clone()], Type::Int64),
            (
                "all",
                "Collect",
                vec![seq.clone()],
                Type::List(Type::Int64.into(), None),
            ),
            ("values", "CountDistinct", vec![value.clone()], Type::Int32),
            ("ofHighest", "ArgMax", vec![value, key], Type::Int32),
        ]
    }

    fn output(&self) -> Vec<(&'static str, Type)> {
        WindowKey::output(&self.attribute(1), &self.results())
    }

    fn operator(&self) -> OperatorBuilder {
        let window = Window {
            kind: WindowKind::Session,
            evict: Policy::Session(self.gap),
            trigger: None,
            partition: self.key.partition(),
            pos: Pos::default(),
        };
        let clock = input_clock("at", self.gap.resolution);
        let operator = OperatorBuilder::new("spl.relational::Aggregate", "Sessions")
            .input("In", self.schema())
            .window(window)
            .event_clock(clock);
        let key = self.attribute(1);
        self.key.add_to(operator, &key, self.results())
    }

    /// Submissions of the operator on a backend, and its counts of what has not fired and of tuples
    /// that are kept.
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
            "nStateEntries",
        ];
        (submitted, harness.metric_values(&counts))
    }

    /// The key by which a tuple's session is found.
    fn session_key(&self, reading: &Reading) -> i32 {
        match self.key {
            WindowKey::Partition => reading.key,
            WindowKey::None | WindowKey::Group => 0,
        }
    }

    /// Firings of naive lists, and counts of what has not fired and of tuples that are kept.
    fn expected(&self) -> (Vec<Firing>, Vec<i64>) {
        let mut sessions: Vec<NaiveSession> = Vec::new();
        let mut fired = Vec::new();
        let mut watermark: Option<i128> = None;
        for step in &self.steps {
            match step {
                Step::Tuple(reading) => {
                    let ns = self.event_time(reading);
                    if watermark.is_some_and(|reached| ns < reached - self.gap.discard_ns) {
                        continue;
                    }
                    self.add(
                        &mut sessions,
                        Reading {
                            ns,
                            ..reading.clone()
                        },
                    );
                }
                Step::Watermark(to) => {
                    watermark = Some(*to);
                    sessions.sort_by_key(|session| (session.end_ns(self), session.readings[0].seq));
                    let ended = sessions
                        .iter_mut()
                        .filter(|session| session.end_ns(self) <= *to);
                    let new = ended.filter(|session| session.is_new);
                    fired.extend(new.map(|session| session.fire(self)));
                    sessions.retain(|session| session.end_ns(self) + self.gap.discard_ns > *to);
                }
            }
        }
        let new = sessions.iter().filter(|session| session.is_new);
        let sizes: Vec<_> = new.map(|session| session.readings.len() as i64).collect();
        let kept = sessions.iter().map(|session| session.readings.len() as i64);
        let counts = vec![sizes.len() as i64, sizes.iter().sum(), kept.sum()];
        (fired, counts)
    }

    /// Puts a tuple together with all sessions that have a tuple less than the gap from it.
    fn add(&self, sessions: &mut Vec<NaiveSession>, reading: Reading) {
        let key = self.session_key(&reading);
        let mut joined = NaiveSession {
            key,
            is_new: true,
            fire_count: 0,
            readings: Vec::new(),
        };
        sessions.retain_mut(|session| {
            let is_near = |other: &Reading| (other.ns - reading.ns).abs() < self.gap.gap_ns;
            if session.key != key || !session.readings.iter().any(is_near) {
                return true;
            }
            joined.readings.append(&mut session.readings);
            joined.fire_count = joined.fire_count.max(session.fire_count);
            false
        });
        joined.readings.push(reading);
        joined.readings.sort_by_key(|reading| reading.seq);
        sessions.push(joined);
    }

    /// Submissions for a firing: a tuple for each group, then a marker.
    fn submissions(&self, firing: &Firing) -> Vec<String> {
        let mut groups: Vec<Vec<Reading>> = Vec::new();
        for reading in &firing.readings {
            let is_of = |group: &&mut Vec<Reading>| {
                self.key != WindowKey::Group || group[0].key == reading.key
            };
            match groups.iter_mut().find(is_of) {
                Some(group) => group.push(reading.clone()),
                None => groups.push(vec![reading.clone()]),
            }
        }
        let results = groups.iter();
        let results = results.map(|group| self.text(group, firing.readings.len(), groups.len()));
        results.chain(["0 window".to_owned()]).collect()
    }

    /// Text of the results of a group of tuples.
    fn text(&self, readings: &[Reading], of_all: usize, groups: usize) -> String {
        let last = &readings[readings.len() - 1];
        let values = readings.iter().map(|reading| reading.value);
        let sum = values.clone().reduce(|sum, value| sum + value).unwrap();
        let highest = readings.iter().fold(&readings[0], |best, reading| {
            match reading.value > best.value {
                true => reading,
                false => best,
            }
        });
        let mut distinct: Vec<f64> = values.collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let seqs = readings.iter().map(|reading| reading.seq);
        let values = vec![
            Value::Int32(readings.len() as i32),
            Value::Int32(of_all as i32),
            Value::Int32(groups as i32),
            Value::Float64(sum),
            Value::Int64(seqs.clone().sum::<i64>() / readings.len() as i64),
            Value::Float64(highest.value),
            Value::Int64(readings[0].seq),
            Value::Int64(last.seq),
            Value::List(List::Int64(seqs.collect())),
            Value::Int32(distinct.len() as i32),
            Value::Int32(highest.key),
            Value::Int32(last.key),
        ];
        let ty = Type::Tuple(TupleType::new(self.output()).into());
        format!("0 {}", text::to_text(&Value::Tuple(values.into()), &ty))
    }

    /// Compares the engine's sessions with naive lists, then those of an Aggregate.
    fn check(&self) {
        let (fired, counts) = self.expected();
        self.check_engine(&fired);
        let submitted = fired.iter().flat_map(|firing| self.submissions(firing));
        let expected = (submitted.collect(), counts);
        let interpreted = self.submitted(&mut InterpreterBackend::new(&[], &[]));
        assert_eq!(interpreted, expected, "interpreted");
        let mut jit = Jit::new(&[], &[], JitOptions::default()).expect("a supported machine");
        assert_eq!(self.submitted(&mut jit), expected, "compiled");
    }

    fn check_engine(&self, expected: &[Firing]) {
        let mut sessions = SessionWindows::new(self.gap);
        let mut journal = Journal::default();
        let mut handed = 0;
        for step in &self.steps {
            match step {
                Step::Watermark(to) => sessions.advance(EventTime(*to), &mut journal).unwrap(),
                Step::Tuple(reading) => {
                    let ns = self.event_time(reading);
                    let key = self.session_key(reading).to_ne_bytes();
                    let item = Reading {
                        ns,
                        ..reading.clone()
                    };
                    sessions.insert(&key, EventTime(ns), item, &mut journal);
                    handed += 1;
                }
            }
        }
        assert_eq!(journal.fired, expected, "fired");
        journal.fired.clear();
        sessions
            .advance(EventTime(i128::MAX), &mut journal)
            .unwrap();
        assert_eq!(sessions.session_count(), 0);
        assert_eq!(journal.left, handed, "every item is given back");
    }

    /// The event time of a tuple, as its attribute holds it.
    fn event_time(&self, reading: &Reading) -> i128 {
        self.time().held_ns(reading.ns)
    }
}

prop_compose! {
    fn any_case()(
        ty in prop_oneof![Just(Type::Int64), Just(Type::Uint64), Just(Type::Timestamp)],
        resolution in prop_oneof![Just(Resolution::Milliseconds), Just(Resolution::Nanoseconds)],
        scale in prop_oneof![Just(1_000_000_i128), Just(1), Just(1_300_000)],
        // Times about the epoch, and about the last that a word of nanoseconds holds.
        origin_ns in prop_oneof![2 => Just(0_i128), 1 => Just(i128::from(i64::MAX))],
        gap in 1..12_i128,
        discard in prop_oneof![1 => Just(0_i128), 3 => 1..60_i128],
        key in prop_oneof![Just(WindowKey::None), Just(WindowKey::Partition), Just(WindowKey::Group)],
        // How far tuples are out of order, which decides how often sessions become one.
        disorder in prop_oneof![Just(3_i128), Just(12), Just(40)],
        steps in proptest::collection::vec(
            (0..12_u8, 0..10_i128, 0..40_i128, 0..3_i32, -3..9_i64, any::<bool>()), 0..150
        ),
    ) -> Case {
        let (mut now, mut watermark) = (0, i128::MIN);
        let mut all = Vec::new();
        let time = TimeAttribute { ty: ty.clone(), resolution };
        for (seq, (kind, ahead, back, key, value, is_large)) in (0..).zip(steps) {
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
            now += ahead * i128::from(kind > 6);
            let value = if is_large { 1e16 } else { value as f64 / 3.0 };
            all.push(Step::Tuple(Reading { ns: at(now - back % disorder), key, value, seq }));
        }
        let gap = SessionGap {
            gap_ns: gap * scale,
            discard_ns: discard * scale,
            attribute: 0,
            resolution,
        };
        Case { steps: all, ty, gap, key }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: window_case_count(),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn sessions_are_those_of_a_list(case in any_case()) {
        case.check();
    }
}
