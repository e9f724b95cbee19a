//! DPD bits to sign, coefficient and exponent, and back, with rounding half up.
//!
//! ```text
//!   sign 1 | combination 5 | exponent continuation w | coefficient continuation 10 * n
//! ```
//! with w = 6, 8, 12 and n = 2, 5, 11. The combination holds the two high bits of the exponent and
//! the first digit; `11110` is an infinity, `11111` a NaN. Each ten bits of the continuation are a
//! *declet*: three digits (IEEE 754-2008, 3.5.2).

/// What a decimal's bits say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// coefficient * 10^exponent.
    Finite {
        /// The sign; zeros have one too.
        negative: bool,
        /// At most 7, 16 or 34 digits.
        coefficient: u128,
        /// Of the coefficient's last digit.
        exponent: i32,
    },
    /// An infinity.
    Infinite {
        /// Whether it is the one below all numbers.
        negative: bool,
    },
    /// Not a number; payloads are not kept.
    Nan {
        /// The sign bit.
        negative: bool,
    },
}

impl Unpacked {
    /// Plain 0.
    pub const ZERO: Unpacked = Unpacked::Finite {
        negative: false,
        coefficient: 0,
        exponent: 0,
    };
}

/// The parameters of one width.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Digits of precision.
    pub digits: u32,
    /// Smallest exponent of the last digit.
    pub exponent_min: i32,
    /// Largest exponent of the last digit.
    pub exponent_max: i32,
    /// Bits of the exponent continuation.
    continuation: u32,
    /// Declets of the coefficient continuation.
    declets: u32,
}

/// decimal32.
pub const SINGLE: Format = Format {
    digits: 7,
    exponent_min: -101,
    exponent_max: 90,
    continuation: 6,
    declets: 2,
};

/// decimal64.
pub const DOUBLE: Format = Format {
    digits: 16,
    exponent_min: -398,
    exponent_max: 369,
    continuation: 8,
    declets: 5,
};

/// decimal128.
pub const QUAD: Format = Format {
    digits: 34,
    exponent_min: -6176,
    exponent_max: 6111,
    continuation: 12,
    declets: 11,
};

const _: () = assert!(6 + SINGLE.continuation + 10 * SINGLE.declets == 32);
const _: () = assert!(6 + DOUBLE.continuation + 10 * DOUBLE.declets == 64);
const _: () = assert!(6 + QUAD.continuation + 10 * QUAD.declets == 128);

/// Takes bits apart. The zero word is plain 0 (see the module above).
#[inline]
pub fn unpack(bits: u128, format: Format) -> Unpacked {
    if bits == 0 {
        return Unpacked::ZERO;
    }
    let tail = 10 * format.declets;
    let negative = bits >> (tail + format.continuation + 5) & 1 == 1;
    let combination = (bits >> (tail + format.continuation)) as u32 & 0x1F;
    let (high, first) = match combination {
        0x1F => return Unpacked::Nan { negative },
        0x1E => return Unpacked::Infinite { negative },
        0x18.. => (combination >> 1 & 3, 8 + (combination & 1)),
        _ => (combination >> 3, combination & 7),
    };
    let low = (bits >> tail) as u32 & ((1 << format.continuation) - 1);
    let biased = (high << format.continuation | low) as i32;
    Unpacked::Finite {
        negative,
        coefficient: coefficient(bits, u64::from(first), format.declets),
        exponent: biased + format.exponent_min,
    }
}

/// Digits from the first one and the declets. Up to six declets fit 64 bits, the rest needs more.
#[inline]
fn coefficient(bits: u128, first: u64, declets: u32) -> u128 {
    let declet = |at: u32| u64::from(DECLET_VALUE[(bits >> (10 * at)) as usize & 0x3FF]);
    let gather = |from: u64, range: std::ops::Range<u32>| {
        range.rev().fold(from, |sum, at| sum * 1000 + declet(at))
    };
    if declets <= 5 {
        u128::from(gather(first, 0..declets))
    } else {
        let high = gather(first, 6..declets);
        u128::from(high) * 10u128.pow(18) + u128::from(gather(0, 0..6))
    }
}

