//! Subscripts, slices, membership, and changes of parts of a value.

use proptest::prelude::*;
use thalweg_eval::{Fault, FaultKind};
use thalweg_eval::{ops, ops::ValueStep};
use tuple::Value::{Blob, Int32, Int64, RString, UString, Uint8, Uint64};
use tuple::{List, Map, Set, TupleType, Type, Value};

fn text(s: &str) -> Value {
    RString(s.into())
}

fn wide(s: &str) -> Value {
    UString(s.into())
}

fn int32s(values: &[i32]) -> Value {
    Value::List(List::Int32(values.to_vec()))
}

fn texts(values: &[&str]) -> Value {
    Value::List(List::Any(values.iter().map(|s| text(s)).collect()))
}

fn ages() -> Value {
    let entries = [("ann", 31), ("bob", 27)];
    Value::Map(
        entries
            .map(|(k, v)| (text(k), Int32(v)))
            .into_iter()
            .collect::<Map>(),
    )
}

#[track_caller]
fn faults<T: std::fmt::Debug>(result: Result<T, Fault>, sentence: &str) {
    let fault = result.expect_err("a fault");
    assert_eq!(
        (fault.message(), fault.kind()),
        (sentence, FaultKind::Value)
    );
}

#[test]
fn subscripts() {
    assert_eq!(ops::index(&int32s(&[4, 5]), &Int32(1)), Ok(Int32(5)));
    assert_eq!(ops::index(&texts(&["a", "b"]), &Uint64(0)), Ok(text("a")));
    assert_eq!(ops::index(&ages(), &text("bob")), Ok(Int32(27)));
    assert_eq!(ops::index(&text("héllo"), &Int32(0)), Ok(text("h")));
    assert_eq!(ops::index(&text("abc"), &Int32(2)), Ok(text("c")));
    assert_eq!(ops::index(&wide("h😀o"), &Int32(1)), Ok(wide("😀")));
    assert_eq!(ops::index(&Blob(vec![7, 8]), &Int64(1)), Ok(Uint8(8)));
}

#[test]
fn subscripts_out_of_range() {
    let at = |base: Value, index: Value| ops::index(&base, &index);
    let sentence = "index 7 is out of range of a list of 3";
    faults(at(int32s(&[1, 2, 3]), Int32(7)), sentence);
    faults(
        at(texts(&[]), Int32(-1)),
        "index -1 is out of range of a list of 0",
    );
    let sentence = "index 18446744073709551615 is out of range of a string of 1";
    faults(at(text("x"), Uint64(u64::MAX)), sentence);
    faults(
        at(wide("x"), Int32(1)),
        "index 1 is out of range of a string of 1",
    );
    faults(
        at(Blob(vec![]), Int32(0)),
        "index 0 is out of range of a blob of 0",
    );
    faults(at(ages(), text("eve")), "the map has no key \"eve\"");
}

#[track_caller]
fn slice(base: Value, lower: Option<i32>, upper: Option<i32>, expected: Value) {
    let (lower, upper) = (lower.map(Int32), upper.map(Int32));
    assert_eq!(
        ops::slice(&base, lower.as_ref(), upper.as_ref()),
        Ok(expected)
    );
}

#[test]
fn slices() {
    slice(int32s(&[1, 2, 3, 4]), Some(1), Some(3), int32s(&[2, 3]));
    slice(int32s(&[1, 2, 3, 4]), Some(1), None, int32s(&[2, 3, 4]));
    slice(int32s(&[1, 2, 3, 4]), None, Some(2), int32s(&[1, 2]));
    slice(int32s(&[1, 2]), Some(1), Some(9), int32s(&[2]));
    slice(int32s(&[1, 2]), None, Some(9), int32s(&[1, 2]));
    slice(int32s(&[1, 2]), Some(2), Some(2), int32s(&[]));
    slice(int32s(&[1, 2]), Some(1), Some(0), int32s(&[]));
    slice(int32s(&[1, 2]), Some(0), Some(-1), int32s(&[]));
    slice(texts(&["a", "b", "c"]), Some(1), Some(2), texts(&["b"]));
    slice(text("hello"), Some(1), Some(3), text("el"));
    slice(text("hello"), None, Some(2), text("he"));
    slice(text("hello"), Some(5), None, text(""));
    slice(wide("a😀bc"), Some(1), Some(3), wide("😀b"));
    slice(wide("a😀bc"), None, Some(1), wide("a"));
    slice(Blob(vec![1, 2, 3]), Some(1), Some(3), Blob(vec![2, 3]));
}

