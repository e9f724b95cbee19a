//! A decimal's bits to sign, coefficient and exponent, and back, with rounding half up.
//!
//! ```text
//!   sign 1 | exponent e     | coefficient c           a coefficient below 2^c
//!   sign 1 | 11 | exponent e | coefficient c - 2      2^c and these bits
//!   sign 1 | 11110 | ...                              an infinity
//!   sign 1 | 11111 | ...                              a NaN
//! ```
//! with e = 8, 10, 14 and c = 23, 53, 113: the binary encoding of IEEE 754-2008, 3.5.2 (BID). The
//! exponent is biased and below 3 * 2^(e - 2), so that it never begins with `11`. The densely
//! packed one, which files have, is [`super::dpd`]'s.

/// Sign, coefficient and exponent of a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpackedDecimal {
    /// The finite number coefficient * 10^exponent.
    Finite {
        /// The sign; zeros have one too.
        negative: bool,
        /// Coefficient of at most 7, 16 or 34 digits.
        coefficient: u128,
        /// Exponent of the coefficient's last digit.
        exponent: i32,
    },
    /// An infinity with its sign.
    Infinite {
        /// Whether it is the one below all numbers.
        negative: bool,
    },
    /// Not a number; payloads are not kept.
    Nan {
        /// Whether the sign bit is set.
        negative: bool,
    },
}

impl UnpackedDecimal {
    /// The number 0 with exponent 0.
    pub const ZERO: UnpackedDecimal = UnpackedDecimal::Finite {
        negative: false,
        coefficient: 0,
        exponent: 0,
    };

    /// Sign, coefficient and exponent; `None` for an infinity or NaN.
    #[inline]
    pub(super) fn finite(self) -> Option<(bool, u128, i32)> {
        match self {
            UnpackedDecimal::Finite {
                negative,
                coefficient,
                exponent,
            } => Some((negative, coefficient, exponent)),
            _ => None,
        }
    }
}

/// The parameters of one width.
#[derive(Clone, Copy, Debug)]
pub struct DecimalFormat {
    /// Digits of precision of a coefficient.
    pub digits: u32,
    /// Smallest exponent of the last digit.
    pub exponent_min: i32,
    /// Largest exponent of the last digit.
    pub exponent_max: i32,
    /// Bits of the exponent.
    pub(super) exponent_bits: u32,
    /// Groups of three digits behind the first digit.
    pub(super) declets: u32,
}

impl DecimalFormat {
    /// Bits of a coefficient that is written without shortening.
    pub(super) const fn coefficient_bits(self) -> u32 {
        10 * self.declets + 3
    }

    /// Size of the format in bits.
    pub(super) const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.coefficient_bits()
    }
}

/// Format of the type decimal32.
pub const DECIMAL32: DecimalFormat = DecimalFormat {
    digits: 7,
    exponent_min: -101,
    exponent_max: 90,
    exponent_bits: 8,
    declets: 2,
};

/// Format of the type decimal64.
pub const DECIMAL64: DecimalFormat = DecimalFormat {
    digits: 16,
    exponent_min: -398,
    exponent_max: 369,
    exponent_bits: 10,
    declets: 5,
};

/// Format of the type decimal128.
pub const DECIMAL128: DecimalFormat = DecimalFormat {
    digits: 34,
    exponent_min: -6176,
    exponent_max: 6111,
    exponent_bits: 14,
    declets: 11,
};

const _: () = assert!(DECIMAL32.bits() == 32 && DECIMAL64.bits() == 64 && DECIMAL128.bits() == 128);

/// Whether bits are an infinity or a NaN.
#[inline]
pub(super) fn is_special(bits: u128, format: DecimalFormat) -> bool {
    bits >> (format.bits() - 5) & 0xF == 0xF
}

