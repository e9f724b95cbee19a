//! Decimal arithmetic and comparison.
//!
//! Sums, products and quotients are computed on unpacked coefficients where the exact result fits
//! 128 bits, which it nearly always does. The library does the rest, and every remainder. Both give
//! the same bits.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use super::codec::{self, DecimalFormat, POWERS, UnpackedDecimal, count_digits};
use super::context;
use super::dpd;
use super::quotient::quotient;
use super::{Decimal32, Decimal64, Decimal128};

/// An exact sum on coefficients, rounded once; `None` for special values, and where 128 bits do not
/// hold it.
#[inline]
fn sum(a: UnpackedDecimal, b: UnpackedDecimal, format: DecimalFormat) -> Option<UnpackedDecimal> {
    let ((m, a, p), (n, b, q)) = (a.finite()?, b.finite()?);
    if p == q && m == n {
        return Some(codec::fit(m, a + b, p, format));
    }
    let (low, apart) = (p.min(q), p.abs_diff(q));
    if apart > 37 - format.digits {
        return None;
    }
    let signed = |negative: bool, c: u128, e: i32| {
        let c = if e == low {
            c
        } else {
            c * POWERS[(e - low) as usize]
        } as i128;
        if negative { -c } else { c }
    };
    let sum = signed(m, a, p) + signed(n, b, q);
    let negative = if sum == 0 { m && n } else { sum < 0 };
    Some(codec::fit(negative, sum.unsigned_abs(), low, format))
}

/// Changes the sign. A NaN keeps its own, as it does in a subtraction.
#[inline]
fn negated(value: UnpackedDecimal) -> UnpackedDecimal {
    match value {
        UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        } => UnpackedDecimal::Finite {
            negative: !negative,
            coefficient,
            exponent,
        },
        special => special,
    }
}

/// An exact product on coefficients, rounded once; `None` for special values and where
/// 128 bits do not hold it.
#[inline]
fn product(
    a: UnpackedDecimal,
    b: UnpackedDecimal,
    format: DecimalFormat,
) -> Option<UnpackedDecimal> {
    let ((m, a, p), (n, b, q)) = (a.finite()?, b.finite()?);
    Some(codec::fit(m != n, a.checked_mul(b)?, p + q, format))
}

/// The order of two numbers; `None` if one is a NaN.
#[inline]
fn compare(a: UnpackedDecimal, b: UnpackedDecimal) -> Option<Ordering> {
    let rank = |x: &UnpackedDecimal| match *x {
        UnpackedDecimal::Nan { .. } => None,
        UnpackedDecimal::Infinite { negative } => Some(if negative { -2i32 } else { 2 }),
        UnpackedDecimal::Finite { coefficient: 0, .. } => Some(0),
        UnpackedDecimal::Finite { negative, .. } => Some(if negative { -1 } else { 1 }),
    };
    let (sign, other) = (rank(&a)?, rank(&b)?);
    if sign != other || sign == 0 || sign.abs() == 2 {
        return Some(sign.cmp(&other));
    }
    let order = magnitude(a, b);
    Some(if sign < 0 { order.reverse() } else { order })
}

/// The order of two finite numbers that are not 0, without their signs.
fn magnitude(a: UnpackedDecimal, b: UnpackedDecimal) -> Ordering {
    let (
        UnpackedDecimal::Finite {
            coefficient: a,
            exponent: p,
            ..
        },
        UnpackedDecimal::Finite {
            coefficient: b,
            exponent: q,
            ..
        },
    ) = (a, b)
    else {
        return Ordering::Equal;
    };
    if p == q {
        return a.cmp(&b);
    }
    let leading = |c: u128, e: i32| count_digits(c) as i32 + e;
    // With equal leading exponents, scaling gives both as many digits as the longer one has.
    leading(a, p).cmp(&leading(b, q)).then_with(|| {
        let low = p.min(q);
        (a * POWERS[(p - low) as usize]).cmp(&(b * POWERS[(q - low) as usize]))
    })
}

/// Feeds a hasher what is the same for equal numbers: coefficient and exponent without trailing
/// zeros.
fn hash<H: Hasher>(value: UnpackedDecimal, state: &mut H) {
    let UnpackedDecimal::Finite {
        negative,
        mut coefficient,
        mut exponent,
    } = value
    else {
        return state.write_u64(match value {
            UnpackedDecimal::Infinite { negative } => 1 + u64::from(negative),
            _ => 0,
        });
    };
    if coefficient == 0 {
        return state.write_u64(0);
    }
    while coefficient % 10 == 0 {
        coefficient /= 10;
        exponent += 1;
    }
    state.write_u64(coefficient as u64 ^ (coefficient >> 64) as u64);
    state.write_u64((exponent as u64) << 1 | u64::from(negative));
}

