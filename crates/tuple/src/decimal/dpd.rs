//! Densely packed decimals (DPD): how decimals go to binary files and to the decNumber library.
//!
//! ```text
//!   sign 1 | combination 5 | exponent continuation w | coefficient continuation 10 * n
//! ```
//! with w = 6, 8, 12 and n = 2, 5, 11. The combination holds the two high bits of the exponent and
//! the first digit; `11110` is an infinity, `11111` a NaN. Each ten bits of the continuation are a
//! *declet*: three digits (IEEE 754-2008, 3.5.2). What follows a NaN's or an infinity's first bits
//! says nothing; it is kept as it is, in memory too.

use super::codec::{self, DecimalFormat, UnpackedDecimal};

/// The densely packed word of a decimal's bits. The zero word becomes plain 0's.
pub(super) fn encode(bits: u128, format: DecimalFormat) -> u128 {
    let UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent,
    } = codec::unpack(bits, format)
    else {
        return bits;
    };
    let tail = 10 * format.declets;
    let (first, continuation) = to_declets(coefficient, format.declets);
    let biased = (exponent - format.exponent_min) as u32;
    let width = format.exponent_bits - 2;
    let (high, low) = (biased >> width, biased & ((1 << width) - 1));
    let combination = if first < 8 {
        high << 3 | first
    } else {
        0x18 | high << 1 | (first & 1)
    };
    let front = (u128::from(negative) << 5 | u128::from(combination)) << width | u128::from(low);
    front << tail | continuation
}

/// A decimal's bits from its densely packed word.
pub(super) fn decode(word: u128, format: DecimalFormat) -> u128 {
    if codec::is_special(word, format) {
        return word;
    }
    let (tail, width) = (10 * format.declets, format.exponent_bits - 2);
    let combination = (word >> (tail + width)) as u32 & 0x1F;
    let (high, first) = match combination {
        0x18.. => (combination >> 1 & 3, 8 + (combination & 1)),
        _ => (combination >> 3, combination & 7),
    };
    let low = (word >> tail) as u32 & ((1 << width) - 1);
    let value = UnpackedDecimal::Finite {
        negative: word >> (format.bits() - 1) & 1 == 1,
        coefficient: coefficient(word, u64::from(first), format.declets),
        exponent: (high << width | low) as i32 + format.exponent_min,
    };
    codec::pack(value, format)
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

/// The first digit, and the rest as declets.
///
/// Nine digits at a time, so that the divisions need not wait for each other.
#[inline]
fn to_declets(coefficient: u128, declets: u32) -> (u32, u128) {
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

/// The three digits of each declet.
static DECLET_VALUE: [u16; 1024] = {
    let mut values = [0; 1024];
    let mut declet = 0;
    while declet < 1024 {
        values[declet] = declet_value(declet as u16);
        declet += 1;
    }
    values
};

/// The canonical declet of each three digits: the smallest that stands for them.
static VALUE_DECLET: [u16; 1000] = {
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
    use proptest::prelude::*;

    use super::super::codec::{DECIMAL32, DECIMAL64, DECIMAL128};
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
    fn words_agree_with_decnumber() {
        macro_rules! same {
            ($text:expr, $library:ident, $word:ident, $format:ident) => {
                let mut context = dec::Context::<dec::$library>::default();
                let theirs = context.parse($text).unwrap();
                let word = u128::from($word::from_ne_bytes(theirs.to_ne_bytes()));
                let again = encode(decode(word, $format), $format);
                assert_eq!(again, word, "{} as {}", $text, stringify!($library));
            };
        }
        for text in [
            "1.10", "-0.1", "9999999", "8e90", "0e-5", "-1e-101", "9.87e20", "inf", "-nan", "0",
        ] {
            same!(text, Decimal32, u32, DECIMAL32);
            same!(text, Decimal64, u64, DECIMAL64);
            same!(text, Decimal128, u128, DECIMAL128);
        }
    }

    macro_rules! agree_on_any {
        ($name:ident, $library:ident, $word:ident, $format:ident) => {
            proptest! {
                #[test]
                fn $name(word: $word) {
                    let mut theirs = dec::$library::from_ne_bytes(word.to_ne_bytes());
                    prop_assume!(theirs.is_finite() && word != 0);
                    let value = UnpackedDecimal::Finite {
                        negative: word >> ($word::BITS - 1) == 1,
                        coefficient: theirs.coefficient().unsigned_abs().into(),
                        exponent: theirs.exponent(),
                    };
                    let bits = decode(word.into(), $format);
                    prop_assert_eq!(codec::unpack(bits, $format), value);
                    theirs = theirs.canonical();
                    let canonical = $word::from_ne_bytes(theirs.to_ne_bytes());
                    prop_assert_eq!(encode(bits, $format), canonical.into());
                }
            }
        };
    }

    agree_on_any!(words_of_64_bits, Decimal64, u64, DECIMAL64);
    agree_on_any!(words_of_128_bits, Decimal128, u128, DECIMAL128);

    #[test]
    fn specials_keep_their_bits() {
        for word in [
            0x7C00_0000_0000_0123,
            0xFE00_0000_0000_0001,
            0x7800_0000_0000_0001,
        ] {
            assert_eq!(decode(word, DECIMAL64), word);
            assert_eq!(encode(word, DECIMAL64), word);
        }
        assert_eq!(encode(0, DECIMAL64), 0x2238 << 48);
        assert_eq!(decode(0, DECIMAL64), 0);
    }
}
