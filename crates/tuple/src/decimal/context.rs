//! The way into the decNumber library: contexts that round half up, within each width's limits.

use std::sync::LazyLock;

use dec::{Context, Rounding};

use super::codec::{self, Format};
use super::dpd;
use super::{Decimal32, Decimal64, Decimal128};

/// A number of arbitrary precision, here up to 36 digits: enough for each width.
pub(super) type Number = dec::Decimal<12>;

/// What the library is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

// A context is 28 bytes: each use copies one instead of sharing it, for operations write into it.
static DOUBLE: LazyLock<Context<dec::Decimal64>> = LazyLock::new(half_up);
static QUAD: LazyLock<Context<dec::Decimal128>> = LazyLock::new(half_up);
static NUMBER_SINGLE: LazyLock<Context<Number>> = LazyLock::new(|| limited(codec::SINGLE));
static NUMBER_DOUBLE: LazyLock<Context<Number>> = LazyLock::new(|| limited(codec::DOUBLE));
static NUMBER_QUAD: LazyLock<Context<Number>> = LazyLock::new(|| limited(codec::QUAD));

fn half_up<D>() -> Context<D>
where
    Context<D>: Default,
{
    let mut context = Context::default();
    context.set_rounding(Rounding::HalfUp);
    context
}

/// Precision and exponents of a format, so that a result needs no second rounding.
fn limited(format: Format) -> Context<Number> {
    let mut context: Context<Number> = half_up();
    let last = format.digits as isize - 1;
    let valid = "the limits of an IEEE format are within the library's";
    context.set_precision(format.digits as usize).expect(valid);
    context
        .set_max_exponent(format.exponent_max as isize + last)
        .expect(valid);
    context
        .set_min_exponent(format.exponent_min as isize + last)
        .expect(valid);
    context.set_clamp(true);
    context
}

/// The context for numbers that will be packed in a format.
pub(super) fn number(format: Format) -> Context<Number> {
    match format.digits {
        7 => NUMBER_SINGLE.clone(),
        16 => NUMBER_DOUBLE.clone(),
        _ => NUMBER_QUAD.clone(),
    }
}

/// One operation on decimal32s, by way of arbitrary precision.
pub(super) fn single(a: Decimal32, b: Decimal32, operation: Operation) -> Decimal32 {
    let mut context = number(codec::SINGLE);
    let (mut a, b) = (a.to_number(), b.to_number());
    match operation {
        Operation::Add => context.add(&mut a, &b),
        Operation::Subtract => context.sub(&mut a, &b),
        Operation::Multiply => context.mul(&mut a, &b),
        Operation::Divide => context.div(&mut a, &b),
        Operation::Remainder => context.rem(&mut a, &b),
    }
    Decimal32::from_number(&a)
}

/// One operation on decimal64s.
pub(super) fn double(a: Decimal64, b: Decimal64, operation: Operation) -> Decimal64 {
    let mut context = DOUBLE.clone();
    let (a, b) = (a.to_library(), b.to_library());
    Decimal64::from_library(match operation {
        Operation::Add => context.add(a, b),
        Operation::Subtract => context.sub(a, b),
        Operation::Multiply => context.mul(a, b),
        Operation::Divide => context.div(a, b),
        Operation::Remainder => context.rem(a, b),
    })
}

/// One operation on decimal128s.
pub(super) fn quad(a: Decimal128, b: Decimal128, operation: Operation) -> Decimal128 {
    let mut context = QUAD.clone();
    let (a, b) = (a.to_library(), b.to_library());
    Decimal128::from_library(match operation {
        Operation::Add => context.add(a, b),
        Operation::Subtract => context.sub(a, b),
        Operation::Multiply => context.mul(a, b),
        Operation::Divide => context.div(a, b),
        Operation::Remainder => context.rem(a, b),
    })
}

macro_rules! library {
    ($type:ident, $format:ident, $word:ident, $to:ident) => {
        impl $type {
            /// The library's own type of this width; the zero word becomes plain 0's bits.
            pub(super) fn to_library(self) -> dec::$type {
                let word = dpd::encode(self.word(), codec::$format);
                dec::$type::from_ne_bytes((word as $word).to_ne_bytes())
            }

            /// From the library's own type of this width.
            pub(super) fn from_library(value: dec::$type) -> $type {
                let word = $word::from_ne_bytes(value.to_ne_bytes());
                $type::from_word(dpd::decode(u128::from(word), codec::$format))
            }

            /// As a number of arbitrary precision.
            pub(super) fn to_number(self) -> Number {
                Number::from(self.to_library())
            }

            /// From a number computed in this width's context.
            pub(super) fn from_number(number: &Number) -> $type {
                $type::from_library(number.$to())
            }
        }
    };
}

library!(Decimal32, SINGLE, u32, to_decimal32);
library!(Decimal64, DOUBLE, u64, to_decimal64);
library!(Decimal128, QUAD, u128, to_decimal128);
