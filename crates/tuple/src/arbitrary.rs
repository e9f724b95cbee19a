//! Random types and values for property tests, with shrinking.
//!
//! [`schemas`] and [`types`] give types, [`values`] a value of one. [`printable`] keeps to values
//! that their text form holds whole: text rounds floats, and cannot tell a list of one empty blob
//! from an empty list.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::decimal::codec::UnpackedDecimal;
use crate::{
    Attribute, Decimal32, Decimal64, Decimal128, EnumType, List, RString, Timestamp, TupleType,
    Type, UString, Value,
};

/// Booleans, numbers and timestamps: the types of fixed length, without enums and bounded strings.
pub const SCALARS: [Type; 17] = [
    Type::Boolean,
    Type::Int8,
    Type::Int16,
    Type::Int32,
    Type::Int64,
    Type::Uint8,
    Type::Uint16,
    Type::Uint32,
    Type::Uint64,
    Type::Float32,
    Type::Float64,
    Type::Decimal32,
    Type::Decimal64,
    Type::Decimal128,
    Type::Complex32,
    Type::Complex64,
    Type::Timestamp,
];

/// Types that have no parts.
pub fn primitives() -> BoxedStrategy<Type> {
    let others = [Type::RString, Type::UString, Type::Blob, Type::Xml(None)];
    let plain = [&SCALARS[..], &others].concat();
    let enums = (1..4usize).prop_map(|count| {
        let names = (0..count).map(|at| format!("e{at}").into()).collect();
        Type::Enum(Arc::new(EnumType { names }))
    });
    prop_oneof![
        8 => proptest::sample::select(plain),
        1 => (1..9u32).prop_map(Type::BoundedRString),
        1 => enums,
    ]
    .boxed()
}

/// All types, composites up to a few levels deep.
pub fn types() -> BoxedStrategy<Type> {
    let bound = || proptest::option::weighted(0.3, 1..5u32);
    primitives()
        .prop_recursive(3, 16, 4, move |inner| {
            let parts = inner.clone();
            prop_oneof![
                (inner.clone(), bound()).prop_map(|(t, n)| Type::List(Arc::new(t), n)),
                (inner.clone(), bound()).prop_map(|(t, n)| Type::Set(Arc::new(t), n)),
                (inner.clone(), inner.clone(), bound())
                    .prop_map(|(k, v, n)| Type::Map(Arc::new((k, v)), n)),
                vec(parts, 0..4).prop_map(|types| Type::Tuple(Arc::new(tuple_type_of(types)))),
                inner.prop_map(|t| match t {
                    Type::Optional(_) => t,
                    plain => Type::Optional(Arc::new(plain)),
                }),
            ]
        })
        .boxed()
}

/// Schemas of one to five attributes.
pub fn schemas() -> BoxedStrategy<Arc<TupleType>> {
    vec(types(), 1..6)
        .prop_map(|types| Arc::new(tuple_type_of(types)))
        .boxed()
}

/// A schema, and a tuple of it.
pub fn tuples() -> BoxedStrategy<(Arc<TupleType>, Value)> {
    schemas()
        .prop_flat_map(|schema| {
            let values = values(&Type::Tuple(schema.clone()));
            (Just(schema), values)
        })
        .boxed()
}

/// A schema, and a tuple of it that its text form holds whole.
pub fn printable_tuples() -> BoxedStrategy<(Arc<TupleType>, Value)> {
    schemas()
        .prop_flat_map(|schema| {
            let values = printable(&Type::Tuple(schema.clone()));
            (Just(schema), values)
        })
        .boxed()
}

/// Values of a type, of all that it holds.
pub fn values(ty: &Type) -> BoxedStrategy<Value> {
    value_strategy(ty, false)
}

/// Values of a type that its text form holds whole.
pub fn printable(ty: &Type) -> BoxedStrategy<Value> {
    value_strategy(ty, true)
}

fn tuple_type_of(types: Vec<Type>) -> TupleType {
    let attributes = types.into_iter().enumerate().map(|(at, ty)| Attribute {
        name: format!("a{at}").into(),
        ty,
    });
    TupleType {
        attributes: attributes.collect(),
    }
}

fn value_strategy(ty: &Type, printable: bool) -> BoxedStrategy<Value> {
    match ty {
        Type::Boolean => any::<bool>().prop_map(Value::Boolean).boxed(),
        Type::Int8 => any::<i8>().prop_map(Value::Int8).boxed(),
        Type::Int16 => any::<i16>().prop_map(Value::Int16).boxed(),
        Type::Int32 => any::<i32>().prop_map(Value::Int32).boxed(),
        Type::Int64 => any::<i64>().prop_map(Value::Int64).boxed(),
        Type::Uint8 => any::<u8>().prop_map(Value::Uint8).boxed(),
        Type::Uint16 => any::<u16>().prop_map(Value::Uint16).boxed(),
        Type::Uint32 => any::<u32>().prop_map(Value::Uint32).boxed(),
        Type::Uint64 => any::<u64>().prop_map(Value::Uint64).boxed(),
        Type::Float32 => float32(printable).prop_map(Value::Float32).boxed(),
        Type::Float64 => float64(printable).prop_map(Value::Float64).boxed(),
        Type::Decimal32 => decimal()
            .prop_map(|d| Value::Decimal32(Decimal32::pack(d)))
            .boxed(),
        Type::Decimal64 => decimal()
            .prop_map(|d| Value::Decimal64(Decimal64::pack(d)))
            .boxed(),
        Type::Decimal128 => decimal()
            .prop_map(|d| Value::Decimal128(Decimal128::pack(d)))
            .boxed(),
        Type::Complex32 => (float32(printable), float32(printable))
            .prop_map(|(re, im)| Value::Complex32(re, im))
            .boxed(),
        Type::Complex64 => (float64(printable), float64(printable))
            .prop_map(|(re, im)| Value::Complex64(re, im))
            .boxed(),
        Type::Timestamp => (any::<i64>(), 0..1_000_000_000u32, any::<i32>())
            .prop_map(|(seconds, nanos, machine)| {
                Value::Timestamp(Timestamp {
                    seconds,
                    nanos,
                    machine,
                })
            })
            .boxed(),
        Type::Enum(e) => (0..e.names.len().max(1) as u32)
            .prop_map(Value::Enum)
            .boxed(),
        Type::RString => bytes().prop_map(|b| Value::RString(RString(b))).boxed(),
        Type::Xml(_) => bytes().prop_map(|b| Value::Xml(RString(b))).boxed(),
        Type::BoundedRString(n) => {
            let n = *n as usize;
            bytes()
                .prop_map(move |mut b| {
                    b.truncate(n);
                    Value::RString(RString(b))
                })
                .boxed()
        }
        Type::UString => units().prop_map(|u| Value::UString(UString(u))).boxed(),
        Type::Blob => vec(any::<u8>(), usize::from(printable)..20)
            .prop_map(Value::Blob)
            .boxed(),
        _ => composite(ty, printable),
    }
}

