//! DeDuplicate against a list of all tuples that came.

use proptest::prelude::*;
use runtime::OperatorEntry;
use testkit::{OperatorBuilder, TextHarness, exprs};
use tuple::{Type, Value};

/// How keys are forgotten: after a number of tuples, or by the growth of the measure.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Forgets {
    ByCount(u64),
    ByDelta(i64),
}

/// A tuple: what its key is made of, and the measure that a delta looks at.
type Input = (u8, i64);

fn input_tuple((key, measure): Input) -> Value {
    let text = "k".repeat(usize::from(key) * 3);
    let key = Value::RString(text.as_str().into());
    Value::Tuple([key, Value::Int64(measure)].into())
}

/// Which of the tuples pass the operator.
fn passed(inputs: &[Input], forgets: Forgets, resets: bool) -> Vec<bool> {
    let schema = [("key", Type::RString), ("measure", Type::Int64)];
    let attribute = |at, ty| exprs::attribute(graph::PortIndex(0), at, ty);
    let (key, measure) = (attribute(0, Type::RString), attribute(1, Type::Int64));
    let operator = OperatorBuilder::new("spl.utility::DeDuplicate", "Unique")
        .input("In", schema.clone())
        .param("key", [key.clone()])
        .param("resetOnDuplicate", [exprs::boolean(resets)])
        .output("Unique", schema)
        .assign([Some(key), Some(measure.clone())]);
    let operator = match forgets {
        Forgets::ByCount(count) => operator.param(
            "count",
            [exprs::constant(Value::Uint64(count), Type::Uint64)],
        ),
        Forgets::ByDelta(delta) => operator
            .param("deltaAttribute", [measure])
            .param("delta", [exprs::int64(delta)]),
    };
    let entry = OperatorEntry::find(thalweg_toolkit::operators(), "spl.utility::DeDuplicate");
    let mut harness = TextHarness::new(&operator, entry.unwrap());
    let passes = |&input: &Input| {
        let handed = harness.try_process_value(graph::PortIndex(0), &input_tuple(input));
        handed.unwrap();
        !harness.take_submitted().is_empty()
    };
    inputs.iter().map(passes).collect()
}

/// Which tuples should pass, by a list of all keys with the measure of the tuple that counts.
fn expected(inputs: &[Input], forgets: Forgets, resets: bool) -> Vec<bool> {
    let mut last_seen: Vec<(u8, i64)> = Vec::new();
    let mut passes = Vec::new();
    for (at, &(key, measure)) in inputs.iter().enumerate() {
        let (now, limit) = match forgets {
            Forgets::ByCount(count) => (at as i64, count as i64),
            Forgets::ByDelta(delta) => (measure, delta),
        };
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
    ]
}

proptest! {
    #[test]
    fn what_passes_is_what_a_list_of_all_keys_lets_pass(
        inputs in prop::collection::vec((0..20_u8, -20..40_i64), 0..200),
        forgets in ways_to_forget(),
        resets in any::<bool>(),
    ) {
        let expected = expected(&inputs, forgets, resets);
        prop_assert_eq!(passed(&inputs, forgets, resets), expected);
    }
}
