//! The way into the decNumber library: contexts that round half up, within each width's limits.

use std::sync::LazyLock;

use dec::{Context, Rounding};

use super::codec::{self, DecimalFormat};
use super::dpd;
use super::{Decimal32, Decimal64, Decimal128};

/// A number of arbitrary precision, here up to 36 digits: enough for each width.
pub(super) type WideDecimal = dec::Decimal<12>;

/// An operation of the decNumber library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DecimalOperation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

// A context is 28 bytes: each use copies one instead of sharing it, for operations write into it.
static DECIMAL64_CONTEXT: LazyLock<Context<dec::Decimal64>> = LazyLock::new(half_up_context);
static DECIMAL128_CONTEXT: LazyLock<Context<dec::Decimal128>> = LazyLock::new(half_up_context);
static WIDE_DECIMAL32_CONTEXT: LazyLock<Context<WideDecimal>> =
    LazyLock::new(|| limited_context(codec::DECIMAL32));
static WIDE_DECIMAL64_CONTEXT: LazyLock<Context<WideDecimal>> =
    LazyLock::new(|| limited_context(codec::DECIMAL64));
static WIDE_DECIMAL128_CONTEXT: LazyLock<Context<WideDecimal>> =
    LazyLock::new(|| limited_context(codec::DECIMAL128));

fn half_up_context<D>() -> Context<D>
where
    Context<D>: Default,
{
    let mut context = Context::default();
    context.set_rounding(Rounding::HalfUp);
    context
}

/// Precision and exponents of a format, so that a result needs no second rounding.
fn limited_context(format: DecimalFormat) -> Context<WideDecimal> {
    let mut context: Context<WideDecimal> = half_up_context();
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
pub(super) fn wide_context(format: DecimalFormat) -> Context<WideDecimal> {
    match format.digits {
        7 => WIDE_DECIMAL32_CONTEXT.clone(),
        16 => WIDE_DECIMAL64_CONTEXT.clone(),
        _ => WIDE_DECIMAL128_CONTEXT.clone(),
    }
}

/// One operation on decimal32s, by way of arbitrary precision.
pub(super) fn decimal32_operation(
    a: Decimal32,
    b: Decimal32,
    operation: DecimalOperation,
) -> Decimal32 {
    let mut context = wide_context(codec::DECIMAL32);
    let (mut a, b) = (a.to_number(), b.to_number());
    match operation {
        DecimalOperation::Add => context.add(&mut a, &b),
        DecimalOperation::Subtract => context.sub(&mut a, &b),
        DecimalOperation::Multiply => context.mul(&mut a, &b),
        DecimalOperation::Divide => context.div(&mut a, &b),
        DecimalOperation::Remainder => context.rem(&mut a, &b),
    }
    Decimal32::from_number(&a)
}

/// One operation on decimal64s.
pub(super) fn decimal64_operation(
    a: Decimal64,
    b: Decimal64,
    operation: DecimalOperation,
) -> Decimal64 {
    let mut context = DECIMAL64_CONTEXT.clone();
    let (a, b) = (a.to_library(), b.to_library());
    Decimal64::from_library(match operation {
        DecimalOperation::Add => context.add(a, b),
        DecimalOperation::Subtract => context.sub(a, b),
        DecimalOperation::Multiply => context.mul(a, b),
        DecimalOperation::Divide => context.div(a, b),
        DecimalOperation::Remainder => context.rem(a, b),
    })
}

/// One operation on decimal128s.
pub(super) fn decimal128_operation(
    a: Decimal128,
    b: Decimal128,
    operation: DecimalOperation,
) -> Decimal128 {
    let mut context = DECIMAL128_CONTEXT.clone();
    let (a, b) = (a.to_library(), b.to_library());
    Decimal128::from_library(match operation {
        DecimalOperation::Add => context.add(a, b),
        DecimalOperation::Subtract => context.sub(a, b),
        DecimalOperation::Multiply => context.mul(a, b),
        DecimalOperation::Divide => context.div(a, b),
        DecimalOperation::Remainder => context.rem(a, b),
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

            /// Converts from the library's own type of this width.
            pub(super) fn from_library(value: dec::$type) -> $type {
                let word = $word::from_ne_bytes(value.to_ne_bytes());
                $type::from_word(dpd::decode(u128::from(word), codec::$format))
            }

            /// Converts to a number of arbitrary precision.
            pub(super) fn to_number(self) -> WideDecimal {
                WideDecimal::from(self.to_library())
            }

            /// Converts from a number computed in this width's context.
            pub(super) fn from_number(number: &WideDecimal) -> $type {
                $type::from_library(number.$to())
            }
        }
    };
}

library!(Decimal32, DECIMAL32, u32, to_decimal32);
library!(Decimal64, DECIMAL64, u64, to_decimal64);
library!(Decimal128, DECIMAL128, u128, to_decimal128);
