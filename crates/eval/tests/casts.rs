//! The table of casts, with the values at the edges.

use std::sync::Arc;

use proptest::prelude::*;
use thalweg_eval::{FaultKind, ops};
use tuple::Value::{
    Blob, Boolean, Complex32, Complex64, Enum, Float32, Float64, Int8, Int16, Int32, Int64,
    Optional, RString, Timestamp, UString, Uint8, Uint16, Uint32, Uint64, Xml,
};
use tuple::{Decimal32, Decimal64, Decimal128, EnumType, List, Map, Set, TupleType, Type, Value};

#[track_caller]
fn gives(value: Value, from: Type, to: Type, expected: Value) {
    let result = ops::cast(&value, &from, &to).expect("no fault");
    assert_eq!(
        format!("{result:?}"),
        format!("{expected:?}"),
        "{value:?}: {from} to {to}"
    );
    assert!(result.has_type(&to), "{result:?}: {to}");
}

#[track_caller]
fn faults(value: Value, from: Type, to: Type, sentence: &str) {
    let fault = ops::cast(&value, &from, &to).expect_err("a fault");
    assert_eq!(
        (fault.message(), fault.kind()),
        (sentence, FaultKind::Value)
    );
}

fn text(s: &str) -> Value {
    RString(s.into())
}

fn wide(s: &str) -> Value {
    UString(s.into())
}

fn decimal64(s: &str) -> Value {
    Value::Decimal64(Decimal64::from_text(s.as_bytes()).expect("a decimal"))
}

fn colours() -> Type {
    let names = ["red", "green"].map(Arc::from).to_vec();
    Type::Enum(Arc::new(EnumType { names }))
}

fn list(of: Type) -> Type {
    Type::List(Arc::new(of), None)
}

fn optional(of: Type) -> Type {
    Type::Optional(Arc::new(of))
}

fn some(value: Value) -> Value {
    Optional(Some(Box::new(value)))
}

#[test]
fn integers_keep_their_low_bits() {
    gives(Int32(300), Type::Int32, Type::Int8, Int8(44));
    gives(Int32(-1), Type::Int32, Type::Uint64, Uint64(u64::MAX));
    gives(Uint64(u64::MAX), Type::Uint64, Type::Int64, Int64(-1));
    gives(Int64(i64::MIN), Type::Int64, Type::Uint16, Uint16(0));
    gives(Uint8(200), Type::Uint8, Type::Int8, Int8(-56));
    gives(Uint8(200), Type::Uint8, Type::Int16, Int16(200));
}

#[test]
fn floats_truncate_and_saturate() {
    gives(Float64(2.9), Type::Float64, Type::Int32, Int32(2));
    gives(Float64(-2.9), Type::Float64, Type::Int32, Int32(-2));
    gives(Float64(1e30), Type::Float64, Type::Int64, Int64(i64::MAX));
    gives(Float64(-1.0), Type::Float64, Type::Uint32, Uint32(0));
    gives(Float32(300.0), Type::Float32, Type::Int8, Int8(127));
    gives(Float64(f64::NAN), Type::Float64, Type::Int16, Int16(0));
    gives(
        Float64(f64::NEG_INFINITY),
        Type::Float64,
        Type::Int64,
        Int64(i64::MIN),
    );
    gives(Float64(0.1), Type::Float64, Type::Float32, Float32(0.1));
    gives(
        Float64(1e300),
        Type::Float64,
        Type::Float32,
        Float32(f32::INFINITY),
    );
}

#[test]
fn numbers_to_floats() {
    gives(
        Int64((1 << 53) + 1),
        Type::Int64,
        Type::Float64,
        Float64(9_007_199_254_740_992.0),
    );
    gives(
        Uint64(u64::MAX),
        Type::Uint64,
        Type::Float32,
        Float32(18_446_744_073_709_551_615.0),
    );
    gives(Float32(0.5), Type::Float32, Type::Float64, Float64(0.5));
    gives(
        decimal64("2.5"),
        Type::Decimal64,
        Type::Float64,
        Float64(2.5),
    );
    gives(
        decimal64("0.1"),
        Type::Decimal64,
        Type::Float32,
        Float32(0.1),
    );
}

