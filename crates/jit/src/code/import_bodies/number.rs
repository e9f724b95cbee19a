//! Imported functions on decimals, and on floats where the machine has no instruction.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

use tuple::{Decimal32, Decimal64, Decimal128};

use super::super::env::Env;
use super::super::import::WordPair;
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
