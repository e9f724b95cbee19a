//! Strings that would be longer than an int32 can say: which `+` faults, and what ran before it.
//!
//! The limit is lowered, so that a few kilobytes reach it; it stays above the arena's first chunk,
//! as the greatest length is above its largest one.

use eval::{FaultKind, ops};
use graph::{Expr, Pos};
use tuple::{Type, UString, Value};

use crate::make::*;
use crate::rig::{Rig, Seen, schema};

const LEN_MAX: usize = 10_000;

fn long_string() -> Value {
    string(&"x".repeat(6_000))
}

/// The value of an expression over `a`, a string of 6,000 bytes, and `n`, a number; the state
/// variable is a number too.
fn seen(e: Expr) -> Seen {
    let mut rig = Rig {
        inputs: vec![(schema([("a", Type::RString), ("n", Type::Int64)]), 0)],
        state: vec![var("count", Type::Int64)],
        ..Rig::default()
    };
    let tuple = Value::Tuple(Box::new([long_string(), Value::Int64(0)]));
    let runs = ops::with_len_max(LEN_MAX, || rig.values(vec![e], vec![Some(tuple)]));
    runs.into_iter().next().expect("one run")
}

fn a() -> Expr {
    attr(0, Type::RString)
}

fn fault_pos(seen: &Seen) -> Option<Pos> {
    let (kind, _, pos) = seen.result.as_ref().expect_err("a fault");
    assert_eq!(*kind, FaultKind::Limit);
    *pos
}

#[test]
fn the_first_sum_that_is_too_long_faults() {
    let inner = add(a(), a());
    assert_eq!(fault_pos(&seen(inner.clone())), Some(inner.pos));
    let outer = add(inner.clone(), text("c"));
    assert_eq!(fault_pos(&seen(outer)), Some(inner.pos));
    let short = add(a(), text("b"));
    assert!(seen(short.clone()).result.is_ok());
    let outer = add(short, a());
    assert_eq!(fault_pos(&seen(outer.clone())), Some(outer.pos));
    let right = add(a(), a());
    assert_eq!(fault_pos(&seen(add(a(), right.clone()))), Some(right.pos));
}

#[test]
fn what_is_to_the_right_of_a_sum_that_is_too_long_does_not_run() {
    let step = step(state_place(0, Type::Int64), false, true);
    let inner = add(a(), a());
    let stepped = seen(add(inner.clone(), step.clone().cast(Type::RString)));
    assert_eq!(fault_pos(&stepped), Some(inner.pos));
    assert_eq!(seen(int(1)).state, stepped.state, "the step has not run");
    let stepped = seen(add(add(a(), text("b")), step.cast(Type::RString)));
    assert!(stepped.result.is_ok());
    assert_ne!(seen(int(1)).state, stepped.state);
    // Another fault further to the right comes later.
    let divided = bin(graph::BinaryOp::Div, int(1), attr(1, Type::Int64));
    let later = seen(add(inner.clone(), divided.clone().cast(Type::RString)));
    assert_eq!(fault_pos(&later), Some(inner.pos));
    let earlier = seen(add(add(a(), divided.cast(Type::RString)), a()));
    assert_eq!(earlier.result.unwrap_err().0, FaultKind::Division);
}

#[test]
fn an_assignment_with_plus_faults_for_every_type_of_string() {
    let bounded = Type::BoundedRString(7_000);
    let units = UString(vec![0x78; 6_000]);
    let cases = [
        (Type::RString, long_string()),
        (bounded, long_string()),
        (Type::UString, Value::UString(units)),
    ];
    for (ty, value) in cases {
        let rig = Rig {
            state: vec![var("s", ty.clone())],
            ..Rig::default()
        };
        let more = Expr::constant(value, ty.clone());
        let place = state_place(0, ty.clone());
        let twice = vec![
            add_to(place.clone(), more.clone()),
            add_to(place.clone(), more),
        ];
        let runs = ops::with_len_max(LEN_MAX, || rig.agree(&body([], twice), &[vec![]]));
        assert_eq!(fault_pos(&runs[0]), Some(place.pos), "{ty}");
    }
}
