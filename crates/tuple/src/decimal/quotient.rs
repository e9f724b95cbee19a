//! Quotients on coefficients.

use super::codec::{self, DecimalFormat, POWERS, UnpackedDecimal, count_digits};

/// The shortest exact quotient, else all digits; `None` for special values, a division by 0, and
/// where 128 bits do not hold it.
#[inline]
pub(super) fn quotient(
    a: UnpackedDecimal,
    b: UnpackedDecimal,
    format: DecimalFormat,
) -> Option<UnpackedDecimal> {
    let ((m, a, p), (n, b, q)) = (a.finite()?, b.finite()?);
    // Two numbers of this many digits, one with twice as many zeros, fit 128 bits.
    if b == 0 || format.digits > 16 {
        return None;
    }
    let (a, b) = (a as u64, b as u64);
    let (negative, exponent) = (m != n, p - q);
    if a % b == 0 {
        return Some(codec::fit(negative, u128::from(a / b), exponent, format));
    }
    // One digit more than the precision, or two: enough to round.
    let more = format.digits + 1 + count_digits(b.into()) - count_digits(a.into());
    let scaled = u128::from(a) * POWERS[more as usize];
    let quotient = (scaled / u128::from(b)) as u64;
    let is_exact = u128::from(quotient) * u128::from(b) == scaled;
    let exponent = exponent - more as i32;
    let (quotient, cut) = if is_exact {
        without_zeros(quotient, more)
    } else if exponent >= format.exponent_min {
        without_excess(quotient, format)
    } else {
        // It may lose more digits, and is rounded only once.
        (quotient, 0)
    };
    let exponent = exponent + cut as i32;
    Some(codec::fit(negative, quotient.into(), exponent, format))
}

/// A number of one digit or two too many, half rounded up; and how many they were.
#[inline]
fn without_excess(n: u64, format: DecimalFormat) -> (u64, u32) {
    // Constants, which the compiler divides by without dividing.
    if u128::from(n) < POWERS[format.digits as usize + 1] {
        ((n + 5) / 10, 1)
    } else {
        ((n + 50) / 100, 2)
    }
}

/// Removes zeros at the end of a number that is not 0, at most `zeros_max` of them. Returns how
/// many were removed as well.
#[inline]
fn without_zeros(mut n: u64, zeros_max: u32) -> (u64, u32) {
    let mut cut = 0;
    // Constants, which the compiler divides by without dividing.
    let mut step = |zeros: u32, power: u64| {
        if cut + zeros <= zeros_max && n.is_multiple_of(power) {
            n /= power;
            cut += zeros;
        }
    };
    step(16, 10_000_000_000_000_000);
    step(8, 100_000_000);
    step(4, 10_000);
    step(2, 100);
    step(1, 10);
    (n, cut)
}

#[cfg(test)]
mod tests {
    use super::without_zeros;

    #[test]
    fn zeros_are_cut_off() {
        assert_eq!(without_zeros(12, 5), (12, 0));
        assert_eq!(without_zeros(1_200_000, 17), (12, 5));
        assert_eq!(without_zeros(1_200_000, 3), (1200, 3));
        assert_eq!(without_zeros(10u64.pow(17), 32), (1, 17));
        assert_eq!(without_zeros(10u64.pow(18), 20), (1, 18));
    }
}
