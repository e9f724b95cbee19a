//! Tables that compiled casts of decimals read, by address.
//!
//! A coefficient of at most 53 bits is divided by a power of ten with one multiplication: no
//! machine divides in as few cycles.
//!
//! ```text
//!   coefficient / 10^places == high half of ((coefficient << 11) * multiplier) >> shift
//! ```

use tuple::decimal::codec::{DECIMAL64, POWERS};

/// Bits that a coefficient may have to be divided by [`reciprocals_address`].
pub const DIVIDEND_BITS: u32 = 53;

/// Bits by which a coefficient is shifted left, to the top of its word, before it is multiplied.
pub const DIVIDEND_SHIFT: u32 = 64 - DIVIDEND_BITS;

/// Most places behind the point that the table knows: those of a decimal64's least exponent, so
/// that every one that is not above 0 leads into the table.
pub const PLACES_MAX: usize = -DECIMAL64.exponent_min as usize;

/// From 10^16 on a power exceeds every dividend, so the quotient is 0.
const QUOTIENT_PLACES_END: usize = 16;

/// Largest power of ten that a float64 holds exactly, and so its reciprocal's divisor.
pub const EXACT_POWER_MAX: usize = 22;

/// Bytes of an entry of either table: two words.
pub const ENTRY_BYTES: i32 = 16;

/// Multiplier and shift for each number of places, the largest first: by exponent.
static RECIPROCALS: [[u64; 2]; PLACES_MAX + 1] = {
    let mut table = [[0; 2]; PLACES_MAX + 1];
    let mut places = 0;
    while places < QUOTIENT_PLACES_END {
        table[PLACES_MAX - places] = reciprocal(POWERS[places]);
        places += 1;
    }
    table
};

/// A multiplier and a divisor for each power of ten from -22 to 22; one of the two is 1.
static FLOAT_POWERS: [[f64; 2]; 2 * EXACT_POWER_MAX + 1] = {
    let mut table = [[1.0; 2]; 2 * EXACT_POWER_MAX + 1];
    let mut power = 1;
    while power <= EXACT_POWER_MAX {
        table[EXACT_POWER_MAX + power][0] = POWERS[power] as f64;
        table[EXACT_POWER_MAX - power][1] = POWERS[power] as f64;
        power += 1;
    }
    table
};

/// The multiplier and the shift of a divisor.
///
/// The multiplier m is 2^t / divisor, rounded up, for the least t that gives it 64 bits. By
/// rounding, n * m / 2^t exceeds n / divisor by n * e / 2^t / divisor, with e = m * divisor - 2^t.
/// That changes no quotient, because it is less than 1 / divisor: e is below the divisor, the
/// divisor below 2^(t - 62), and the dividend n below 2^53.
const fn reciprocal(divisor: u128) -> [u64; 2] {
    let mut shift = 63;
    while (1u128 << shift).div_ceil(divisor) < 1 << 63 {
        shift += 1;
    }
    [
        (1u128 << shift).div_ceil(divisor) as u64,
        shift - DIVIDEND_BITS as u64,
    ]
}

/// Address of the multipliers and shifts by number of places, from [`PLACES_MAX`] down to 0.
pub fn reciprocals_address() -> i64 {
    (&raw const RECIPROCALS).expose_provenance() as i64
}

/// Address of the multipliers and divisors by power of ten, -[`EXACT_POWER_MAX`] first.
pub fn float_powers_address() -> i64 {
    (&raw const FLOAT_POWERS).expose_provenance() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotient(dividend: u64, places: usize) -> u64 {
        let [multiplier, shift] = RECIPROCALS[PLACES_MAX - places];
        let product = u128::from(dividend << DIVIDEND_SHIFT) * u128::from(multiplier);
        (product >> 64) as u64 >> shift
    }

    #[test]
    fn quotients_are_exact() {
        let last = (1 << DIVIDEND_BITS) - 1;
        let mut random = 0x9E37_79B9_7F4A_7C15u64;
        for places in 0..=QUOTIENT_PLACES_END {
            let divisor = 10u64.pow(places as u32);
            for _ in 0..10_000 {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let any = random >> (64 - DIVIDEND_BITS) >> (random % 50);
                // At a multiple of the divisor the quotient steps.
                let multiple = any / divisor * divisor;
                for dividend in [any, multiple, multiple.saturating_sub(1), last, 0] {
                    let expected = dividend / divisor;
                    assert_eq!(
                        quotient(dividend, places),
                        expected,
                        "{dividend} / {divisor}"
                    );
                }
            }
        }
    }

    #[test]
    fn powers_are_exact() {
        for (at, [times, over]) in FLOAT_POWERS.iter().enumerate() {
            let power = at as i32 - EXACT_POWER_MAX as i32;
            let text = |exponent: i32| format!("1e{}", exponent.max(0)).parse::<f64>();
            assert_eq!(Ok(*times), text(power));
            assert_eq!(Ok(*over), text(-power));
        }
    }
}