#[test]
fn a_slice_cannot_begin_outside() {
    let from = |base: Value, lower| ops::slice(&base, Some(&Int32(lower)), None);
    let sentence = "the slice begins at 3, beyond the end of a list of 2";
    faults(from(int32s(&[1, 2]), 3), sentence);
    faults(
        from(text("ab"), -1),
        "the slice of a string begins at -1, before the start",
    );
    let sentence = "the slice begins at 9, beyond the end of a string of 1";
    faults(from(wide("😀"), 9), sentence);
}

#[test]
fn membership() {
    let set = Value::Set([1, 2].map(Int32).into_iter().collect::<Set>());
    assert_eq!(ops::contains(&set, &Int32(2)), Ok(true));
    assert_eq!(ops::contains(&set, &Int32(3)), Ok(false));
    assert_eq!(ops::contains(&int32s(&[4, 5]), &Int32(5)), Ok(true));
    assert_eq!(ops::contains(&texts(&["a"]), &text("b")), Ok(false));
    assert_eq!(ops::contains(&ages(), &text("ann")), Ok(true));
    let nan = Value::List(List::Float64(vec![f64::NAN]));
    assert_eq!(ops::contains(&nan, &Value::Float64(f64::NAN)), Ok(false));
}

fn person() -> (Type, Value) {
    let ty = TupleType::new([
        ("name", Type::RString),
        ("marks", Type::List(Type::Int32.into(), None)),
        (
            "ages",
            Type::Map((Type::RString, Type::Int32).into(), Some(2)),
        ),
        ("tags", Type::List(Type::RString.into(), None)),
        ("photo", Type::Blob),
        ("pet", Type::Optional(Type::RString.into())),
    ]);
    let value = Value::Tuple(Box::new([
        text("ann"),
        int32s(&[1, 2]),
        Value::Map(Map::new()),
        texts(&["x", "y"]),
        Blob(vec![0, 0]),
        Value::Optional(Some(Box::new(text("cat")))),
    ]));
    (Type::Tuple(ty.into()), value)
}

#[test]
fn parts_are_read_without_copies_of_the_whole() {
    let (_, person) = person();
    let read = |keys: &[ValueStep]| ops::read_part(&person, keys).map(std::borrow::Cow::into_owned);
    assert_eq!(read(&[ValueStep::Field(0)]), Ok(text("ann")));
    assert_eq!(
        read(&[ValueStep::Field(1), ValueStep::Index(Int32(1))]),
        Ok(Int32(2))
    );
    assert_eq!(
        read(&[ValueStep::Field(3), ValueStep::Index(Int32(0))]),
        Ok(text("x"))
    );
    assert_eq!(
        read(&[ValueStep::Field(5), ValueStep::Unwrap]),
        Ok(text("cat"))
    );
    let tag = ops::read_part(&person, &[ValueStep::Field(3), ValueStep::Index(Int32(0))]);
    assert!(matches!(tag, Ok(std::borrow::Cow::Borrowed(_))));
    let missing = read(&[ValueStep::Field(2), ValueStep::Index(text("eve"))]);
    faults(missing, "the map has no key \"eve\"");
}

#[test]
fn stores_reach_into_every_kind_of_value() {
    let (ty, mut person) = person();
    let mut store = |keys: &[ValueStep], new: Value| ops::store_part(&mut person, &ty, keys, new);
    store(&[ValueStep::Field(0)], text("bob")).expect("an attribute");
    store(&[ValueStep::Field(1), ValueStep::Index(Int32(0))], Int32(9)).expect("a packed element");
    store(
        &[ValueStep::Field(3), ValueStep::Index(Int32(1))],
        text("z"),
    )
    .expect("an element");
    store(
        &[ValueStep::Field(4), ValueStep::Index(Int32(1))],
        Uint8(255),
    )
    .expect("a byte");
    let beyond = store(&[ValueStep::Field(1), ValueStep::Index(Int32(2))], Int32(0));
    faults(beyond, "index 2 is out of range of a list of 2");
    let Value::Tuple(parts) = person else {
        panic!("no tuple")
    };
    assert_eq!(parts[0], text("bob"));
    assert_eq!(parts[1], int32s(&[9, 2]));
    assert_eq!(parts[3], texts(&["x", "z"]));
    assert_eq!(parts[4], Blob(vec![0, 255]));
}

