//! Casts between numbers.
//!
//! | from | to integer | to float | to decimal |
//! | --- | --- | --- | --- |
//! | integer | low bits | nearest | exact, or rounded half up |
//! | float | toward zero, saturating; NaN is 0 | nearest | exact, or all digits, rounded half up |
//! | decimal | via a 64-bit integer, then low bits | nearest | rounded half up |

use tuple::{Decimal32, Decimal64, Decimal128, Type, Value};

/// A number widened as far as it stays exact.
#[derive(Clone, Copy)]
enum WidenedNumber {
    Signed(i64),
    Unsigned(u64),
    Float32(f32),
    Float64(f64),
    Decimal32(Decimal32),
    Decimal64(Decimal64),
    Decimal128(Decimal128),
}

/// Casts a real number to a real number, or a complex one to a complex one; `None` for other
/// values.
pub(super) fn cast(value: &Value, to: &Type) -> Option<Value> {
    match (value, to) {
        (Value::Complex32(re, im), Type::Complex64) => {
            return Some(Value::Complex64((*re).into(), (*im).into()));
        }
        (Value::Complex64(re, im), Type::Complex32) => {
            return Some(Value::Complex32(*re as f32, *im as f32));
        }
        _ => {}
    }
    let number = WidenedNumber::from_value(value)?;
    Some(match to {
        Type::Int8 => Value::Int8(number.to_i8()),
        Type::Int16 => Value::Int16(number.to_i16()),
        Type::Int32 => Value::Int32(number.to_i32()),
        Type::Int64 => Value::Int64(number.to_i64()),
        Type::Uint8 => Value::Uint8(number.to_u8()),
        Type::Uint16 => Value::Uint16(number.to_u16()),
        Type::Uint32 => Value::Uint32(number.to_u32()),
        Type::Uint64 => Value::Uint64(number.to_u64()),
        Type::Float32 => Value::Float32(number.to_f32()),
        Type::Float64 => Value::Float64(number.to_f64()),
        Type::Decimal32 => Value::Decimal32(number.to_decimal32()),
        Type::Decimal64 => Value::Decimal64(number.to_decimal64()),
        Type::Decimal128 => Value::Decimal128(number.to_decimal128()),
        _ => return None,
    })
}

impl WidenedNumber {
    fn from_value(value: &Value) -> Option<WidenedNumber> {
        Some(match value {
            Value::Int8(x) => WidenedNumber::Signed((*x).into()),
            Value::Int16(x) => WidenedNumber::Signed((*x).into()),
            Value::Int32(x) => WidenedNumber::Signed((*x).into()),
            Value::Int64(x) => WidenedNumber::Signed(*x),
            Value::Uint8(x) => WidenedNumber::Unsigned((*x).into()),
            Value::Uint16(x) => WidenedNumber::Unsigned((*x).into()),
            Value::Uint32(x) => WidenedNumber::Unsigned((*x).into()),
            Value::Uint64(x) => WidenedNumber::Unsigned(*x),
            Value::Float32(x) => WidenedNumber::Float32(*x),
            Value::Float64(x) => WidenedNumber::Float64(*x),
            Value::Decimal32(x) => WidenedNumber::Decimal32(*x),
            Value::Decimal64(x) => WidenedNumber::Decimal64(*x),
            Value::Decimal128(x) => WidenedNumber::Decimal128(*x),
            _ => return None,
        })
    }

    fn to_f32(self) -> f32 {
        match self {
            WidenedNumber::Signed(x) => x as f32,
            WidenedNumber::Unsigned(x) => x as f32,
            WidenedNumber::Float32(x) => x,
            WidenedNumber::Float64(x) => x as f32,
            WidenedNumber::Decimal32(x) => x.to_f32(),
            WidenedNumber::Decimal64(x) => x.to_f32(),
            WidenedNumber::Decimal128(x) => x.to_f32(),
        }
    }

    fn to_f64(self) -> f64 {
        match self {
            WidenedNumber::Signed(x) => x as f64,
            WidenedNumber::Unsigned(x) => x as f64,
            WidenedNumber::Float32(x) => x.into(),
            WidenedNumber::Float64(x) => x,
            WidenedNumber::Decimal32(x) => x.to_f64(),
            WidenedNumber::Decimal64(x) => x.to_f64(),
            WidenedNumber::Decimal128(x) => x.to_f64(),
        }
    }
}

/// Decimals become an integer of 64 bits first: of `$wide`.
macro_rules! to_integer {
    ($($name:ident $t:ty, $wide:ident;)+) => {
        impl WidenedNumber { $(
            fn $name(self) -> $t {
                match self {
                    WidenedNumber::Signed(x) => x as $t,
                    WidenedNumber::Unsigned(x) => x as $t,
                    WidenedNumber::Float32(x) => x as $t,
                    WidenedNumber::Float64(x) => x as $t,
                    WidenedNumber::Decimal32(x) => x.$wide() as $t,
                    WidenedNumber::Decimal64(x) => x.$wide() as $t,
                    WidenedNumber::Decimal128(x) => x.$wide() as $t,
                }
            }
        )+ }
    };
}

to_integer! {
    to_i8 i8, to_i64;
    to_i16 i16, to_i64;
    to_i32 i32, to_i64;
    to_i64 i64, to_i64;
    to_u8 u8, to_i64;
    to_u16 u16, to_i64;
    to_u32 u32, to_i64;
    to_u64 u64, to_u64;
}

macro_rules! to_decimal {
    ($($name:ident $t:ident;)+) => {
        impl WidenedNumber { $(
            fn $name(self) -> $t {
                match self {
                    WidenedNumber::Signed(x) => $t::from_i64(x),
                    WidenedNumber::Unsigned(x) => $t::from_u64(x),
                    WidenedNumber::Float32(x) => $t::from_f32(x),
                    WidenedNumber::Float64(x) => $t::from_f64(x),
                    WidenedNumber::Decimal32(x) => x.into(),
                    WidenedNumber::Decimal64(x) => x.into(),
                    WidenedNumber::Decimal128(x) => x.into(),
                }
            }
        )+ }
    };
}

to_decimal! {
    to_decimal32 Decimal32;
    to_decimal64 Decimal64;
    to_decimal128 Decimal128;
}
