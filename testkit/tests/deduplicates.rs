//! DeDuplicate against a list of all tuples that came, interpreted and compiled.

use std::time::Duration;

use jit::{Jit, JitOptions};
use proptest::prelude::*;
use proptest::test_runner::Config;
use runtime::OperatorEntry;
use runtime::abi::Backend;
use runtime::abi::interpreter_backend::InterpreterBackend;
use thalweg_testkit::{OperatorBuilder, TextHarness, exprs};
use tuple::{Type, Value};

/// How keys are forgotten: after a number of tuples, or by the growth of the measure.
#[derive(Clone, Copy, Debug)]
enum Forgets {
    ByCount(u64),
    ByDelta(i64),
    AfterSeconds(f64),
}

/// A tuple: what its key is made of, and the measure that a delta looks at.
type Input = (u8, i64);

/// Type of the key.
#[derive(Clone, Copy, Debug)]
enum KeyKind {
    Text,
    Integer,
    /// With a NaN for the key 0, which equals none.
    Float,
}

impl KeyKind {
    fn ty(self) -> Type {
        match self {
            KeyKind::Text => Type::RString,
            KeyKind::Integer => Type::Int32,
            KeyKind::Float => Type::Float64,
        }
    }

    fn value(self, key: u8) -> Value {
        match (self, key) {
            (KeyKind::Text, _) => Value::RString("k".repeat(usize::from(key) * 3).as_str().into()),
            (KeyKind::Integer, _) => Value::Int32(key.into()),
            (KeyKind::Float, 0) => Value::Float64(f64::NAN),
            (KeyKind::Float, _) => Value::Float64(key.into()),
        }
    }

    fn equals_itself(self, key: u8) -> bool {
        !matches!((self, key), (KeyKind::Float, 0))
    }
}

/// A DeDuplicate on a backend.
struct Tested {
    harness: TextHarness,
    kind: KeyKind,
}

impl Tested {
    fn new(kind: KeyKind, forgets: Forgets, resets: bool, backend: &mut dyn Backend) -> Tested {
        let schema = [("key", kind.ty()), ("measure", Type::Int64)];
        let attribute = |at, ty| exprs::attribute(graph::PortIndex(0), at, ty);
        let (key, measure) = (attribute(0, kind.ty()), attribute(1, Type::Int64));
        let operator = OperatorBuilder::new("spl.utility::DeDuplicate", "Unique")
            .input("In", schema.clone())
            .param("key", [key.clone()])
            .param("resetOnDuplicate", [exprs::boolean(resets)])
            .output("Unique", schema.clone())
            .assign([Some(key), Some(measure.clone())])
            .output("Again", schema);
        let operator = match forgets {
            Forgets::ByCount(count) => operator.param(
                "count",
                [exprs::constant(Value::Uint64(count), Type::Uint64)],
            ),
            Forgets::ByDelta(delta) => operator
                .param("deltaAttribute", [measure])
                .param("delta", [exprs::int64(delta)]),
            Forgets::AfterSeconds(seconds) => operator.param("timeOut", [exprs::float64(seconds)]),
        };
        let entry = OperatorEntry::find(toolkit::operators(), "spl.utility::DeDuplicate");
        Tested {
            harness: TextHarness::with_backend(&operator, entry.unwrap(), backend),
            kind,
        }
    }

    /// Whether a tuple passes; a duplicate goes to the second port.
    fn passes(&mut self, (key, measure): Input) -> bool {
        let tuple = Value::Tuple([self.kind.value(key), Value::Int64(measure)].into());
        let handed = self.harness.try_process_value(graph::PortIndex(0), &tuple);
        handed.unwrap_or_else(|fault| panic!("{fault}"));
        let submitted = self.harness.take_submitted();
        assert_eq!(submitted.len(), 1, "{submitted:?}");
        submitted[0].starts_with("0 ")
    }
}

fn jit() -> Jit {
    Jit::new(&[], &[], JitOptions::default()).expect("a supported machine")
}

/// Which tuples should pass, by a list of all keys with the measure of the tuple that counts.
fn expected(kind: KeyKind, inputs: &[Input], forgets: Forgets, resets: bool) -> Vec<bool> {
    let mut last_seen: Vec<(u8, i64)> = Vec::new();
    let mut passes = Vec::new();
    for (at, &(key, measure)) in inputs.iter().enumerate() {
        let (now, limit) = match forgets {
            Forgets::ByCount(count) => (at as i64, count as i64),
            Forgets::ByDelta(delta) => (measure, delta),
            Forgets::AfterSeconds(_) => (0, 1),
        };
        if !kind.equals_itself(key) {
            passes.push(true);
            continue;
        }
        let last = last_seen.iter().position(|&(other, _)| other == key);
        let is_duplicate = last.is_some_and(|last| now - last_seen[last].1 <= limit);
        match last {
            Some(last) if resets || !is_duplicate => last_seen[last].1 = now,
            Some(_) => {}
            None => last_seen.push((key, now)),
        }
        passes.push(!is_duplicate);
    }
    passes
}

fn ways_to_forget() -> impl Strategy<Value = Forgets> {
    prop_oneof![
        (0..30_u64).prop_map(Forgets::ByCount),
        (0..20_i64).prop_map(Forgets::ByDelta),
        Just(Forgets::AfterSeconds(3600.0)),
    ]
}

proptest! {
    #![proptest_config(Config {
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn what_passes_is_what_a_list_of_all_keys_lets_pass(
        inputs in prop::collection::vec((0..20_u8, -20..40_i64), 0..200),
        kind in prop_oneof![Just(KeyKind::Text), Just(KeyKind::Integer), Just(KeyKind::Float)],
        forgets in ways_to_forget(),
        resets in any::<bool>(),
    ) {
        let expected = expected(kind, &inputs, forgets, resets);
        let mut interpreter = InterpreterBackend::new(&[], &[]);
        for backend in [&mut interpreter as &mut dyn Backend, &mut jit()] {
            let mut tested = Tested::new(kind, forgets, resets, backend);
            let passed: Vec<bool> = inputs.iter().map(|&input| tested.passes(input)).collect();
            prop_assert_eq!(&passed, &expected);
        }
    }
}

#[test]
fn a_key_is_forgotten_after_a_time() {
    let forgets = Forgets::AfterSeconds(0.05);
    let mut tested = Tested::new(KeyKind::Integer, forgets, true, &mut jit());
    assert!(tested.passes((1, 0)));
    std::thread::sleep(Duration::from_millis(60));
    assert!(tested.passes((2, 0)));
    assert!(tested.passes((1, 0)));
}

/// A key counts for 40 tuples after its last one; every second tuple is of a new key.
#[test]
fn no_more_than_twice_the_keys_that_count_are_kept() {
    let (forgets, most) = (Forgets::ByCount(40), 2 * 24);
    let mut compiled = jit();
    let backends: [&mut dyn Backend; 2] = [&mut InterpreterBackend::new(&[], &[]), &mut compiled];
    for backend in backends {
        let mut tested = Tested::new(KeyKind::Integer, forgets, true, backend);
        for turn in 3..2_000_u32 {
            assert!(tested.passes((turn as u8, 0)), "{turn} is new");
            assert!(
                !tested.passes(((turn - u32::from(turn > 3)) as u8, 0)),
                "{turn} is known"
            );
            let kept = tested.harness.metric_values(&["nStateEntries"])[0];
            assert!(kept <= most, "{kept} keys after {turn} turns");
        }
    }
}
