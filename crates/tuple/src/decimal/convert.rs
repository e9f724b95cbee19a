//! Decimals from and to integers, floats and each other.
//!
//! * From an integer: exact, or rounded half up to the digits of the type.
//! * From a float whose value the digits of the decimal type hold: exact and normalized, without
//!   zeros at the end of the coefficient, so `(decimal64)1.5` is `1.5` and `(decimal64)0.0` is `0`.
//! * From any other float: all the digits of the decimal type, rounded half up from the float's
//!   exact value. A binary 0.1 is a little more than 0.1: `(decimal64)0.1` is
//!   `0.1000000000000000` (16 digits), and a decimal128 shows the float's binary tail.
//! * To an integer: truncated toward zero to 64 bits (what is beyond them is the nearest end, a NaN
//!   is 0), then cut to the width by the caller as integers are.
//! * To a float: the nearest.
//! * Between widths: exact, or rounded half up.

use super::codec::{POWERS, UnpackedDecimal, count_digits};
use super::{Decimal32, Decimal64, Decimal128};

/// The integer part toward zero, if 128 bits hold it; NaN is 0.
fn truncate(value: UnpackedDecimal) -> i128 {
    let (negative, magnitude) = match value {
        UnpackedDecimal::Nan { .. } => (false, 0),
        UnpackedDecimal::Infinite { negative } => (negative, u128::MAX),
        UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        } => {
            let power = POWERS.get(exponent.unsigned_abs() as usize).copied();
            let magnitude = match power {
                Some(power) if exponent < 0 => coefficient / power,
                Some(power) => coefficient.saturating_mul(power),
                None if exponent < 0 || coefficient == 0 => 0,
                None => u128::MAX,
            };
            (negative, magnitude)
        }
    };
    let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
    if negative { -magnitude } else { magnitude }
}

fn from_float(x: f64, digits: u32) -> UnpackedDecimal {
    let negative = x.is_sign_negative();
    if x.is_nan() {
        return UnpackedDecimal::Nan { negative };
    }
    if x.is_infinite() {
        return UnpackedDecimal::Infinite { negative };
    }
    let exact = exact_digits(x.abs(), digits);
    let (coefficient, exponent) = exact.unwrap_or_else(|| rounded_digits(x.abs(), digits));
    UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent,
    }
}

/// The shortest coefficient and its exponent that are exactly a float, if at most so many digits
/// are enough for the coefficient.
fn exact_digits(x: f64, digits: u32) -> Option<(u128, i32)> {
    let (mut odd, mut power) = binary_parts(x);
    if odd == 0 {
        return Some((0, 0));
    }
    power += odd.trailing_zeros() as i32;
    odd >>= odd.trailing_zeros();
    // x is odd * 2^power. A negative power of two is a power of five and as many decimal places;
    // of a positive one as many factors become zeros as the odd number has factors of five.
    let mut exponent = power.min(0);
    while power > 0 && odd.is_multiple_of(5) {
        (odd, power, exponent) = (odd / 5, power - 1, exponent + 1);
    }
    let factor = if power < 0 { 5u128 } else { 2 };
    let coefficient = u128::from(odd).checked_mul(factor.checked_pow(power.unsigned_abs())?)?;
    (coefficient < POWERS[digits as usize]).then_some((coefficient, exponent))
}

/// At most `digits` significant digits of a float, half rounded up, and the exponent of the last
/// one.
fn rounded_digits(x: f64, digits: u32) -> (u128, i32) {
    // One digit more, cut off rather than rounded, decides half up.
    let kept = leading_digits(x, digits + 1).unwrap_or_else(|| formatted_digits(x, digits + 1));
    let (coefficient, exponent) = kept;
    let rounded = coefficient / 10 + u128::from(coefficient % 10 >= 5);
    if rounded == POWERS[digits as usize] {
        (rounded / 10, exponent + 2)
    } else {
        (rounded, exponent + 1)
    }
}

