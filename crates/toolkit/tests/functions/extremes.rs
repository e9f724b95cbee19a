//! Every function, of every type its prototype allows, with defaults and extreme values: it may
//! fault, but not panic, and what it gives has the type that it promises.

use std::collections::HashMap;
use std::sync::Arc;

use syntax::ast::{Prototype, TupleBodyKind, TypeExpr, TypeKind};
use tuple::arbitrary::SCALARS;
use tuple::{EnumType, List, Map, RString, Set, Timestamp, TupleType, Type, UString, Value};

use crate::harness::*;

/// Types that the names of type formals stand for.
type Binding = HashMap<String, Type>;

#[test]
fn no_function_panics() {
    let mut calls = 0;
    for f in toolkit::functions() {
        let prototype = syntax::parse_prototype(f.prototype).expect("the census test says so");
        for binding in bindings(&prototype) {
            for round in 0..ROUNDS {
                check(f.prototype, &prototype, &binding, round);
                calls += 1;
            }
        }
    }
    assert!(calls > 5000, "only {calls} calls");
}

fn check(text: &str, prototype: &Prototype, binding: &Binding, round: usize) {
    let params = prototype.params.iter().enumerate();
    let args: Vec<Arg> = params
        .map(|(at, param)| {
            let ty = resolved(&param.ty, binding);
            let value = sample(&ty, choice(round, at));
            Arg(ty, value)
        })
        .collect();
    let result = resolved(&prototype.result, binding);
    let Ok((value, after)) = call(&mut Pe::default(), text, &args, &result) else {
        return;
    };
    assert!(
        result == Type::Void || value.has_type(&result),
        "{text} gives {value:?}"
    );
    for (arg, param) in after.iter().zip(&prototype.params) {
        assert!(
            !param.is_mutable || arg.1.has_type(&arg.0),
            "{text} makes {:?}",
            arg.1
        );
    }
}

/// All ways to choose types for the formals, one constraint's types side by side.
fn bindings(prototype: &Prototype) -> Vec<Binding> {
    let choices: Vec<Vec<Type>> = prototype
        .type_formals
        .iter()
        .map(|(word, _)| allowed(&word.text))
        .collect();
    let count = choices.iter().map(Vec::len).max().unwrap_or(1);
    let choose = |n: usize| {
        let formals = prototype.type_formals.iter().zip(&choices);
        formals
            .map(move |((_, name), types)| (name.text.to_string(), types[n % types.len()].clone()))
    };
    (0..count).map(|n| choose(n).collect()).collect()
}

fn allowed(constraint: &str) -> Vec<Type> {
    let lists = |bound| [Type::Int32, Type::RString].map(|t| Type::List(t.into(), bound));
    let is: fn(&Type) -> bool = match constraint {
        "any" => |_| true,
        "ordered" => Type::is_ordered,
        "numeric" => Type::is_numeric,
        "integral" => Type::is_integral,
        "floatingpoint" => Type::is_floatingpoint,
        "float" => Type::is_float,
        "complex" => Type::is_complex,
        "string" => Type::is_string,
        "list" => return [lists(None), lists(Some(2))].concat(),
        "set" => Type::is_set,
        "collection" => Type::is_collection,
        "tuple" => Type::is_tuple,
        "xml" => Type::is_xml,
        "enum" => Type::is_enum,
        other => panic!("an unknown constraint: {other}"),
    };
    every_type().into_iter().filter(is).collect()
}

fn every_type() -> Vec<Type> {
    let color = EnumType {
        names: ["red".into(), "green".into()].into(),
    };
    let record = TupleType::new([("a", Type::Int32), ("b", Type::UString)]);
    let element: Arc<Type> = Type::RString.into();
    let entry = Arc::new((Type::Int64, Type::RString));
    let others = [
        Type::RString,
        Type::BoundedRString(3),
        Type::UString,
        Type::Blob,
        Type::Xml(None),
        Type::Enum(color.into()),
        Type::List(element.clone(), None),
        Type::List(element.clone(), Some(2)),
        Type::Set(element.clone(), None),
        Type::Set(element.clone(), Some(1)),
        Type::Map(entry.clone(), None),
        Type::Map(entry, Some(1)),
        Type::Tuple(record.into()),
        Type::Optional(element),
    ];
    [&SCALARS[..], &others].concat()
}