#[test]
fn a_store_inserts_a_key_while_there_is_room() {
    let (ty, mut person) = person();
    let mut store = |key: &str, age| {
        let keys = [ValueStep::Field(2), ValueStep::Index(text(key))];
        ops::store_part(&mut person, &ty, &keys, Int32(age)).expect("no fault");
    };
    store("a", 1);
    store("b", 2);
    store("c", 3); // beyond the bound: dropped
    store("a", 4); // replaces
    let Value::Tuple(parts) = person else {
        panic!("no tuple")
    };
    let expected = [("a", 4), ("b", 2)].map(|(k, v)| (text(k), Int32(v)));
    assert_eq!(parts[2], Value::Map(expected.into_iter().collect()));
}

#[test]
fn a_change_needs_what_it_changes() {
    let mut map = ages();
    let add = |map: &mut Value, key: &str| {
        ops::change_part(map, &[ValueStep::Index(text(key))], &mut |old| {
            *old = ops::binary(graph::BinaryOp::Add, old, &Int32(1))?;
            Ok(())
        })
    };
    add(&mut map, "ann").expect("no fault");
    assert_eq!(ops::index(&map, &text("ann")), Ok(Int32(32)));
    faults(add(&mut map, "eve"), "the map has no key \"eve\"");
}

#[test]
fn bounds_cut() {
    let cut = |value: Value, ty: Type| ops::truncate_to_bound(value, &ty);
    assert_eq!(cut(text("abcd"), Type::BoundedRString(2)), text("ab"));
    let ty = Type::List(Type::Int32.into(), Some(1));
    assert_eq!(cut(int32s(&[1, 2]), ty), int32s(&[1]));
    let set = Value::Set([3, 1, 2].map(Int32).into_iter().collect());
    let expected = Value::Set([3, 1].map(Int32).into_iter().collect());
    assert_eq!(cut(set, Type::Set(Type::Int32.into(), Some(2))), expected);
    let ty = Type::Map((Type::RString, Type::Int32).into(), Some(1));
    let expected = Value::Map([(text("ann"), Int32(31))].into_iter().collect());
    assert_eq!(cut(ages(), ty), expected);
    assert_eq!(cut(text("abcd"), Type::RString), text("abcd"));
}

proptest! {
    #[test]
    fn slices_are_those_of_vectors(
        list in proptest::collection::vec(any::<i32>(), 0..8),
        lower in -2..10_i64,
        upper in -2..10_i64,
    ) {
        let sliced = ops::slice(&int32s(&list), Some(&Int64(lower)), Some(&Int64(upper)));
        let naive: Vec<i32> = (lower..upper)
            .filter_map(|at| usize::try_from(at).ok().and_then(|at| list.get(at)).copied())
            .collect();
        let begins_inside = (0..=list.len() as i64).contains(&lower);
        prop_assert_eq!(sliced.ok(), begins_inside.then(|| int32s(&naive)));
    }

    #[test]
    fn ustring_slices_are_those_of_code_points(s in "[aé😀]{0,6}", lower in 0..8_usize, upper in 0..8_usize) {
        let points: Vec<char> = s.chars().collect();
        prop_assume!(lower <= points.len());
        let to = upper.clamp(lower, points.len());
        let naive: String = points[lower..to].iter().collect();
        let (lower, upper) = (Uint64(lower as u64), Uint64(upper as u64));
        prop_assert_eq!(ops::slice(&wide(&s), Some(&lower), Some(&upper)), Ok(wide(&naive)));
    }

    #[test]
    fn what_is_taken_can_be_put_back(at in 0..3_usize) {
        let original = texts(&["a", "b", "c"]);
        let mut list = original.clone();
        let keys = [ValueStep::Index(Uint64(at as u64))];
        let taken = ops::take_part(&mut list, &keys).expect("an element");
        ops::change_part(&mut list, &keys, &mut |gap| {
            *gap = taken.clone();
            Ok(())
        }).expect("an element");
        prop_assert_eq!(list, original);
    }
}