macro_rules! arithmetic {
    ($type:ident, $format:ident, $library:ident) => {
        impl $type {
            /// The number 0 with exponent 0, which is also the word of zero bits.
            pub const ZERO: $type = $type::from_word(0);

            /// Sign, coefficient and exponent.
            #[inline]
            pub fn unpack(self) -> UnpackedDecimal {
                codec::unpack(self.word(), codec::$format)
            }

            /// Makes a decimal of sign, coefficient and exponent, rounded half up to fit.
            #[inline]
            pub fn pack(value: UnpackedDecimal) -> $type {
                let UnpackedDecimal::Finite {
                    negative,
                    coefficient,
                    exponent,
                } = value
                else {
                    return $type::from_word(codec::pack(value, codec::$format));
                };
                if let Some(exact) = $type::fast_pack(negative, coefficient, exponent) {
                    return exact;
                }
                let fitted = codec::fit(negative, coefficient, exponent, codec::$format);
                $type::from_word(codec::pack(fitted, codec::$format))
            }

            /// The densely packed bits, least significant byte first.
            pub fn to_le_bytes(self) -> [u8; $type::BITS as usize / 8] {
                let word = dpd::encode(self.word(), codec::$format);
                let mut bytes = [0; $type::BITS as usize / 8];
                bytes.copy_from_slice(&word.to_le_bytes()[..$type::BITS as usize / 8]);
                bytes
            }

            /// Makes a decimal of densely packed bits, least significant byte first.
            pub fn from_le_bytes(bytes: [u8; $type::BITS as usize / 8]) -> $type {
                let mut word = [0; 16];
                word[..bytes.len()].copy_from_slice(&bytes);
                $type::from_word(dpd::decode(u128::from_le_bytes(word), codec::$format))
            }

            /// The IEEE comparison: equal by number, `None` if one is a NaN.
            #[inline]
            pub fn compare(self, other: $type) -> Option<Ordering> {
                match self.fast_order(other) {
                    None => compare(self.unpack(), other.unpack()),
                    order => order,
                }
            }

            /// The number without its sign.
            pub fn abs(self) -> $type {
                if self.is_negative() { -self } else { self }
            }

            /// Whether it is not a number.
            pub fn is_nan(self) -> bool {
                matches!(self.unpack(), UnpackedDecimal::Nan { .. })
            }

            /// Whether it is one of the infinities.
            pub fn is_infinite(self) -> bool {
                matches!(self.unpack(), UnpackedDecimal::Infinite { .. })
            }

            /// Whether it is 0 of any scale and sign.
            pub fn is_zero(self) -> bool {
                matches!(
                    self.unpack(),
                    UnpackedDecimal::Finite { coefficient: 0, .. }
                )
            }

            /// Whether the sign bit is set.
            pub fn is_negative(self) -> bool {
                match self.unpack() {
                    UnpackedDecimal::Finite { negative, .. }
                    | UnpackedDecimal::Infinite { negative }
                    | UnpackedDecimal::Nan { negative } => negative,
                }
            }
        }

        impl Add for $type {
            type Output = $type;
            #[inline]
            fn add(self, other: $type) -> $type {
                if let Some(sum) = self.fast_sum(other, false) {
                    return sum;
                }
                match sum(self.unpack(), other.unpack(), codec::$format) {
                    Some(sum) => $type::from_word(codec::pack(sum, codec::$format)),
                    None => context::$library(self, other, context::DecimalOperation::Add),
                }
            }
        }

        impl Sub for $type {
            type Output = $type;
            #[inline]
            fn sub(self, other: $type) -> $type {
                if let Some(difference) = self.fast_sum(other, true) {
                    return difference;
                }
                match sum(self.unpack(), negated(other.unpack()), codec::$format) {
                    Some(sum) => $type::from_word(codec::pack(sum, codec::$format)),
                    None => context::$library(self, other, context::DecimalOperation::Subtract),
                }
            }
        }

        impl Mul for $type {
            type Output = $type;
            #[inline]
            fn mul(self, other: $type) -> $type {
                if let Some(product) = self.fast_product(other) {
                    return product;
                }
                match product(self.unpack(), other.unpack(), codec::$format) {
                    Some(product) => $type::from_word(codec::pack(product, codec::$format)),
                    None => context::$library(self, other, context::DecimalOperation::Multiply),
                }
            }
        }

        impl Div for $type {
            type Output = $type;
            /// The shortest exact quotient, else all digits; a division by zero is an infinity.
            fn div(self, other: $type) -> $type {
                match quotient(self.unpack(), other.unpack(), codec::$format) {
                    Some(quotient) => $type::from_word(codec::pack(quotient, codec::$format)),
                    None => context::$library(self, other, context::DecimalOperation::Divide),
                }
            }
        }

        impl Rem for $type {
            type Output = $type;
            /// Remainder of a division truncated toward zero; it has the sign of the left side.
            fn rem(self, other: $type) -> $type {
                context::$library(self, other, context::DecimalOperation::Remainder)
            }
        }

        impl Neg for $type {
            type Output = $type;
            #[inline]
            fn neg(self) -> $type {
                // The zero word stands for plain 0, whose negative needs the real bits.
                let word = if self.word() == 0 {
                    codec::pack(UnpackedDecimal::ZERO, codec::$format)
                } else {
                    self.word()
                };
                $type::from_word(word ^ 1 << ($type::BITS - 1))
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &$type) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &$type) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $type {
            fn cmp(&self, other: &$type) -> Ordering {
                self.compare(*other)
                    .unwrap_or_else(|| self.is_nan().cmp(&other.is_nan()))
            }
        }

        impl Hash for $type {
            fn hash<H: Hasher>(&self, state: &mut H) {
                hash(self.unpack(), state);
            }
        }
    };
}

arithmetic!(Decimal32, DECIMAL32, decimal32_operation);
arithmetic!(Decimal64, DECIMAL64, decimal64_operation);
arithmetic!(Decimal128, DECIMAL128, decimal128_operation);

impl Decimal32 {
    pub(super) const BITS: u32 = 32;
    pub(super) const fn word(self) -> u128 {
        self.0 as u128
    }
    pub(super) const fn from_word(word: u128) -> Decimal32 {
        Decimal32(word as u32)
    }
}

impl Decimal64 {
    pub(super) const BITS: u32 = 64;
    pub(super) const fn word(self) -> u128 {
        self.0 as u128
    }
    pub(super) const fn from_word(word: u128) -> Decimal64 {
        Decimal64(word as u64)
    }
}

impl Decimal128 {
    pub(super) const BITS: u32 = 128;
    pub(super) const fn word(self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }
    pub(super) const fn from_word(word: u128) -> Decimal128 {
        Decimal128([word as u64, (word >> 64) as u64])
    }
}
