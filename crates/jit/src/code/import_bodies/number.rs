//! Imported functions on decimals, and on floats where the machine has no instruction.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use tuple::{Decimal32, Decimal64, Decimal128};

use super::super::env::Env;
use super::super::import::WordPair;
use super::super::number_kind::NumberKind;
use super::elements;

fn decimal_arithmetic<D>(op: u32, a: D, b: D) -> D
where
    D: Add<Output = D> + Sub<Output = D> + Mul<Output = D> + Div<Output = D>,
{
    match op {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        _ => a / b,
    }
}

/// 2 stands for unordered.
fn order_code(order: Option<Ordering>) -> i32 {
    order.map_or(2, |order| order as i32)
}

pub extern "C" fn decimal32(_: *mut Env, op: u32, a: u32, b: u32) -> u32 {
    decimal_arithmetic(op, Decimal32(a), Decimal32(b)).0
}

pub extern "C" fn add_decimal64(_: *mut Env, a: u64, b: u64) -> u64 {
    (Decimal64(a) + Decimal64(b)).0
}

pub extern "C" fn subtract_decimal64(_: *mut Env, a: u64, b: u64) -> u64 {
    (Decimal64(a) - Decimal64(b)).0
}

pub extern "C" fn multiply_decimal64(_: *mut Env, a: u64, b: u64) -> u64 {
    (Decimal64(a) * Decimal64(b)).0
}

pub extern "C" fn divide_decimal64(_: *mut Env, a: u64, b: u64) -> u64 {
    (Decimal64(a) / Decimal64(b)).0
}

/// Two numbers of two halves.
fn decimal128_operands(words: *const u64) -> (Decimal128, Decimal128) {
    let words = elements(words, 4);
    (
        Decimal128([words[0], words[1]]),
        Decimal128([words[2], words[3]]),
    )
}

pub extern "C" fn decimal128(_: *mut Env, op: u32, words: *const u64) -> WordPair {
    let (a, b) = decimal128_operands(words);
    let [low, high] = decimal_arithmetic(op, a, b).0;
    WordPair(low, high)
}

pub extern "C" fn compare_decimal32(_: *mut Env, a: u32, b: u32) -> i32 {
    order_code(Decimal32(a).compare(Decimal32(b)))
}

pub extern "C" fn compare_decimal64(_: *mut Env, a: u64, b: u64) -> i32 {
    order_code(Decimal64(a).compare(Decimal64(b)))
}

pub extern "C" fn compare_decimal128(_: *mut Env, words: *const u64) -> i32 {
    let (a, b) = decimal128_operands(words);
    order_code(a.compare(b))
}

/// A number as one word, or as the two of a decimal128.
trait NumberWords {
    fn into_words(self) -> WordPair;
}

impl NumberWords for Decimal32 {
    fn into_words(self) -> WordPair {
        WordPair(self.0.into(), 0)
    }
}

impl NumberWords for Decimal64 {
    fn into_words(self) -> WordPair {
        WordPair(self.0, 0)
    }
}

impl NumberWords for Decimal128 {
    fn into_words(self) -> WordPair {
        WordPair(self.0[0], self.0[1])
    }
}

/// Casts to the decimal of a kind, by a function of each width's type.
macro_rules! to_decimal {
    ($to:expr, $number:expr, $function:ident) => {
        match $to {
            NumberKind::Decimal32 => Decimal32::$function($number).into_words(),
            NumberKind::Decimal64 => Decimal64::$function($number).into_words(),
            _ => Decimal128::$function($number).into_words(),
        }
    };
}

/// Casts a decimal to a kind.
macro_rules! from_decimal {
    ($decimal:expr, $to:expr) => {
        match $to {
            NumberKind::Signed => WordPair($decimal.to_i64() as u64, 0),
            NumberKind::Unsigned => WordPair($decimal.to_u64(), 0),
            NumberKind::Float32 => WordPair($decimal.to_f32().to_bits().into(), 0),
            NumberKind::Float64 => WordPair($decimal.to_f64().to_bits(), 0),
            to => to_decimal!(to, $decimal, from),
        }
    };
}

/// Casts a number from or to a decimal. `from` and `to` are codes of a [`NumberKind`].
pub extern "C" fn cast_decimal(_: *mut Env, from: u32, to: u32, low: u64, high: u64) -> WordPair {
    let to = NumberKind::from_code(to);
    match NumberKind::from_code(from) {
        NumberKind::Signed => to_decimal!(to, low as i64, from_i64),
        NumberKind::Unsigned => to_decimal!(to, low, from_u64),
        NumberKind::Float32 => to_decimal!(to, f32::from_bits(low as u32), from_f32),
        NumberKind::Float64 => to_decimal!(to, f64::from_bits(low), from_f64),
        NumberKind::Decimal32 => from_decimal!(Decimal32(low as u32), to),
        NumberKind::Decimal64 => from_decimal!(Decimal64(low), to),
        NumberKind::Decimal128 => from_decimal!(Decimal128([low, high]), to),
    }
}