/// Takes bits apart. The zero word is plain 0 (see the module above).
#[inline]
pub fn unpack(bits: u128, format: DecimalFormat) -> UnpackedDecimal {
    if bits == 0 {
        return UnpackedDecimal::ZERO;
    }
    let negative = bits >> (format.bits() - 1) & 1 == 1;
    if is_special(bits, format) {
        return match bits >> (format.bits() - 6) & 1 {
            0 => UnpackedDecimal::Infinite { negative },
            _ => UnpackedDecimal::Nan { negative },
        };
    }
    let width = format.coefficient_bits();
    let low = |width: u32| bits & ((1 << width) - 1);
    let (biased, coefficient) = match bits >> (format.bits() - 3) & 3 {
        3 => (bits >> (width - 2), 1 << width | low(width - 2)),
        _ => (bits >> width, low(width)),
    };
    let biased = biased as u32 & ((1 << format.exponent_bits) - 1);
    // More digits than there can be stand for 0.
    let is_canonical = coefficient < POWERS[format.digits as usize];
    UnpackedDecimal::Finite {
        negative,
        coefficient: if is_canonical { coefficient } else { 0 },
        exponent: biased as i32 + format.exponent_min,
    }
}

/// Puts bits together. The coefficient and exponent must fit the format (see [`fit`]).
#[inline]
pub fn pack(value: UnpackedDecimal, format: DecimalFormat) -> u128 {
    let sign = |negative: bool| u128::from(negative) << (format.bits() - 1);
    let (negative, coefficient, exponent) = match value {
        UnpackedDecimal::Nan { negative } => return sign(negative) | 0x1F << (format.bits() - 6),
        UnpackedDecimal::Infinite { negative } => {
            return sign(negative) | 0x1E << (format.bits() - 6);
        }
        UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        } => (negative, coefficient, exponent),
    };
    debug_assert!(coefficient < POWERS[format.digits as usize]);
    debug_assert!((format.exponent_min..=format.exponent_max).contains(&exponent));
    let biased = (exponent - format.exponent_min) as u128;
    let width = format.coefficient_bits();
    if coefficient >> width == 0 {
        return sign(negative) | biased << width | coefficient;
    }
    let low = coefficient & ((1 << (width - 2)) - 1);
    sign(negative) | 3 << (format.bits() - 3) | biased << (width - 2) | low
}

/// Rounds half up to what the format can hold: fewer digits, a larger exponent for what is too
/// small, zeros appended for what would have too large an exponent, else infinity.
///
/// Half up looks at the first digit dropped and at nothing behind it, so a caller may cut digits
/// off beyond one more than the precision.
#[inline]
pub fn fit(
    negative: bool,
    coefficient: u128,
    exponent: i32,
    format: DecimalFormat,
) -> UnpackedDecimal {
    let fits = coefficient < POWERS[format.digits as usize]
        && (format.exponent_min..=format.exponent_max).contains(&exponent);
    if fits {
        return UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        };
    }
    fit_exponent(negative, coefficient, exponent, format)
}

fn fit_exponent(
    negative: bool,
    mut coefficient: u128,
    mut exponent: i32,
    format: DecimalFormat,
) -> UnpackedDecimal {
    let excess = count_digits(coefficient) as i32 - format.digits as i32;
    let drop = excess.max(format.exponent_min.saturating_sub(exponent));
    if drop > 0 {
        coefficient = round_off(coefficient, drop as u32);
        exponent = exponent.saturating_add(drop);
        if coefficient == POWERS[format.digits as usize] {
            coefficient /= 10;
            exponent = exponent.saturating_add(1);
        }
    }
    if exponent > format.exponent_max {
        let pad = exponent.saturating_sub(format.exponent_max) as u32;
        if coefficient == 0 {
            exponent = format.exponent_max;
        } else if count_digits(coefficient) + pad <= format.digits {
            coefficient *= POWERS[pad as usize];
            exponent = format.exponent_max;
        } else {
            return UnpackedDecimal::Infinite { negative };
        }
    }
    UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent,
    }
}

/// The coefficient without its last digits, half rounded up.
fn round_off(coefficient: u128, digits: u32) -> u128 {
    match POWERS.get(digits as usize) {
        Some(&power) => {
            let kept = coefficient / power;
            kept + u128::from(coefficient - kept * power >= power / 2)
        }
        None => 0,
    }
}

/// Decimal digits of a number; 1 for 0.
#[inline]
pub fn count_digits(n: u128) -> u32 {
    // 1233 / 4096 is log10(2), near enough for 128 bits: one comparison puts it right.
    let about = ((128 - n.leading_zeros()) * 1233) >> 12;
    (about + u32::from(n >= POWERS[about as usize])).max(1)
}

