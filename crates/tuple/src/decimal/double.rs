//! decimal64 in 64-bit words: sums, products and comparisons of ordinary numbers.
//!
//! Prices and volumes have few digits and like scales; for them 64 bits are enough from the declets to
//! the result. What is not ordinary (infinities, NaN, scales far apart, results that need rounding) is
//! left to the general code, by answering `None`. Both give the same bits.

use std::cmp::Ordering;

use super::codec::{DECLET_VALUE, DOUBLE, VALUE_DECLET};
use super::{Decimal32, Decimal64, Decimal128};

/// One more than the largest coefficient.
const LIMIT: u64 = 10_000_000_000_000_000;

/// Powers by which a coefficient may be scaled and still be added in 63 bits.
const SCALES: [i64; 3] = [1, 10, 100];

#[derive(Clone, Copy)]
struct Finite {
    negative: bool,
    coefficient: u64,
    exponent: i32,
}

#[inline(always)]
fn finite(bits: u64) -> Option<Finite> {
    if bits == 0 {
        // The zero word is plain 0.
        return Some(Finite {
            negative: false,
            coefficient: 0,
            exponent: 0,
        });
    }
    let combination = (bits >> 58) as u32 & 0x1F;
    let (high, first) = match combination {
        0..0x18 => (combination >> 3, combination & 7),
        0x18..0x1E => (combination >> 1 & 3, 8 + (combination & 1)),
        _ => return None,
    };
    let declet = |at: u32| u64::from(DECLET_VALUE[(bits >> (10 * at)) as usize & 0x3FF]);
    // Three parts that need not wait for each other.
    let top = u64::from(first) * 1000 + declet(4);
    let middle = declet(3) * 1000 + declet(2);
    let low = declet(1) * 1000 + declet(0);
    let biased = high << 8 | (bits >> 50) as u32 & 0xFF;
    Some(Finite {
        negative: bits >> 63 == 1,
        coefficient: top * 1_000_000_000_000 + middle * 1_000_000 + low,
        exponent: biased as i32 + DOUBLE.exponent_min,
    })
}

/// The bits of a number that needs no rounding.
#[inline(always)]
fn exact(negative: bool, coefficient: u64, exponent: i32) -> Option<Decimal64> {
    if coefficient >= LIMIT || !(DOUBLE.exponent_min..=DOUBLE.exponent_max).contains(&exponent) {
        return None;
    }
    let declet = |value: u32| u64::from(VALUE_DECLET[(value % 1000) as usize]);
    let (high, low) = (
        (coefficient / 1_000_000_000) as u32,
        (coefficient % 1_000_000_000) as u32,
    );
    let continuation = declet(low)
        | declet(low / 1000) << 10
        | declet(low / 1_000_000) << 20
        | declet(high) << 30
        | declet(high / 1000) << 40;
    let first = high / 1_000_000;
    let biased = (exponent - DOUBLE.exponent_min) as u32;
    let (top, rest) = (biased >> 8, u64::from(biased & 0xFF));
    let combination = if first < 8 {
        top << 3 | first
    } else {
        0x18 | top << 1 | (first & 1)
    };
    let sign = u64::from(negative) << 63;
    Some(Decimal64(
        sign | u64::from(combination) << 58 | rest << 50 | continuation,
    ))
}

/// Both numbers over the smaller of their exponents, signs included.
#[inline(always)]
fn aligned(a: Finite, b: Finite) -> Option<(i64, i64, i32)> {
    let low = a.exponent.min(b.exponent);
    let signed = |n: Finite| {
        let scaled = n.coefficient as i64 * SCALES.get((n.exponent - low) as usize)?;
        Some(if n.negative { -scaled } else { scaled })
    };
    Some((signed(a)?, signed(b)?, low))
}

impl Decimal64 {
    /// The sum (or, with `minus`, the difference), if it is ordinary.
    #[inline(always)]
    pub(super) fn fast_sum(self, other: Decimal64, minus: bool) -> Option<Decimal64> {
        let (a, mut b) = (finite(self.0)?, finite(other.0)?);
        b.negative ^= minus;
        let (x, y, exponent) = aligned(a, b)?;
        let sum = x + y;
        let negative = if sum == 0 {
            a.negative && b.negative
        } else {
            sum < 0
        };
        exact(negative, sum.unsigned_abs(), exponent)
    }

    /// The product, if it is ordinary.
    #[inline(always)]
    pub(super) fn fast_product(self, other: Decimal64) -> Option<Decimal64> {
        let (a, b) = (finite(self.0)?, finite(other.0)?);
        let product = a.coefficient.checked_mul(b.coefficient)?;
        exact(a.negative != b.negative, product, a.exponent + b.exponent)
    }

    /// A number of these parts, if it needs no rounding.
    #[inline(always)]
    pub(super) fn fast_pack(negative: bool, coefficient: u128, exponent: i32) -> Option<Decimal64> {
        exact(negative, u64::try_from(coefficient).ok()?, exponent)
    }

    /// The order, if both are ordinary.
    #[inline(always)]
    pub(super) fn fast_order(self, other: Decimal64) -> Option<Ordering> {
        let (x, y, _) = aligned(finite(self.0)?, finite(other.0)?)?;
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
    use super::super::codec::{Unpacked, fit};
    use super::*;
    use proptest::prelude::*;

    fn decimals() -> impl Strategy<Value = Decimal64> {
        let ordinary = (any::<bool>(), 0..LIMIT, -20..20i32);
        let small = (any::<bool>(), 0..100_000u64, -4..4i32);
        let made = prop_oneof![small, ordinary].prop_map(|(negative, coefficient, exponent)| {
            let coefficient = u128::from(coefficient);
            Decimal64::pack(Unpacked::Finite {
                negative,
                coefficient,
                exponent,
            })
        });
        prop_oneof![4 => made, 1 => any::<u64>().prop_map(Decimal64)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        /// Whatever this way answers is what exact arithmetic on coefficients gives.
        #[test]
        fn results_are_exact(a in decimals(), b in decimals(), minus: bool) {
            let (Unpacked::Finite { negative: m, coefficient: x, exponent: p },
                Unpacked::Finite { negative: n, coefficient: y, exponent: q }) =
                (a.unpack(), b.unpack()) else {
                prop_assert!(a.fast_sum(b, minus).is_none() && a.fast_product(b).is_none());
                return Ok(());
            };
            if let Some(product) = a.fast_product(b) {
                let exact = fit(m != n, x * y, p + q, DOUBLE);
                prop_assert_eq!(product.unpack(), exact);
            }
            if let Some(sum) = a.fast_sum(b, minus) {
                let low = p.min(q);
                let signed = |negative: bool, c: u128, e: i32| {
                    let c = (c * 10u128.pow((e - low) as u32)) as i128;
                    if negative { -c } else { c }
                };
                let exact = signed(m, x, p) + signed(n != minus, y, q);
                let negative = if exact == 0 { m && (n != minus) } else { exact < 0 };
                let exact = fit(negative, exact.unsigned_abs(), low, DOUBLE);
                prop_assert_eq!(sum.unpack(), exact);
                let order = a.fast_order(b).unwrap();
                let low = |c: u128, e: i32| (c * 10u128.pow((e - p.min(q)) as u32)) as i128;
                let (x, y) = (low(x, p), low(y, q));
                let (x, y) = (if m { -x } else { x }, if n { -y } else { y });
                prop_assert_eq!(order, x.cmp(&y));
            }
        }
    }
}