fn composite(ty: &Type, printable: bool) -> BoxedStrategy<Value> {
    let len = |bound: &Option<u32>| 0..=bound.unwrap_or(4).min(4) as usize;
    match ty {
        Type::List(t, n) => {
            let element = t.clone();
            vec(value_strategy(t, printable), len(n))
                .prop_map(move |values| Value::List(List::from_values(&element, values)))
                .boxed()
        }
        Type::Set(t, n) => vec(value_strategy(t, printable), len(n))
            .prop_map(|values| Value::Set(values.into_iter().collect()))
            .boxed(),
        Type::Map(kv, n) => vec(
            (
                value_strategy(&kv.0, printable),
                value_strategy(&kv.1, printable),
            ),
            len(n),
        )
        .prop_map(|entries| Value::Map(entries.into_iter().collect()))
        .boxed(),
        Type::Tuple(t) => {
            let start: BoxedStrategy<Vec<Value>> = Just(Vec::new()).boxed();
            let attributes = t.attributes.iter().fold(start, |all, attribute| {
                (all, value_strategy(&attribute.ty, printable))
                    .prop_map(|(mut values, value)| {
                        values.push(value);
                        values
                    })
                    .boxed()
            });
            attributes
                .prop_map(|values| Value::Tuple(values.into()))
                .boxed()
        }
        Type::Optional(t) => proptest::option::of(value_strategy(t, printable))
            .prop_map(|value| Value::Optional(value.map(Box::new)))
            .boxed(),
        _ => Just(Value::default_of(ty)).boxed(),
    }
}

fn float64(printable: bool) -> BoxedStrategy<f64> {
    let short = (-999_999_999_999_999..=999_999_999_999_999i64, -300..280i32)
        .prop_map(|(digits, exponent)| format!("{digits}e{exponent}").parse().unwrap_or(0.0));
    let special =
        proptest::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, -f64::INFINITY]);
    let whole = any::<i32>().prop_map(f64::from);
    if printable {
        prop_oneof![2 => short, 1 => special, 2 => whole].boxed()
    } else {
        let bits = any::<u64>().prop_map(f64::from_bits);
        prop_oneof![1 => short, 1 => special, 1 => whole, 2 => bits].boxed()
    }
}

fn float32(printable: bool) -> BoxedStrategy<f32> {
    let short = (-999_999..=999_999i32, -36..30i32)
        .prop_map(|(digits, exponent)| format!("{digits}e{exponent}").parse().unwrap_or(0.0));
    let special =
        proptest::sample::select(vec![0.0, -0.0, f32::NAN, f32::INFINITY, -f32::INFINITY]);
    if printable {
        prop_oneof![3 => short, 1 => special].boxed()
    } else {
        let bits = any::<u32>().prop_map(f32::from_bits);
        prop_oneof![1 => short, 1 => special, 2 => bits].boxed()
    }
}

/// Decimals before they are rounded to a width: short ones, long ones, and ones at the limits.
pub fn decimal() -> BoxedStrategy<UnpackedDecimal> {
    let coefficient = prop_oneof![
        0..100u128,
        any::<u32>().prop_map(u128::from),
        0..10u128.pow(36)
    ];
    let exponent = prop_oneof![4 => -8..4i32, 1 => -110..100i32, 1 => -6200..6200i32];
    let finite =
        (any::<bool>(), coefficient, exponent).prop_map(|(negative, coefficient, exponent)| {
            UnpackedDecimal::Finite {
                negative,
                coefficient,
                exponent,
            }
        });
    prop_oneof![
        20 => finite,
        1 => any::<bool>().prop_map(|negative| UnpackedDecimal::Infinite { negative }),
        1 => any::<bool>().prop_map(|negative| UnpackedDecimal::Nan { negative }),
    ]
    .boxed()
}

/// Text, and bytes that are none.
fn bytes() -> BoxedStrategy<Vec<u8>> {
    let text = any::<String>().prop_map(String::into_bytes);
    let ascii = "[ -~\n\t\"'\\\\,#{}]{0,12}".prop_map(String::into_bytes);
    prop_oneof![3 => ascii, 1 => text, 1 => vec(any::<u8>(), 0..12)].boxed()
}

/// Text, and units that are none.
fn units() -> BoxedStrategy<Vec<u16>> {
    let text = any::<String>().prop_map(|text| text.encode_utf16().collect());
    let halves = vec(prop_oneof![0xD7F0..0xE010u16, 0..0x80u16], 0..8);
    prop_oneof![2 => text, 1 => halves].boxed()
}