fn resolved(ty: &TypeExpr, binding: &Binding) -> Type {
    let inner = |t: &TypeExpr| resolved(t, binding);
    match &ty.kind {
        TypeKind::Primitive(name) => primitive(name),
        TypeKind::Named(name, part) => {
            let part = part.as_ref().map(|p| p.text.to_string());
            let whole = [Some(name.name.text.to_string()), part]
                .into_iter()
                .flatten();
            named(&whole.collect::<Vec<_>>().join("."), binding)
        }
        TypeKind::List(element, _) => Type::List(inner(element).into(), None),
        TypeKind::Set(element, _) => Type::Set(inner(element).into(), None),
        TypeKind::Map(key, value, _) => Type::Map((inner(key), inner(value)).into(), None),
        TypeKind::Tuple(body) => match &body.kind {
            TupleBodyKind::Attributes(all) => {
                let all = all.iter().map(|(t, name)| (name.text.as_ref(), inner(t)));
                Type::Tuple(TupleType::new(all).into())
            }
            TupleBodyKind::Concat(_) => panic!("no prototype joins tuple types"),
        },
        other => panic!("no prototype has {other:?}"),
    }
}

fn primitive(name: &str) -> Type {
    let plain = every_type().into_iter().find(|t| t.to_string() == name);
    plain.unwrap_or_else(|| match name {
        "void" => Type::Void,
        other => panic!("an unknown type: {other}"),
    })
}

fn named(name: &str, binding: &Binding) -> Type {
    let enumeration = |names: &str| {
        let names = names.split(' ').map(Into::into).collect();
        Type::Enum(EnumType { names }.into())
    };
    match name {
        "Sys.tm" => {
            let numbers = "sec min hour mday mon year wday yday isdst gmtoff".split(' ');
            let attributes = numbers
                .map(|n| (n, Type::Int32))
                .chain([("zone", Type::RString)]);
            Type::Tuple(TupleType::new(attributes).into())
        }
        "Sys.PEConnections" => Type::List(Type::Int32.into(), None),
        "Sys.TimestampFormat" => enumeration("YYYYMMDDhhmmss YYYY_MM_DD_hh_mm_ss_mmm"),
        "Sys.Resolution" => enumeration("Milliseconds Microseconds Nanoseconds"),
        "JsonParseStatus.status" => enumeration(
            "PARSED DOCUMENT_EMPTY MULTIPLE_ROOTS VALUE_INVALID KEY_MISSING COLON_MISSING \
             OBJECT_COMMA_OR_BRACKET_MISSING ARRAY_COMMA_OR_BRACKET_MISSING \
             UNICODE_ESCAPE_INVALID UNICODE_SURROGATE_INVALID STRING_ESCAPE_INVALID \
             STRING_QUOTATION_MISSING STRING_INVALID_ENCODING NUMBER_TOO_BIG \
             NUMBER_MISS_FRACTION NUMBER_MISS_EXPONENT TERMINATION SYNTAX_ERROR",
        ),
        "JsonStatus.status" => enumeration(
            "FOUND FOUND_CAST FOUND_WRONG_TYPE FOUND_NULL NOT_FOUND PATH_MUST_BEGIN_WITH_SLASH \
             INVALID_ESCAPE INVALID_PERCENT_ENCODING CHAR_MUST_PERCENT_ENCODING",
        ),
        _ if name.starts_with("Sys.") || name.ends_with(".Level") => enumeration("error info"),
        _ => binding
            .get(name)
            .unwrap_or_else(|| panic!("an unknown type: {name}"))
            .clone(),
    }
}

/// Which value an argument has: in the first rounds all the same, later mixed.
fn choice(round: usize, at: usize) -> usize {
    if round < EXTREMES {
        round
    } else {
        round * 5 + at * (round * 3 + 1) + at * at
    }
}

/// How often a function is called with the same types.
const ROUNDS: usize = 40;

/// How many values of each type there are.
const EXTREMES: usize = 8;

