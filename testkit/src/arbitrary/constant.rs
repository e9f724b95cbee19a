//! Values of a type, those at the edges often.

use eval::ops::truncate_to_bound;
use tuple::{Decimal32, Decimal64, Decimal128, List, RString, Timestamp, Type, UString, Value};

use super::choices::Choices;

/// A value of a type: the default if nothing is decided.
pub(super) fn constant(ty: &Type, choices: &mut Choices<'_>) -> Value {
    if let Some(number) = number(ty, choices) {
        return number;
    }
    match ty {
        Type::Boolean => Value::Boolean(choices.below(2) == 1),
        Type::Enum(e) => Value::Enum(choices.below(e.names.len()) as u32),
        Type::Timestamp => timestamp(choices),
        Type::RString | Type::BoundedRString(_) => {
            truncate_to_bound(Value::RString(text(choices).into()), ty)
        }
        Type::UString => Value::UString(UString::from(text(choices))),
        Type::Xml(_) => Value::Xml(RString::from("<a/>")),
        Type::Blob => Value::Blob(text(choices).as_bytes().to_vec()),
        Type::Optional(held) => {
            let is_null = choices.below(3) == 0;
            Value::Optional((!is_null).then(|| Box::new(constant(held, choices))))
        }
        Type::Tuple(schema) => {
            let parts = schema.attributes.iter().map(|a| constant(&a.ty, choices));
            Value::Tuple(parts.collect())
        }
        _ => collection(ty, choices),
    }
}

fn collection(ty: &Type, choices: &mut Choices<'_>) -> Value {
    let len = choices.below(5);
    let value = match ty {
        Type::List(element, _) => {
            let items = (0..len).map(|_| constant(element, choices));
            Value::List(List::from_values(element, items))
        }
        Type::Set(element, _) => Value::Set((0..len).map(|_| constant(element, choices)).collect()),
        Type::Map(entry, _) => {
            let entries = (0..len).map(|_| {
                let key = constant(&entry.0, choices);
                (key, constant(&entry.1, choices))
            });
            Value::Map(entries.collect())
        }
        _ => Value::default_of(ty),
    };
    truncate_to_bound(value, ty)
}

/// A number of any width: small, at an edge, or any.
fn integer(choices: &mut Choices<'_>) -> u64 {
    match choices.below(4) {
        0 | 1 => choices.below(8) as u64,
        2 => {
            let edges = [
                u64::MAX,
                1 << 63,
                i64::MAX as u64,
                1 << 31,
                (1 << 31) - 1,
                0x7F,
                0x80,
                0x7FFF,
                0x8000,
            ];
            *choices.one_of(&edges)
        }
        _ => choices.bits(),
    }
}

const FLOATS: [f64; 14] = [
    0.0,
    1.0,
    -1.0,
    2.5,
    -0.0,
    0.1,
    1e10,
    -1e19,
    2_147_483_648.0,
    -32_769.5,
    1e300,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

fn float(choices: &mut Choices<'_>) -> f64 {
    match choices.below(3) {
        0 | 1 => *choices.one_of(&FLOATS),
        _ => {
            let any = f64::from_bits(choices.bits());
            if any.is_nan() { 7.0 } else { any }
        }
    }
}

const DECIMALS: [&str; 10] = [
    "0", "1", "-1", "2.50", "0.1", "99999.99", "1E+10", "-1E-7", "123456.7", "0.00",
];

fn number(ty: &Type, choices: &mut Choices<'_>) -> Option<Value> {
    Some(match ty {
        Type::Int8 => Value::Int8(integer(choices) as i8),
        Type::Int16 => Value::Int16(integer(choices) as i16),
        Type::Int32 => Value::Int32(integer(choices) as i32),
        Type::Int64 => Value::Int64(integer(choices) as i64),
        Type::Uint8 => Value::Uint8(integer(choices) as u8),
        Type::Uint16 => Value::Uint16(integer(choices) as u16),
        Type::Uint32 => Value::Uint32(integer(choices) as u32),
        Type::Uint64 => Value::Uint64(integer(choices)),
        Type::Float32 => Value::Float32(float(choices) as f32),
        Type::Float64 => Value::Float64(float(choices)),
        Type::Complex32 => Value::Complex32(float(choices) as f32, float(choices) as f32),
        Type::Complex64 => Value::Complex64(float(choices), float(choices)),
        Type::Decimal32 => {
            let number = Decimal32::from_text(choices.one_of(&DECIMALS).as_bytes());
            Value::Decimal32(number.unwrap_or_default())
        }
        Type::Decimal64 => {
            let number = Decimal64::from_text(choices.one_of(&DECIMALS).as_bytes());
            Value::Decimal64(number.unwrap_or_default())
        }
        Type::Decimal128 => {
            let number = Decimal128::from_text(choices.one_of(&DECIMALS).as_bytes());
            Value::Decimal128(number.unwrap_or_default())
        }
        _ => return None,
    })
}

fn timestamp(choices: &mut Choices<'_>) -> Value {
    Value::Timestamp(Timestamp {
        seconds: *choices.one_of(&[0, 1, -1, 1_700_000_000, i64::MAX, i64::MIN]),
        nanos: *choices.one_of(&[0, 1, 999_999_999]),
        machine: choices.below(3) as i32,
    })
}

const TEXTS: [&str; 14] = [
    "",
    "a",
    "abc",
    "12",
    "-7",
    "é😀",
    "x\"y\\z",
    "3.5",
    "true",
    "[1,2]",
    "red",
    "0aff",
    " 5 ",
    "a longer string, longer than most",
];

fn text(choices: &mut Choices<'_>) -> &'static str {
    choices.one_of::<&str>(&TEXTS)
}