/// Puts bits together. The coefficient and exponent must fit the format (see [`fit`]).
#[inline]
pub fn pack(value: Unpacked, format: Format) -> u128 {
    let tail = 10 * format.declets;
    let place = |negative: bool, combination: u32| {
        (u128::from(negative) << 5 | u128::from(combination)) << (tail + format.continuation)
    };
    let (negative, coefficient, exponent) = match value {
        Unpacked::Nan { negative } => return place(negative, 0x1F),
        Unpacked::Infinite { negative } => return place(negative, 0x1E),
        Unpacked::Finite {
            negative,
            coefficient,
            exponent,
        } => (negative, coefficient, exponent),
    };
    debug_assert!(coefficient < POWERS[format.digits as usize]);
    debug_assert!((format.exponent_min..=format.exponent_max).contains(&exponent));
    let (first, continuation) = scatter(coefficient, format.declets);
    let biased = (exponent - format.exponent_min) as u32;
    let high = biased >> format.continuation;
    let low = biased & ((1 << format.continuation) - 1);
    let combination = if first < 8 {
        high << 3 | first
    } else {
        0x18 | high << 1 | (first & 1)
    };
    place(negative, combination) | u128::from(low) << tail | continuation
}

/// The first digit, and the rest as declets.
///
/// Nine digits at a time, so that the divisions need not wait for each other.
#[inline]
fn scatter(coefficient: u128, declets: u32) -> (u32, u128) {
    let nine = |part: u64| {
        let part = part as u32;
        let declet = |value: u32| u64::from(VALUE_DECLET[(value % 1000) as usize]);
        declet(part) | declet(part / 1000) << 10 | declet(part / 1_000_000) << 20
    };
    let split = 1_000_000_000;
    if declets <= 5 {
        let (high, low) = (coefficient as u64 / split, coefficient as u64 % split);
        let (first, bits) = (high / 1_000_000, u128::from(nine(low) | nine(high) << 30));
        if declets == 2 {
            // Seven digits: the first one is what the third declet would hold.
            return ((low / 1_000_000) as u32, bits & 0xF_FFFF);
        }
        (first as u32, bits & ((1 << 50) - 1))
    } else {
        let (high, low) = (
            coefficient / 10u128.pow(18),
            (coefficient % 10u128.pow(18)) as u64,
        );
        let high = high as u64;
        let low = u128::from(nine(low % split)) | u128::from(nine(low / split)) << 30;
        let middle = u128::from(nine(high % split)) << 60;
        let top = u128::from(nine(high / split)) << 90;
        let bits = (low | middle | top) & ((1 << 110) - 1);
        ((high / 1_000_000_000_000_000) as u32, bits)
    }
}

/// Rounds half up to what the format can hold: fewer digits, a larger exponent for what is too
/// small, zeros appended for what would have too large an exponent, else infinity.
///
/// Half up looks at the first digit dropped and at nothing behind it, so a caller may cut digits
/// off beyond one more than the precision.
#[inline]
pub fn fit(negative: bool, coefficient: u128, exponent: i32, format: Format) -> Unpacked {
    let fits = coefficient < POWERS[format.digits as usize]
        && (format.exponent_min..=format.exponent_max).contains(&exponent);
    if fits {
        return Unpacked::Finite {
            negative,
            coefficient,
            exponent,
        };
    }
    squeeze(negative, coefficient, exponent, format)
}

fn squeeze(negative: bool, mut coefficient: u128, mut exponent: i32, format: Format) -> Unpacked {
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
            return Unpacked::Infinite { negative };
        }
    }
    Unpacked::Finite {
        negative,
        coefficient,
        exponent,
    }
}

/// The coefficient without its last digits, half rounded up.
fn round_off(coefficient: u128, digits: u32) -> u128 {
    match POWERS.get(digits as usize) {
        Some(&power) => coefficient / power + u128::from(coefficient % power >= power / 2),
        None => 0,
    }
}