/// The first `count` significant digits of a float that is not 0, and the exponent of the last
/// one; `None` if 128 bits are too few for the way there.
fn leading_digits(x: f64, count: u32) -> Option<(u128, i32)> {
    let (fraction, power) = binary_parts(x);
    let fraction = u128::from(fraction);
    let scaled = |places: u32| {
        let scaled = fraction.checked_mul(*POWERS.get(places as usize)?)?;
        Some(scaled.checked_shr(power.unsigned_abs()).unwrap_or(0))
    };
    let whole = match power {
        ..0 => scaled(0)?,
        0..=74 => fraction << power,
        _ => return None,
    };
    if count_digits(whole) >= count && whole > 0 {
        let excess = count_digits(whole) - count;
        return Some((whole / POWERS[excess as usize], excess as i32));
    }
    if power >= 0 {
        return None;
    }
    let mut places = count - if whole > 0 { count_digits(whole) } else { 0 };
    // With zeros behind the point, the number of digits says how many more places there are.
    let mut kept = scaled(places)?;
    if kept == 0 {
        return None;
    }
    if count_digits(kept) < count {
        places += count - count_digits(kept);
        kept = scaled(places)?;
    }
    Some((kept, -(places as i32)))
}

/// Like [`leading_digits`], for every float.
fn formatted_digits(x: f64, count: u32) -> (u128, i32) {
    // The formatter rounds, but no float has more than 767 significant digits.
    let text = format!("{x:.800e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let kept = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .take(count as usize);
    let coefficient = kept.fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    (
        coefficient,
        exponent.parse().unwrap_or(0) - (count as i32 - 1),
    )
}

/// A number that is not negative as a fraction times a power of two.
fn binary_parts(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let (biased, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    match biased {
        0 => (fraction, -1074),
        _ => (fraction | 1 << 52, biased - 1075),
    }
}

/// The nearest float64, where a coefficient and a power of ten that a float64 holds exactly make
/// it: one operation rounds once. Else the text of the number decides.
fn to_float64(value: UnpackedDecimal) -> f64 {
    ordinary_float64(value).unwrap_or_else(|| float_text(value).parse().unwrap_or(f64::NAN))
}

/// The nearest float32. Of a float64 that is half way between two of them it is not known on which
/// side the number was.
fn to_float32(value: UnpackedDecimal) -> f32 {
    let is_half = |x: f64| x.to_bits() & ((1 << 29) - 1) == 1 << 28;
    match ordinary_float64(value) {
        Some(x) if !is_half(x) => x as f32,
        _ => float_text(value).parse().unwrap_or(f32::NAN),
    }
}

/// A float64 from 1e-22 to 1e38, or 0.
fn ordinary_float64(value: UnpackedDecimal) -> Option<f64> {
    let (negative, coefficient, exponent) = value.finite()?;
    let places = exponent.unsigned_abs();
    if coefficient >> 53 != 0 || places > EXACT_POWER_MAX {
        return None;
    }
    let (coefficient, power) = (coefficient as f64, POWERS[places as usize] as f64);
    let x = if exponent < 0 {
        coefficient / power
    } else {
        coefficient * power
    };
    Some(if negative { -x } else { x })
}

/// Largest power of ten that a float64 holds exactly.
const EXACT_POWER_MAX: u32 = 22;

/// Text of the number that Rust's float parser reads.
fn float_text(value: UnpackedDecimal) -> String {
    match value {
        UnpackedDecimal::Nan { negative } => if negative { "-nan" } else { "nan" }.into(),
        UnpackedDecimal::Infinite { negative } => if negative { "-inf" } else { "inf" }.into(),
        UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        } => {
            format!(
                "{}{coefficient}e{exponent}",
                if negative { "-" } else { "" }
            )
        }
    }
}

macro_rules! convert {
    ($type:ident, $digits:literal, $($other:ident)+) => {
        impl $type {
            /// Exact, or rounded half up.
            pub fn from_i64(n: i64) -> $type {
                $type::pack(UnpackedDecimal::Finite {
                    negative: n < 0,
                    coefficient: u128::from(n.unsigned_abs()),
                    exponent: 0,
                })
            }

            /// Exact, or rounded half up.
            pub fn from_u64(n: u64) -> $type {
                $type::pack(UnpackedDecimal::Finite {
                    negative: false,
                    coefficient: u128::from(n),
                    exponent: 0,
                })
            }

            /// Exact and normalized where the digits of the type are enough; else with all of
            /// them, half rounded up.
            pub fn from_f64(x: f64) -> $type {
                let number = $type::pack(from_float(x, $digits));
                // What is too small for the type is 0, and has no digits to keep.
                let negative = x.is_sign_negative();
                if number.is_zero() { $type::scaled(negative, 0, 0) } else { number }
            }

            /// Like [`Self::from_f64`]; a float32 is exact as a float64.
            pub fn from_f32(x: f32) -> $type {
                $type::from_f64(f64::from(x))
            }

            /// Truncated toward zero; the nearest end of the range if outside; NaN is 0.
            pub fn to_i64(self) -> i64 {
                truncate(self.unpack()).clamp(i64::MIN.into(), i64::MAX.into()) as i64
            }

            /// Truncated toward zero; a negative number wraps as its int64 would; the largest
            /// number if above the range; NaN is 0.
            pub fn to_u64(self) -> u64 {
                match truncate(self.unpack()) {
                    n @ ..0 => n.max(i64::MIN.into()) as u64,
                    n => n.min(u64::MAX.into()) as u64,
                }
            }

            /// The float64 nearest to this number.
            pub fn to_f64(self) -> f64 {
                to_float64(self.unpack())
            }

            /// The float32 nearest to this number.
            pub fn to_f32(self) -> f32 {
                to_float32(self.unpack())
            }
        }

        $(
            /// Exact, or rounded half up.
            impl From<$other> for $type {
                fn from(value: $other) -> $type {
                    $type::pack(value.unpack())
                }
            }
        )+
    };
}

convert!(Decimal32, 7, Decimal64 Decimal128);
convert!(Decimal64, 16, Decimal32 Decimal128);
convert!(Decimal128, 34, Decimal32 Decimal64);

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(x: f64) -> [String; 3] {
        [
            Decimal32::from_f64(x).to_string(),
            Decimal64::from_f64(x).to_string(),
            Decimal128::from_f64(x).to_string(),
        ]
    }

    #[test]
    fn floats_that_fit_are_normalized() {
        let same = [
            (1.5, "1.5"),
            (0.0, "0"),
            (-0.0, "-0"),
            (-3.0, "-3"),
            (100.0, "100"),
            (1250.0, "1250"),
            (0.375, "0.375"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
            (-f64::NAN, "-nan"),
        ];
        for (x, text) in same {
            assert_eq!(texts(x), [text; 3], "{x}");
        }
        assert_eq!(texts(1e20), ["1e+20", "1e+20", "100000000000000000000"]);
        assert_eq!(texts(2f64.powi(-4)), ["0.0625"; 3]);
        let long = "1.52587890625e-05";
        assert_eq!(texts(2f64.powi(-16)), ["1.525879e-05", long, long]);
        assert_eq!(Decimal64::from_f32(0.5).to_string(), "0.5");
        assert_eq!(Decimal32::from_f64(1e-200).to_string(), "0");
        assert_eq!(Decimal32::from_f64(-1e-200).to_string(), "-0");
        assert_eq!(Decimal32::from_f64(1e300).to_string(), "inf");
    }

    /// The bits follow from the number and the type, not from the way the float was written.
    #[test]
    fn exact_digits_are_those_of_the_expansion() {
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        for _ in 0..2_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            // Few bits set, and exponents near 0, so that many are short.
            let x = (bits >> 44) as f64 * 2f64.powi((bits & 127) as i32 - 64);
            let text = format!("{x:.800e}");
            let (mantissa, _) = text.split_once('e').unwrap();
            let short = mantissa.trim_end_matches('0').replace('.', "");
            for digits in [7, 16, 34] {
                let exact = exact_digits(x, digits).map(|(coefficient, _)| coefficient.to_string());
                let fits = short.len() <= digits as usize;
                assert_eq!(exact, fits.then(|| short.clone()), "{x} by {digits}");
            }
        }
    }

    /// The digits that arithmetic gives are those of the expansion, wherever it gives any.
    #[test]
    fn leading_digits_are_those_of_the_expansion() {
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        let mut found = 0;
        for turn in 0..4_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let near = (bits >> 11) as f64 * 2f64.powi((bits & 127) as i32 - 120);
            let any = f64::from_bits(bits >> 1);
            let x = if turn % 4 == 0 { any } else { near };
            if x == 0.0 || !x.is_finite() {
                continue;
            }
            for count in [8, 17, 35] {
                if let Some(digits) = leading_digits(x, count) {
                    assert_eq!(digits, formatted_digits(x, count), "{x:e}, {count} digits");
                    found += 1;
                }
            }
        }
        assert!(found > 2_000, "{found}");
    }

    /// One operation gives the float that the text of the number is read as.
    #[test]
    fn floats_are_those_of_the_text() {
        let mut bits = 0x9E37_79B9_7F4A_7C15u64;
        for _ in 0..20_000 {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            let number = UnpackedDecimal::Finite {
                negative: bits & 1 == 1,
                coefficient: u128::from(bits >> 11 >> (bits % 50)),
                exponent: (bits >> 5 & 63) as i32 - 32,
            };
            let text = float_text(number);
            let (wide, narrow) = (to_float64(number), to_float32(number));
            assert_eq!(Ok(wide.to_bits()), text.parse().map(f64::to_bits), "{text}");
            assert_eq!(
                Ok(narrow.to_bits()),
                text.parse().map(f32::to_bits),
                "{text}"
            );
        }
    }

    #[test]
    fn floats_that_do_not_fit_take_all_digits() {
        assert_eq!(Decimal64::from_f64(0.1).to_string(), "0.1000000000000000");
        assert_eq!(Decimal32::from_f64(0.1).to_string(), "0.1000000");
        assert_eq!(
            Decimal128::from_f64(0.1).to_string(),
            "0.1000000000000000055511151231257827"
        );
        assert_eq!(Decimal64::from_f32(0.1).to_string(), "0.1000000014901161");
        assert_eq!(Decimal32::from_f64(1234566.5).to_string(), "1234567");
        assert_eq!(Decimal32::from_f64(9999999.5).to_string(), "1.000000e+07");
        assert_eq!(
            Decimal64::from_f64(5e-324).to_string(),
            "4.940656458412465e-324"
        );
        assert_eq!(
            Decimal64::from_f64(f64::MAX).to_string(),
            "1.797693134862316e+308"
        );
    }

    #[test]
    fn integers_round_half_up_and_truncate() {
        assert_eq!(Decimal32::from_i64(-12345675).to_string(), "-1.234568e+07");
        assert_eq!(
            Decimal64::from_u64(u64::MAX).to_string(),
            "1.844674407370955e+19"
        );
        assert_eq!(Decimal128::from_u64(u64::MAX).to_u64(), u64::MAX);
        let d = |text: &str| text.parse::<Decimal64>().unwrap();
        assert_eq!((d("-2.9").to_i64(), d("2.9").to_i64()), (-2, 2));
        assert_eq!(
            (d("1e300").to_i64(), d("-1e300").to_i64()),
            (i64::MAX, i64::MIN)
        );
        assert_eq!((d("nan").to_i64(), d("-1").to_u64()), (0, u64::MAX));
        assert_eq!((d("inf").to_u64(), d("1e-300").to_u64()), (u64::MAX, 0));
    }

    #[test]
    fn widths_round_half_up() {
        let wide: Decimal64 = "1.2345675".parse().unwrap();
        assert_eq!(Decimal32::from(wide).to_string(), "1.234568");
        assert_eq!(Decimal128::from(wide).to_string(), "1.2345675");
        assert_eq!(wide.to_f64(), 1.2345675);
        assert_eq!(Decimal32::from(wide).to_f32(), 1.234568);
    }
}