#[test]
fn decimals() {
    gives(
        Float64(0.1),
        Type::Float64,
        Type::Decimal64,
        decimal64("0.1000000000000000"),
    );
    gives(
        Float64(1.5),
        Type::Float64,
        Type::Decimal64,
        decimal64("1.5"),
    );
    gives(
        Float32(-0.0),
        Type::Float32,
        Type::Decimal64,
        decimal64("-0"),
    );
    gives(Int32(-7), Type::Int32, Type::Decimal64, decimal64("-7"));
    gives(decimal64("-2.9"), Type::Decimal64, Type::Int32, Int32(-2));
    gives(decimal64("300"), Type::Decimal64, Type::Int8, Int8(44));
    let many = Decimal128::from_text(b"1.23456789").expect("a decimal");
    let few = Decimal32::from_text(b"1.234568").expect("a decimal");
    let (many, few) = (Value::Decimal128(many), Value::Decimal32(few));
    gives(many, Type::Decimal128, Type::Decimal32, few);
}

#[test]
fn complex_numbers() {
    gives(
        Complex32(1.5, -2.0),
        Type::Complex32,
        Type::Complex64,
        Complex64(1.5, -2.0),
    );
    gives(
        Complex64(0.1, 2.0),
        Type::Complex64,
        Type::Complex32,
        Complex32(0.1, 2.0),
    );
    let parts = Value::List(List::Int32(vec![3, -4]));
    gives(
        parts.clone(),
        list(Type::Int32),
        Type::Complex64,
        Complex64(3.0, -4.0),
    );
    gives(
        parts,
        list(Type::Int32),
        Type::Complex32,
        Complex32(3.0, -4.0),
    );
    let three = Value::List(List::Int32(vec![3, -4, 5]));
    let sentence = "a complex64 is made of a list of 2 numbers, not 3";
    faults(three, list(Type::Int32), Type::Complex64, sentence);
}

#[test]
fn strings_are_read() {
    gives(text(" 42 "), Type::RString, Type::Int32, Int32(42));
    gives(wide("-7"), Type::UString, Type::Int64, Int64(-7));
    gives(text("255"), Type::RString, Type::Uint8, Uint8(255));
    gives(text("1e3"), Type::RString, Type::Float64, Float64(1000.0));
    gives(text("true"), Type::RString, Type::Boolean, Boolean(true));
    gives(
        text("1.10"),
        Type::RString,
        Type::Decimal64,
        decimal64("1.10"),
    );
    gives(text("green"), Type::RString, colours(), Enum(1));
    gives(
        text("(1.5,-2)"),
        Type::RString,
        Type::Complex64,
        Complex64(1.5, -2.0),
    );
    gives(text("0aff"), Type::RString, Type::Blob, Blob(vec![10, 255]));
    let numbers = Value::List(List::Int32(vec![1, 2]));
    gives(text("[1, 2]"), Type::RString, list(Type::Int32), numbers);
    gives(
        text("5"),
        Type::RString,
        optional(Type::Int32),
        some(Int32(5)),
    );
}

#[test]
fn what_cannot_be_read_is_a_fault() {
    for (s, to) in [
        ("", Type::Int32),
        ("4x", Type::Int32),
        ("256", Type::Uint8),
        ("-1", Type::Uint32),
        ("1.5", Type::Int32),
        ("yes", Type::Boolean),
        ("blue", colours()),
        ("[1,", list(Type::Int32)),
    ] {
        let fault = ops::cast(&text(s), &Type::RString, &to).expect_err(s);
        let begin = format!("{s:?} cannot be cast to {to}: ");
        assert!(fault.message().starts_with(&begin), "{}", fault.message());
        assert_eq!(fault.kind(), FaultKind::Value);
    }
}