/// Powers of ten that fit 128 bits.
pub const POWERS: [u128; 39] = {
    let mut powers = [1; 39];
    let mut at = 1;
    while at < 39 {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Words that other implementations of the standard give.
    #[test]
    fn bits_follow_the_standard() {
        let finite = |negative, coefficient, exponent| UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        };
        let known = [
            (finite(false, 1, 0), 0x31C0_0000_0000_0001),
            (finite(true, 150, -2), 0xB180_0000_0000_0096),
            (finite(false, 0, 0), 0x31C0_0000_0000_0000),
            (
                finite(false, 9_007_199_254_740_991, 0),
                0x31DF_FFFF_FFFF_FFFF,
            ),
            (
                finite(false, 9_007_199_254_740_992, 0),
                0x6C70_0000_0000_0000,
            ),
            (
                finite(true, 9_999_999_999_999_999, 369),
                0xF7FB_86F2_6FC0_FFFF,
            ),
            (
                UnpackedDecimal::Infinite { negative: false },
                0x7800_0000_0000_0000,
            ),
            (
                UnpackedDecimal::Nan { negative: true },
                0xFC00_0000_0000_0000,
            ),
        ];
        for (value, bits) in known {
            assert_eq!(pack(value, DECIMAL64), bits, "{value:?}");
            assert_eq!(unpack(bits, DECIMAL64), value);
        }
        assert_eq!(pack(finite(false, 9_999_999, 0), DECIMAL32), 0x6CB8_967F);
        assert_eq!(unpack(0x3280_0001, DECIMAL32), finite(false, 1, 0));
        assert_eq!(pack(finite(true, 7, -1), DECIMAL128), 0xB03E << 112 | 7);
    }

    #[test]
    fn too_many_digits_are_zero() {
        let zero = |exponent| UnpackedDecimal::Finite {
            negative: false,
            coefficient: 0,
            exponent,
        };
        assert_eq!(unpack(0x6C77_FFFF_FFFF_FFFF, DECIMAL64), zero(0));
        assert_eq!(unpack(0x6CBF_FFFF, DECIMAL32), zero(0));
        assert_eq!(
            unpack(0x3040 << 112 | ((1 << 113) - 1), DECIMAL128),
            zero(0)
        );
        assert_eq!(unpack(0x6000 << 112, DECIMAL128), zero(-6176));
    }

    #[test]
    fn digits_are_counted() {
        assert_eq!((count_digits(0), count_digits(u128::MAX)), (1, 39));
        for (at, power) in (0..).zip(POWERS) {
            assert_eq!(
                (count_digits(power), count_digits(power - 1)),
                (at + 1, at.max(1))
            );
        }
        (1..128).for_each(|bits| {
            assert_eq!(count_digits(1 << bits), (1u128 << bits).ilog10() + 1);
        });
    }

    #[test]
    fn fit_rounds_half_up_once() {
        let finite = |coefficient, exponent| UnpackedDecimal::Finite {
            negative: false,
            coefficient,
            exponent,
        };
        assert_eq!(fit(false, 12345675, 0, DECIMAL32), finite(1234568, 1));
        assert_eq!(fit(false, 12345674, 0, DECIMAL32), finite(1234567, 1));
        assert_eq!(fit(false, 99999995, 0, DECIMAL32), finite(1000000, 2));
        assert_eq!(fit(false, 5, -102, DECIMAL32), finite(1, -101));
        assert_eq!(fit(false, 1, -500, DECIMAL32), finite(0, -101));
        assert_eq!(fit(false, 1, 96, DECIMAL32), finite(1000000, 90));
        assert_eq!(
            fit(false, 1, 97, DECIMAL32),
            UnpackedDecimal::Infinite { negative: false }
        );
        assert_eq!(fit(false, 0, 400, DECIMAL32), finite(0, 90));
        let infinite = UnpackedDecimal::Infinite { negative: true };
        assert_eq!(fit(true, 99999999, i32::MAX, DECIMAL32), infinite);
    }
}