const INTEGERS: [i64; EXTREMES] = [
    0,
    1,
    -1,
    i64::MAX,
    i64::MIN,
    7,
    i32::MIN as i64,
    i32::MAX as i64,
];

const FLOATS: [f64; EXTREMES] = [
    0.0,
    1.5,
    -1.5,
    f64::MAX,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE,
    -0.0,
];

/// Among them formats of civil time, a wrong pattern, a template for a file's name.
const TEXTS: [&str; EXTREMES] = [
    "",
    "a",
    "%c%U%W%V%G%g%s%z%j%I%y%C%u",
    "%V%G",
    "%U%W",
    "(",
    "\0😀%é",
    "a,b,XXXXXX",
];

/// A value of a type; the first is the default.
fn sample(ty: &Type, n: usize) -> Value {
    let n = n % EXTREMES;
    if n == 0 && *ty != Type::Void {
        return Value::default_of(ty);
    }
    let (whole, float, text) = (INTEGERS[n], FLOATS[n], TEXTS[n]);
    match ty {
        Type::Boolean => Value::Boolean(n % 2 == 1),
        Type::Int8 => Value::Int8(whole.clamp(-128, 127) as i8),
        Type::Int16 => Value::Int16(whole.clamp(-32768, 32767) as i16),
        Type::Int32 => Value::Int32(whole.clamp(i32::MIN.into(), i32::MAX.into()) as i32),
        Type::Int64 => Value::Int64(whole),
        Type::Uint8 => Value::Uint8(whole as u8),
        Type::Uint16 => Value::Uint16(whole as u16),
        Type::Uint32 => Value::Uint32(whole as u32),
        Type::Uint64 => Value::Uint64(whole as u64),
        Type::Float32 => Value::Float32(float as f32),
        Type::Float64 => Value::Float64(float),
        Type::Decimal32 => Value::Decimal32(tuple::Decimal32::from_f64(float)),
        Type::Decimal64 => Value::Decimal64(tuple::Decimal64::from_f64(float)),
        Type::Decimal128 => Value::Decimal128(tuple::Decimal128::from_f64(float)),
        Type::Complex32 => Value::Complex32(float as f32, float as f32),
        Type::Complex64 => Value::Complex64(float, -float),
        Type::Timestamp => Value::Timestamp(Timestamp {
            seconds: whole,
            nanos: 999_999_999,
            machine: 1,
        }),
        Type::RString => Value::RString(RString::from(text)),
        Type::BoundedRString(max) => {
            let kept = text.len().min(*max as usize);
            Value::RString(RString(text.as_bytes()[..kept].to_vec()))
        }
        Type::UString => Value::UString(UString::from(text)),
        Type::Blob => Value::Blob(text.as_bytes().to_vec()),
        Type::Xml(_) => Value::Xml(RString::from("<a/>")),
        Type::Enum(e) => Value::Enum(n as u32 % e.names.len() as u32),
        Type::List(..) | Type::Set(..) | Type::Map(..) => collection(ty, n),
        Type::Tuple(t) => {
            let attributes = t.attributes.iter().enumerate();
            Value::Tuple(
                attributes
                    .map(|(at, a)| sample(&a.ty, n + at % 2))
                    .collect(),
            )
        }
        Type::Optional(held) => Value::Optional(Some(Box::new(sample(held, n)))),
        Type::Void => Value::Boolean(false),
    }
}

/// As many elements as its number, within the bound.
fn collection(ty: &Type, n: usize) -> Value {
    let upto = |bound: &Option<u32>| bound.map_or(n, |b| n.min(b as usize));
    match ty {
        Type::List(element, bound) => {
            let elements = (0..upto(bound)).map(|at| sample(element, n + at));
            Value::List(List::from_values(element, elements))
        }
        Type::Set(element, bound) => Value::Set(
            (0..upto(bound))
                .map(|at| sample(element, n + at))
                .collect::<Set>(),
        ),
        Type::Map(kv, bound) => {
            let entry = |at| (sample(&kv.0, n + at), sample(&kv.1, at));
            Value::Map((0..upto(bound)).map(entry).collect::<Map>())
        }
        other => panic!("{other} is no collection"),
    }
}