#[test]
fn strings_are_printed() {
    gives(Int8(65), Type::Int8, Type::RString, text("65"));
    gives(Float64(3.0), Type::Float64, Type::RString, text("3"));
    gives(Boolean(true), Type::Boolean, Type::UString, wide("true"));
    gives(Enum(1), colours(), Type::RString, text("green"));
    gives(wide("é"), Type::UString, Type::RString, text("é"));
    gives(text("é😀"), Type::RString, Type::UString, wide("é😀"));
    gives(
        text("abc"),
        Type::RString,
        Type::BoundedRString(2),
        text("ab"),
    );
    gives(
        Int32(12345),
        Type::Int32,
        Type::BoundedRString(3),
        text("123"),
    );
    gives(
        Xml("<a/>".into()),
        Type::Xml(None),
        Type::RString,
        text("<a/>"),
    );
    gives(Blob(vec![1, 171]), Type::Blob, Type::RString, text("01ab"));
    let names = Value::List(List::Any(vec![text("a\"b")]));
    gives(
        names,
        list(Type::RString),
        Type::RString,
        text(r#"["a\"b"]"#),
    );
    gives(
        Optional(None),
        optional(Type::Int32),
        Type::RString,
        text("null"),
    );
}

#[test]
fn enumerators_have_numbers() {
    gives(Enum(1), colours(), Type::Int8, Int8(1));
    gives(Enum(1), colours(), Type::Uint64, Uint64(1));
    gives(Int64(1), Type::Int64, colours(), Enum(1));
    let sentence = "2 is not the number of an enumerator of enum{red,green}";
    faults(Int32(2), Type::Int32, colours(), sentence);
    let sentence = "-1 is not the number of an enumerator of enum{red,green}";
    faults(Int8(-1), Type::Int8, colours(), sentence);
}

#[test]
fn timestamps_are_seconds() {
    let stamp = |seconds, nanos| {
        Timestamp(tuple::Timestamp {
            seconds,
            nanos,
            machine: 0,
        })
    };
    gives(
        Float64(1.25),
        Type::Float64,
        Type::Timestamp,
        stamp(1, 250_000_000),
    );
    gives(
        Float64(-0.25),
        Type::Float64,
        Type::Timestamp,
        stamp(-1, 750_000_000),
    );
    gives(
        Float64(0.999_999_999_9),
        Type::Float64,
        Type::Timestamp,
        stamp(1, 0),
    );
    gives(
        stamp(2, 500_000_000),
        Type::Timestamp,
        Type::Float64,
        Float64(2.5),
    );
    gives(
        Float64(f64::NAN),
        Type::Float64,
        Type::Timestamp,
        stamp(0, 0),
    );
}

#[test]
fn blobs_are_lists_of_bytes() {
    let bytes = || Value::List(List::Uint8(vec![1, 2, 3]));
    gives(bytes(), list(Type::Uint8), Type::Blob, Blob(vec![1, 2, 3]));
    gives(Blob(vec![1, 2, 3]), Type::Blob, list(Type::Uint8), bytes());
    let bounded = Type::List(Type::Uint8.into(), Some(2));
    gives(
        Blob(vec![1, 2, 3]),
        Type::Blob,
        bounded,
        Value::List(List::Uint8(vec![1, 2])),
    );
}

#[test]
fn collections_are_cast_element_by_element() {
    let floats = Value::List(List::Float64(vec![1.9, -1.9, 9.0]));
    let bounded = Type::List(Type::Int32.into(), Some(2));
    gives(
        floats,
        list(Type::Float64),
        bounded,
        Value::List(List::Int32(vec![1, -1])),
    );
    let set = Value::Set([Int32(1), Int32(257)].into_iter().collect::<Set>());
    let ty = Type::Set(Type::Int32.into(), None);
    let one = Value::Set([Int8(1)].into_iter().collect());
    gives(set, ty, Type::Set(Type::Int8.into(), None), one);
    let map = Value::Map([(Int32(1), text("2"))].into_iter().collect::<Map>());
    let from = Type::Map((Type::Int32, Type::RString).into(), None);
    let to = Type::Map((Type::RString, Type::Int64).into(), None);
    let expected = Value::Map([(text("1"), Int64(2))].into_iter().collect());
    gives(map, from, to, expected);
    let words = Value::List(List::Any(vec![text("1"), text("x")]));
    let fault = ops::cast(&words, &list(Type::RString), &list(Type::Int32));
    assert!(fault.is_err());
}

#[test]
fn tuples_are_cast_by_name() {
    let from = TupleType::new([("a", Type::Int32), ("b", Type::RString), ("c", Type::Int8)]);
    let to = TupleType::new([("b", Type::RString), ("a", optional(Type::Int32))]);
    let value = Value::Tuple(Box::new([Int32(1), text("x"), Int8(2)]));
    let expected = Value::Tuple(Box::new([text("x"), some(Int32(1))]));
    gives(
        value,
        Type::Tuple(from.into()),
        Type::Tuple(to.into()),
        expected,
    );
}

#[test]
fn optionals() {
    gives(Int32(1), Type::Int32, optional(Type::Int64), some(Int64(1)));
    gives(
        some(Int32(1)),
        optional(Type::Int32),
        optional(Type::RString),
        some(text("1")),
    );
    gives(
        Optional(None),
        optional(Type::Int32),
        optional(Type::RString),
        Optional(None),
    );
    gives(
        Optional(None),
        optional(Type::Int32),
        optional(Type::Int64),
        Optional(None),
    );
    faults(
        Optional(None),
        optional(Type::Int32),
        Type::Int32,
        "the optional value is null",
    );
}

#[test]
fn xml_is_checked() {
    gives(
        text("<a>1</a>"),
        Type::RString,
        Type::Xml(None),
        Xml("<a>1</a>".into()),
    );
    let sentence = "the string is not well-formed XML: <a> is not closed";
    faults(text("<a>"), Type::RString, Type::Xml(None), sentence);
}

fn shop() -> (Type, Value) {
    let ages = Type::Map((Type::RString, Type::Int32).into(), None);
    let inner = Type::Tuple(TupleType::new([("x", Type::Float64)]).into());
    let ty = TupleType::new([
        ("id", Type::Int32),
        ("tags", list(Type::RString)),
        ("ages", ages),
        ("pet", optional(Type::RString)),
        ("car", optional(Type::UString)),
        ("colour", colours()),
        ("inner", inner),
        ("set", Type::Set(Type::Int8.into(), None)),
    ]);
    let value = Value::Tuple(Box::new([
        Int32(-7),
        Value::List(List::Any(vec![text("a<b"), text(" \"x\" & y\r\n")])),
        Value::Map([(text("ann"), Int32(31))].into_iter().collect()),
        Optional(None),
        some(wide("é😀")),
        Enum(1),
        Value::Tuple(Box::new([Float64(0.5)])),
        Value::Set([Int8(1), Int8(2)].into_iter().collect()),
    ]));
    (Type::Tuple(ty.into()), value)
}

#[test]
fn a_tuple_survives_xml() {
    let (ty, value) = shop();
    let xml = ops::cast(&value, &ty, &Type::Xml(None)).expect("no fault");
    let Xml(document) = &xml else {
        panic!("no xml")
    };
    assert_eq!(ops::check_xml(&document.0), Ok(()));
    gives(xml, Type::Xml(None), ty, value);
}

#[test]
fn xml_of_a_tuple() {
    let ty = Type::Tuple(TupleType::new([("a", list(Type::Int8))]).into());
    let value = Value::Tuple(Box::new([Value::List(List::Int8(vec![1]))]));
    let document = "<tuple><attr name=\"a\" type=\"list&lt;int8&gt;\">\
                    <list><int8>1</int8></list></attr></tuple>";
    gives(value, ty.clone(), Type::Xml(None), Xml(document.into()));
    let other = Xml("<tuple><attr name=\"b\"><int8>1</int8></attr></tuple>".into());
    let sentence = "the xml cannot be cast to tuple<list<int8> a>: the attribute a is missing";
    faults(other, Type::Xml(None), ty, sentence);
}

proptest! {
    #[test]
    fn integers_survive_their_text(x: i64, y: u64) {
        for (value, ty) in [(Int64(x), Type::Int64), (Uint64(y), Type::Uint64)] {
            let text = ops::cast(&value, &ty, &Type::RString).expect("no fault");
            prop_assert_eq!(ops::cast(&text, &Type::RString, &ty), Ok(value));
        }
    }

    #[test]
    fn widening_and_narrowing_is_identity(x: i16) {
        for wide in [Type::Int32, Type::Int64, Type::Float32, Type::Float64, Type::Decimal32] {
            let there = ops::cast(&Int16(x), &Type::Int16, &wide).expect("no fault");
            prop_assert_eq!(ops::cast(&there, &wide, &Type::Int16), Ok(Int16(x)));
        }
    }

    #[test]
    fn strings_survive_xml(s in "[ -~é😀\t\n\r]{0,12}") {
        let ty = Type::Tuple(TupleType::new([("s", Type::RString)]).into());
        let value = Value::Tuple(Box::new([text(&s)]));
        let xml = ops::cast(&value, &ty, &Type::Xml(None)).expect("no fault");
        prop_assert_eq!(ops::cast(&xml, &Type::Xml(None), &ty), Ok(value));
    }
}
