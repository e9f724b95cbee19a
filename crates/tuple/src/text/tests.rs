//! The serialised form by example.

use std::sync::Arc;

use super::*;
use crate::{EnumType, RString, TupleType, Type, Value};

fn list(t: Type) -> Type {
    Type::List(Arc::new(t), None)
}

fn round_trip(text: &str, ty: &Type) {
    let value = parse_whole(text.as_bytes(), ty).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert!(value.has_type(ty), "{text} as {ty}");
    assert_eq!(to_text(&value, ty), text);
}

fn refused(text: &str, ty: &Type) -> ValueParseError {
    let read = parse_whole(text.as_bytes(), ty);
    read.expect_err(&format!("{text:?} is no {ty}"))
}

#[test]
fn what_is_printed_is_read() {
    let colours = Type::Enum(Arc::new(EnumType {
        names: ["red", "green"].map(Arc::from).to_vec(),
    }));
    let inner = Type::Tuple(Arc::new(TupleType::new([
        ("x", Type::Int32),
        ("y", list(Type::RString)),
    ])));
    let map = Type::Map(Arc::new((Type::RString, inner.clone())), None);
    for (text, ty) in [
        ("true", Type::Boolean),
        ("-128", Type::Int8),
        ("255", Type::Uint8),
        ("1e+20", Type::Float64),
        ("-nan", Type::Float64),
        ("1.10", Type::Decimal64),
        ("1e-04", Type::Decimal64),
        ("(1.5,-2)", Type::Complex64),
        ("(1,2,3)", Type::Timestamp),
        ("green", colours.clone()),
        ("00ff", Type::Blob),
        ("[]", list(Type::Blob)),
        ("[ab,]", list(Type::Blob)),
        ("[\"a\\n\",\"\"]", list(Type::UString)),
        ("[\"<a b=\\\"1\\\"/>\"x]", list(Type::Xml(None))),
        ("{1,2}", Type::Set(Arc::new(Type::Int64), None)),
        ("{}", map.clone()),
        ("{\"k\":{x=1,y=[\"a\",\"b\"]},\"l\":{x=-1,y=[]}}", map),
        ("null", Type::Optional(Arc::new(inner.clone()))),
        ("{x=3,y=[\"\\u0001\"]}", Type::Optional(Arc::new(inner))),
    ] {
        round_trip(text, &ty);
    }
}

#[test]
fn readers_are_lenient_where_stated() {
    let read = |text: &str, ty: &Type| to_text(&parse_whole(text.as_bytes(), ty).unwrap(), ty);
    let t = Type::Tuple(Arc::new(TupleType::new([
        ("a", Type::Int32),
        ("b", list(Type::RString)),
    ])));
    assert_eq!(
        read(" { a = 1 ,\tb = [ 'x' , \"y'\" ] } ", &t),
        "{a=1,b=[\"x\",\"y'\"]}"
    );
    assert_eq!(read("(1 , 2)", &Type::Timestamp), "(1,2,0)");
    assert_eq!(read("\n 12\t", &Type::Int32), "12");
    assert_eq!(read("+Inf", &Type::Float32), "inf");
    assert_eq!(read("[AB]", &list(Type::Blob)), "[ab]");
    assert_eq!(
        read("{1,2,1}", &Type::Set(Arc::new(Type::Int8), None)),
        "{1,2}"
    );
    assert_eq!(
        read("[1,2,3]", &Type::List(Arc::new(Type::Int8), Some(2))),
        "[1,2]"
    );
    assert_eq!(
        read("[\"abc\"]", &list(Type::BoundedRString(2))),
        "[\"ab\"]"
    );
}

#[test]
fn casts_take_strings_as_they_are() {
    let text = b" \"a\\n\" ";
    assert_eq!(
        parse_whole(text, &Type::RString).unwrap(),
        Value::RString(RString(text.to_vec()))
    );
    assert_eq!(
        parse_whole(b"abc", &Type::BoundedRString(2)).unwrap(),
        Value::RString("ab".into())
    );
    let mut out = Vec::new();
    print_raw(&Value::RString("a\"b".into()), &Type::RString, &mut out);
    print_raw(&Value::UString("ü".into()), &Type::UString, &mut out);
    print_raw(&Value::Int8(-7), &Type::Int8, &mut out);
    assert_eq!(out, "a\"bü-7".as_bytes());
}

#[test]
fn errors_say_where_and_what() {
    let error = |offset, expected| ValueParseError { offset, expected };
    let (int8, ints) = (Type::Int8, list(Type::Int32));
    assert_eq!(
        refused("256", &Type::Uint8),
        error(0, ExpectedInput::InRange(Type::Uint8))
    );
    assert_eq!(
        refused("-129", &int8),
        error(0, ExpectedInput::InRange(int8.clone()))
    );
    assert_eq!(
        refused("12x", &Type::Int32),
        error(2, ExpectedInput::EndOfText)
    );
    assert_eq!(
        refused("", &Type::Float64),
        error(0, ExpectedInput::Value(Type::Float64))
    );
    assert_eq!(
        refused("[1;2]", &ints),
        error(2, ExpectedInput::Either(b',', b']'))
    );
    assert_eq!(
        refused("[1,", &ints),
        error(3, ExpectedInput::Value(Type::Int32))
    );
    assert_eq!(
        refused("['a]", &list(Type::RString)),
        error(1, ExpectedInput::Quote(b'\''))
    );
    assert_eq!(
        refused("tru", &Type::Boolean),
        error(0, ExpectedInput::Value(Type::Boolean))
    );
    assert_eq!(
        refused("abc", &Type::Blob),
        error(3, ExpectedInput::Value(Type::Blob))
    );
    assert_eq!(
        refused("12s", &Type::Int32).to_string(),
        "after 2 bytes: expected the end of the text"
    );
    let t = Type::Tuple(Arc::new(TupleType::new([("a", Type::Int32)])));
    assert_eq!(
        refused("{b=1}", &t),
        error(1, ExpectedInput::Attribute("a".into()))
    );
}
