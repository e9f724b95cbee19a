//! decimal64 in 64-bit words: sums, products and comparisons of ordinary numbers.
//!
//! Prices and volumes have few digits and like scales; for them 64 bits are enough from the bits to
//! the result. What is not ordinary (infinities, NaN, scales far apart, results that need rounding)
//! is left to the general code, by answering `None`. Both give the same bits.
//!
//! Compiled code does the most ordinary of it without a call, in the same steps:
//! `crates/jit/src/lower/expressions/decimal.rs`.

use std::cmp::Ordering;

use super::codec::DECIMAL64;
use super::{Decimal32, Decimal64, Decimal128};

/// One more than the largest coefficient.
const COEFFICIENT_END: u64 = 10_000_000_000_000_000;

/// Bits of a coefficient that is written without shortening.
const COEFFICIENT_BITS: u32 = DECIMAL64.coefficient_bits();

/// The bits of such a coefficient.
const COEFFICIENT_MASK: u64 = (1 << COEFFICIENT_BITS) - 1;

const SIGN_MASK: u64 = 1 << 63;

/// How many exponents there are.
const EXPONENT_COUNT: u32 = (DECIMAL64.exponent_max - DECIMAL64.exponent_min + 1) as u32;

/// Powers of ten that fit 63 bits.
const POWERS_OF_TEN: [i64; 19] = {
    let mut powers = [1; 19];
    let mut at = 1;
    while at < 19 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

#[derive(Clone, Copy)]
struct FiniteDecimal64 {
    negative: bool,
    coefficient: u64,
    exponent: i32,
}

/// Whether the coefficient is written shortened, or there is none.
#[inline(always)]
fn is_long(bits: u64) -> bool {
    bits << 1 >= 3 << 62
}

#[inline(always)]
fn unpack_finite(bits: u64) -> Option<FiniteDecimal64> {
    if bits == 0 {
        // The zero word is plain 0.
        return Some(FiniteDecimal64 {
            negative: false,
            coefficient: 0,
            exponent: 0,
        });
    }
    let (biased, coefficient) = if !is_long(bits) {
        (bits >> COEFFICIENT_BITS, bits & COEFFICIENT_MASK)
    } else if bits << 1 < 0xF << 60 {
        (
            bits >> (COEFFICIENT_BITS - 2),
            1 << COEFFICIENT_BITS | bits & (COEFFICIENT_MASK >> 2),
        )
    } else {
        return None;
    };
    Some(FiniteDecimal64 {
        negative: bits >> 63 == 1,
        // More digits than there can be stand for 0.
        coefficient: if coefficient < COEFFICIENT_END {
            coefficient
        } else {
            0
        },
        exponent: (biased & 0x3FF) as i32 + DECIMAL64.exponent_min,
    })
}

/// The bits of a number that needs no rounding.
#[inline(always)]
fn pack_exact(negative: bool, coefficient: u64, exponent: i32) -> Option<Decimal64> {
    let biased = exponent.wrapping_sub(DECIMAL64.exponent_min) as u32;
    if coefficient >= COEFFICIENT_END || biased >= EXPONENT_COUNT {
        return None;
    }
    let (sign, biased) = (u64::from(negative) << 63, u64::from(biased));
    Some(Decimal64(if coefficient <= COEFFICIENT_MASK {
        sign | biased << COEFFICIENT_BITS | coefficient
    } else {
        sign | 3 << 61 | biased << (COEFFICIENT_BITS - 2) | coefficient & (COEFFICIENT_MASK >> 2)
    }))
}

/// The sum of two numbers of one exponent, as one addition of words. It needs no unpacking of the
/// zero word either: the sum of two of them is one again.
#[inline(always)]
fn same_exponent_sum(a: u64, b: u64) -> Option<u64> {
    let differs = a ^ b;
    if (differs & !SIGN_MASK) >> COEFFICIENT_BITS != 0 || is_long(a) {
        return None;
    }
    let (m, n) = (a & COEFFICIENT_MASK, b & COEFFICIENT_MASK);
    if differs & SIGN_MASK == 0 {
        let sum = a + n;
        return ((sum ^ a) >> COEFFICIENT_BITS == 0).then_some(sum);
    }
    Some(match m.cmp(&n) {
        Ordering::Greater => a - n,
        Ordering::Less => b - m,
        Ordering::Equal => (a - n) & !SIGN_MASK,
    })
}

/// Both numbers over the smaller of their exponents, signs included.
#[inline(always)]
fn align_exponents(a: FiniteDecimal64, b: FiniteDecimal64) -> Option<(i64, i64, i32)> {
    let low = a.exponent.min(b.exponent);
    let signed = |n: FiniteDecimal64| {
        let scale = *POWERS_OF_TEN.get((n.exponent - low) as usize)?;
        let scaled = (n.coefficient as i64).checked_mul(scale)?;
        // Two of them have a sum of 63 bits.
        let scaled = (scaled < 1 << 62).then_some(scaled)?;
        Some(if n.negative { -scaled } else { scaled })
    };
    Some((signed(a)?, signed(b)?, low))
}

impl Decimal64 {
    /// The sum (or, with `minus`, the difference), if it is ordinary.
    #[inline(always)]
    pub(super) fn fast_sum(self, other: Decimal64, minus: bool) -> Option<Decimal64> {
        let sign = u64::from(minus) << 63;
        if let Some(sum) = same_exponent_sum(self.0, other.0 ^ sign) {
            return Some(Decimal64(sum));
        }
        let (a, mut b) = (unpack_finite(self.0)?, unpack_finite(other.0)?);
        b.negative ^= minus;
        let (x, y, exponent) = align_exponents(a, b)?;
        let sum = x + y;
        let negative = if sum == 0 {
            a.negative && b.negative
        } else {
            sum < 0
        };
        pack_exact(negative, sum.unsigned_abs(), exponent)
    }

    /// The product, if it is ordinary.
    #[inline(always)]
    pub(super) fn fast_product(self, other: Decimal64) -> Option<Decimal64> {
        let (a, b) = (unpack_finite(self.0)?, unpack_finite(other.0)?);
        let product = a.coefficient.checked_mul(b.coefficient)?;
        pack_exact(a.negative != b.negative, product, a.exponent + b.exponent)
    }

    /// A number of these parts, if it needs no rounding.
    #[inline(always)]
    pub(super) fn fast_pack(negative: bool, coefficient: u128, exponent: i32) -> Option<Decimal64> {
        pack_exact(negative, u64::try_from(coefficient).ok()?, exponent)
    }

    /// The order, if both are ordinary.
    #[inline(always)]
    pub(super) fn fast_order(self, other: Decimal64) -> Option<Ordering> {
        let (x, y, _) = align_exponents(unpack_finite(self.0)?, unpack_finite(other.0)?)?;
        Some(x.cmp(&y))
    }
}

/// The other widths have the general code only.
macro_rules! general {
    ($($type:ty)+) => { $(
        impl $type {
            pub(super) fn fast_sum(self, _: $type, _: bool) -> Option<$type> {
                None
            }
            pub(super) fn fast_product(self, _: $type) -> Option<$type> {
                None
            }
            pub(super) fn fast_pack(_: bool, _: u128, _: i32) -> Option<$type> {
                None
            }
            pub(super) fn fast_order(self, _: $type) -> Option<Ordering> {
                None
            }
        }
    )+ };
}

general!(Decimal32 Decimal128);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::codec::{self, UnpackedDecimal, fit};
    use super::*;

    fn decimals() -> impl Strategy<Value = Decimal64> {
        let ordinary = (any::<bool>(), 0..COEFFICIENT_END, -20..20i32);
        let small = (any::<bool>(), 0..100_000u64, -4..4i32);
        let made = prop_oneof![small, ordinary].prop_map(|(negative, coefficient, exponent)| {
            let coefficient = u128::from(coefficient);
            Decimal64::pack(UnpackedDecimal::Finite {
                negative,
                coefficient,
                exponent,
            })
        });
        prop_oneof![4 => made, 1 => any::<u64>().prop_map(Decimal64)]
    }

    /// Stores a value by the general code, which makes plain 0 the zero word.
    fn in_memory(value: UnpackedDecimal) -> UnpackedDecimal {
        codec::unpack(codec::pack(value, DECIMAL64), DECIMAL64)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        /// Every answer of the fast path agrees with exact arithmetic on coefficients.
        #[test]
        fn results_are_exact(a in decimals(), b in decimals(), minus: bool) {
            let (UnpackedDecimal::Finite { negative: m, coefficient: x, exponent: p },
                UnpackedDecimal::Finite { negative: n, coefficient: y, exponent: q }) =
                (a.unpack(), b.unpack()) else {
                prop_assert!(a.fast_sum(b, minus).is_none() && a.fast_product(b).is_none());
                return Ok(());
            };
            if let Some(product) = a.fast_product(b) {
                let exact = fit(m != n, x * y, p + q, DECIMAL64);
                prop_assert_eq!(product.unpack(), in_memory(exact));
            }
            if let Some(sum) = a.fast_sum(b, minus) {
                let low = p.min(q);
                let signed = |negative: bool, c: u128, e: i32| {
                    let c = (c * 10u128.pow((e - low) as u32)) as i128;
                    if negative { -c } else { c }
                };
                let exact = signed(m, x, p) + signed(n != minus, y, q);
                let negative = if exact == 0 { m && (n != minus) } else { exact < 0 };
                let exact = fit(negative, exact.unsigned_abs(), low, DECIMAL64);
                prop_assert_eq!(sum.unpack(), in_memory(exact));
                let order = a.fast_order(b).unwrap();
                let low = |c: u128, e: i32| (c * 10u128.pow((e - p.min(q)) as u32)) as i128;
                let (x, y) = (low(x, p), low(y, q));
                let (x, y) = (if m { -x } else { x }, if n { -y } else { y });
                prop_assert_eq!(order, x.cmp(&y));
            }
        }
    }
}
