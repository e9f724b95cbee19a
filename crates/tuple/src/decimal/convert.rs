//! Decimals from and to integers, floats and each other.
//!
//! * From an integer: exact, or rounded half up to the digits of the type.
//! * From a float: all the digits of the decimal type, rounded half up from the float's exact
//!   value, so `(decimal64)0.1` is `0.1000000000000000` (16 digits). That is what conversion by
//!   printing with full precision and reading again gives. A decimal128 shows the float's binary
//!   tail.
//! * To an integer: truncated toward zero to 64 bits (what is beyond them is the nearest end, a NaN
//!   is 0), then cut to the width by the caller as integers are.
//! * To a float: the nearest.
//! * Between widths: exact, or rounded half up.

use super::codec::{POWERS, Unpacked};
use super::{Decimal32, Decimal64, Decimal128};

/// The integer part toward zero, if 128 bits hold it; NaN is 0.
fn truncate(value: Unpacked) -> i128 {
    let (negative, magnitude) = match value {
        Unpacked::Nan { .. } => (false, 0),
        Unpacked::Infinite { negative } => (negative, u128::MAX),
        Unpacked::Finite {
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

fn from_float(x: f64, digits: u32) -> Unpacked {
    let negative = x.is_sign_negative();
    if x.is_nan() {
        return Unpacked::Nan { negative };
    }
    if x.is_infinite() {
        return Unpacked::Infinite { negative };
    }
    let (digits, exponent) = rounded_digits(x.abs(), digits);
    Unpacked::Finite {
        negative,
        coefficient: digits,
        exponent,
    }
}

/// So many significant digits of a float, half rounded up, and the exponent of the last one.
fn rounded_digits(x: f64, digits: u32) -> (u128, i32) {
    // The formatter rounds half to even, but one digit more, cut off rather than rounded, decides
    // half up. No float has more than 767 significant digits, so the cut is exact.
    let text = format!("{x:.800e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let kept = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .take(digits as usize + 1);
    let coefficient = kept.fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let exponent = exponent.parse().unwrap_or(0) - digits as i32;
    let rounded = coefficient / 10 + u128::from(coefficient % 10 >= 5);
    if rounded == POWERS[digits as usize] {
        (rounded / 10, exponent + 2)
    } else {
        (rounded, exponent + 1)
    }
}

/// As text that Rust's float parser reads.
fn float_text(value: Unpacked) -> String {
    match value {
        Unpacked::Nan { negative } => if negative { "-nan" } else { "nan" }.into(),
        Unpacked::Infinite { negative } => if negative { "-inf" } else { "inf" }.into(),
        Unpacked::Finite {
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
                $type::pack(Unpacked::Finite {
                    negative: n < 0,
                    coefficient: u128::from(n.unsigned_abs()),
                    exponent: 0,
                })
            }

            /// Exact, or rounded half up.
            pub fn from_u64(n: u64) -> $type {
                $type::pack(Unpacked::Finite {
                    negative: false,
                    coefficient: u128::from(n),
                    exponent: 0,
                })
            }

            /// With all digits of the type, half rounded up.
            pub fn from_f64(x: f64) -> $type {
                $type::pack(from_float(x, $digits))
            }

            /// As [`Self::from_f64`]; a float32 is exact as a float64.
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

            /// The nearest float64.
            pub fn to_f64(self) -> f64 {
                float_text(self.unpack()).parse().unwrap_or(f64::NAN)
            }

            /// The nearest float32.
            pub fn to_f32(self) -> f32 {
                float_text(self.unpack()).parse().unwrap_or(f32::NAN)
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

    #[test]
    fn floats_take_all_digits() {
        assert_eq!(Decimal64::from_f64(0.1).to_string(), "0.1000000000000000");
        assert_eq!(Decimal32::from_f64(0.1).to_string(), "0.1000000");
        assert_eq!(Decimal64::from_f64(-3.0).to_string(), "-3.000000000000000");
        assert_eq!(
            Decimal128::from_f64(0.1).to_string(),
            "0.1000000000000000055511151231257827"
        );
        assert_eq!(Decimal32::from_f64(1234566.5).to_string(), "1234567");
        assert_eq!(Decimal32::from_f64(9999999.5).to_string(), "1.000000e+07");
        assert_eq!(Decimal64::from_f64(f64::NEG_INFINITY).to_string(), "-inf");
        assert!(Decimal64::from_f64(0.0).is_zero());
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