/// Decimal digits of a number; 1 for 0.
#[inline]
pub fn count_digits(n: u128) -> u32 {
    match u64::try_from(n) {
        Ok(small) => small.checked_ilog10().unwrap_or(0) + 1,
        Err(_) => n.ilog10() + 1,
    }
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

/// The three digits of each declet.
pub(super) static DECLET_VALUE: [u16; 1024] = {
    let mut values = [0; 1024];
    let mut declet = 0;
    while declet < 1024 {
        values[declet] = declet_value(declet as u16);
        declet += 1;
    }
    values
};

/// The canonical declet of each three digits: the smallest that stands for them.
pub(super) static VALUE_DECLET: [u16; 1000] = {
    let mut declets = [0; 1000];
    let mut declet = 1024;
    while declet > 0 {
        declet -= 1;
        declets[DECLET_VALUE[declet] as usize] = declet as u16;
    }
    declets
};

/// Decodes a declet `pqr stu v wxy`: where v is set, w, x, s and t say which digits are 8 or 9.
const fn declet_value(declet: u16) -> u16 {
    let (pqr, stu, wxy) = (declet >> 7 & 7, declet >> 4 & 7, declet & 7);
    let (pq, st) = (pqr & 6, stu & 6);
    let (r, u, y) = (8 | pqr & 1, 8 | stu & 1, 8 | wxy & 1);
    let (hundreds, tens, ones) = if declet >> 3 & 1 == 0 {
        (pqr, stu, wxy)
    } else {
        match (wxy >> 1, st >> 1) {
            (0, _) => (pqr, stu, y),
            (1, _) => (pqr, u, st | y & 1),
            (2, _) => (r, stu, pq | y & 1),
            (_, 0) => (r, u, pq | y & 1),
            (_, 1) => (r, pq | u & 1, y),
            (_, 2) => (pqr, u, y),
            (_, _) => (r, u, y),
        }
    };
    hundreds * 100 + tens * 10 + ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declets_follow_the_standard() {
        let known = [
            (0, 0),
            (9, 9),
            (55, 0x55),
            (79, 0x79),
            (80, 0xA),
            (99, 0x5F),
            (555, 0x2D5),
        ];
        for (value, declet) in known {
            assert_eq!(VALUE_DECLET[value], declet, "{value}");
        }
        assert_eq!(VALUE_DECLET[999], 0x0FF);
        (0..1000u16).for_each(|n| assert_eq!(DECLET_VALUE[VALUE_DECLET[n as usize] as usize], n));
    }

    #[test]
    fn bits_agree_with_decnumber() {
        for text in [
            "1.10", "-0.1", "9999999", "8e90", "0e-5", "-1e-101", "9.87e20", "inf", "0",
        ] {
            let theirs = dec::Context::<dec::Decimal32>::default()
                .parse(text)
                .unwrap();
            let bits = u128::from(u32::from_ne_bytes(theirs.to_ne_bytes()));
            assert_eq!(
                pack(unpack(bits, SINGLE), SINGLE),
                bits,
                "{text} in 32 bits"
            );
            let theirs = dec::Context::<dec::Decimal64>::default()
                .parse(text)
                .unwrap();
            let bits = u128::from(u64::from_ne_bytes(theirs.to_ne_bytes()));
            assert_eq!(
                pack(unpack(bits, DOUBLE), DOUBLE),
                bits,
                "{text} in 64 bits"
            );
            if let Unpacked::Finite {
                coefficient,
                exponent,
                ..
            } = unpack(bits, DOUBLE)
            {
                assert_eq!(coefficient as i64, theirs.coefficient().abs());
                assert_eq!(exponent, theirs.exponent());
            }
            let theirs = dec::Context::<dec::Decimal128>::default()
                .parse(text)
                .unwrap();
            let bits = u128::from_ne_bytes(theirs.to_ne_bytes());
            assert_eq!(pack(unpack(bits, QUAD), QUAD), bits, "{text} in 128 bits");
        }
    }

    #[test]
    fn fit_rounds_half_up_once() {
        let finite = |coefficient, exponent| Unpacked::Finite {
            negative: false,
            coefficient,
            exponent,
        };
        assert_eq!(fit(false, 12345675, 0, SINGLE), finite(1234568, 1));
        assert_eq!(fit(false, 12345674, 0, SINGLE), finite(1234567, 1));
        assert_eq!(fit(false, 99999995, 0, SINGLE), finite(1000000, 2));
        assert_eq!(fit(false, 5, -102, SINGLE), finite(1, -101));
        assert_eq!(fit(false, 1, -500, SINGLE), finite(0, -101));
        assert_eq!(fit(false, 1, 96, SINGLE), finite(1000000, 90));
        assert_eq!(
            fit(false, 1, 97, SINGLE),
            Unpacked::Infinite { negative: false }
        );
        assert_eq!(fit(false, 0, 400, SINGLE), finite(0, 90));
        let infinite = Unpacked::Infinite { negative: true };
        assert_eq!(fit(true, 99999999, i32::MAX, SINGLE), infinite);
    }
}
