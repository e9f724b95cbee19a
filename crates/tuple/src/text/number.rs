//! Numbers at the start of a text, as bytes: no UTF-8 check, no allocation.
//!
//! Integers are `[+-] digits`. Floats and decimals are `[+-] digits [. digits] [e [+-] digits]`
//! with a digit before the exponent, or `nan`, `inf`, `infinity` in any case.

use crate::{Decimal32, Decimal64, Decimal128};

/// Why there is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberFault {
    /// The text does not begin with one.
    Syntax,
    /// The number is too large for the type.
    Range,
}

/// A number and how many bytes it took.
pub(super) type NumberScan<T> = Result<(T, usize), NumberFault>;

/// A number that digits make.
pub(super) trait FromDigits: Sized {
    /// The number `digits * 10^exponent` with its sign; of an integer, the exponent is 0. `None` if
    /// the type does not hold it, or only with more work than a multiplication.
    fn from_digits(negative: bool, digits: u64, exponent: i32) -> Option<Self>;
}

/// A number that can be read from the start of a text.
pub(super) trait ScanNumber: FromDigits {
    /// Reads the number at the start of a text.
    fn scan(text: &[u8]) -> NumberScan<Self>;
}

macro_rules! integers {
    ($($type:ident)+) => { $(
        impl FromDigits for $type {
            #[inline]
            fn from_digits(negative: bool, digits: u64, _: i32) -> Option<$type> {
                if negative {
                    // The smallest int64 has no positive counterpart.
                    let fits = digits <= i64::MIN.unsigned_abs();
                    let value = (digits as i64).wrapping_neg();
                    fits.then(|| $type::try_from(value).ok()).flatten()
                } else {
                    $type::try_from(digits).ok()
                }
            }
        }

        impl ScanNumber for $type {
            #[inline]
            fn scan(text: &[u8]) -> NumberScan<$type> {
                let (negative, magnitude, len) = integer(text)?;
                let value = $type::from_digits(negative, magnitude, 0);
                Ok((value.ok_or(NumberFault::Range)?, len))
            }
        }
    )+ };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

/// Sign, magnitude and length.
#[inline]
fn integer(text: &[u8]) -> Result<(bool, u64, usize), NumberFault> {
    let (negative, start) = sign(text);
    let mut magnitude = 0u64;
    let mut at = start;
    while let Some(digit) = digit_at(text, at) {
        magnitude = match magnitude.checked_mul(10).and_then(|m| m.checked_add(digit)) {
            Some(magnitude) => magnitude,
            None => return Err(NumberFault::Range),
        };
        at += 1;
    }
    if at == start {
        Err(NumberFault::Syntax)
    } else {
        Ok((negative, magnitude, at))
    }
}

#[inline]
fn sign(text: &[u8]) -> (bool, usize) {
    match text.first() {
        Some(b'-') => (true, 1),
        Some(b'+') => (false, 1),
        _ => (false, 0),
    }
}

#[inline]
fn digit_at(text: &[u8], at: usize) -> Option<u64> {
    let digit = text.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(u64::from(digit))
}

/// Exponents beyond this are as good as this: no type reaches them, and sums of two do not
/// overflow.
const EXPONENT_MAX: i32 = 1_000_000_000;

/// The parts of a number with a point or an exponent.
struct ScientificNumber {
    negative: bool,
    /// The digits as an integer, if it fits.
    mantissa: Option<u64>,
    /// Power of ten to multiply the mantissa with.
    exponent: i32,
    /// Length of the number in bytes.
    len: usize,
}

/// Splits a number; an `e` that no exponent follows is not part of it.
#[inline]
fn scientific(text: &[u8]) -> Result<ScientificNumber, NumberFault> {
    let (negative, start) = sign(text);
    let (mut at, mut mantissa, mut point) = (start, Some(0u64), None);
    loop {
        if let Some(digit) = digit_at(text, at) {
            mantissa = mantissa.and_then(|m| m.checked_mul(10)?.checked_add(digit));
        } else if point.is_none() && text.get(at) == Some(&b'.') {
            point = Some(at);
        } else {
            break;
        }
        at += 1;
    }
    let fraction = point.map_or(0, |point| at - point - 1);
    if at - start == usize::from(point.is_some()) {
        return Err(NumberFault::Syntax);
    }
    let mut exponent = -i32::try_from(fraction).unwrap_or(EXPONENT_MAX);
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let (down, start) = sign(&text[at + 1..]);
        let mut end = at + 1 + start;
        let mut power = 0i32;
        while let Some(digit) = digit_at(text, end) {
            power = power.saturating_mul(10).saturating_add(digit as i32);
            end += 1;
        }
        if end > at + 1 + start {
            at = end;
            let power = power.min(EXPONENT_MAX);
            exponent = exponent.saturating_add(if down { -power } else { power });
        }
    }
    Ok(ScientificNumber {
        negative,
        mantissa,
        exponent,
        len: at,
    })
}

/// `nan` and `inf` with their length.
#[cold]
fn scan_special(text: &[u8]) -> NumberScan<f64> {
    let (negative, start) = sign(text);
    let begins = |name: &[u8]| {
        let word = text.get(start..start + name.len());
        word.is_some_and(|word| word.eq_ignore_ascii_case(name))
    };
    let (value, len) = if begins(b"nan") {
        (f64::NAN, 3)
    } else if begins(b"infinity") {
        (f64::INFINITY, 8)
    } else if begins(b"inf") {
        (f64::INFINITY, 3)
    } else {
        return Err(NumberFault::Syntax);
    };
    Ok((if negative { -value } else { value }, start + len))
}

macro_rules! floats {
    ($($type:ident $mantissa_max:literal $powers:expr;)+) => { $(
        impl FromDigits for $type {
            #[inline]
            fn from_digits(negative: bool, digits: u64, exponent: i32) -> Option<$type> {
                const POWERS: &[$type] = &$powers;
                // Both factors are exact, so one rounding gives the nearest float (Clinger 1990).
                let power = POWERS.get(exponent.unsigned_abs() as usize)?;
                let value = match digits {
                    0..=$mantissa_max if exponent < 0 => digits as $type / power,
                    0..=$mantissa_max => digits as $type * power,
                    _ => return None,
                };
                Some(if negative { -value } else { value })
            }
        }

        impl ScanNumber for $type {
            #[inline]
            fn scan(text: &[u8]) -> NumberScan<$type> {
                let parts = match scientific(text) {
                    Ok(parts) => parts,
                    Err(_) => return scan_special(text).map(|(value, len)| (value as $type, len)),
                };
                let value = parts.mantissa.and_then(|digits| {
                    $type::from_digits(parts.negative, digits, parts.exponent)
                });
                match value {
                    Some(value) => Ok((value, parts.len)),
                    None => scan_by_std(&text[..parts.len]),
                }
            }
        }
    )+ };
}

floats! {
    f64 0x20_0000_0000_0000 [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    f32 0x100_0000 [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
}

/// Reads the number with the standard library; digits that overflow to infinity are out of range.
#[cold]
fn scan_by_std<T: std::str::FromStr + Into<f64> + Copy>(text: &[u8]) -> NumberScan<T> {
    let text = std::str::from_utf8(text).map_err(|_| NumberFault::Syntax)?;
    let value: T = text.parse().map_err(|_| NumberFault::Syntax)?;
    if value.into().is_infinite() {
        Err(NumberFault::Range)
    } else {
        Ok((value, text.len()))
    }
}

macro_rules! decimals {
    ($($type:ident)+) => { $(
        impl FromDigits for $type {
            #[inline]
            fn from_digits(negative: bool, digits: u64, exponent: i32) -> Option<$type> {
                Some($type::scaled(negative, digits, exponent))
            }
        }

        impl ScanNumber for $type {
            #[inline]
            fn scan(text: &[u8]) -> NumberScan<$type> {
                let len = match scientific(text) {
                    Ok(ScientificNumber { negative, mantissa: Some(mantissa), exponent, len }) => {
                        return Ok(($type::scaled(negative, mantissa, exponent), len));
                    }
                    Ok(long) => long.len,
                    Err(_) => scan_special(text)?.1,
                };
                let value = $type::from_text(&text[..len]).ok_or(NumberFault::Syntax)?;
                Ok((value, len))
            }
        }
    )+ };
}

decimals!(Decimal32 Decimal64 Decimal128);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integers_and_their_ranges() {
        assert_eq!(i8::scan(b"-128,"), Ok((-128, 4)));
        assert_eq!(i8::scan(b"128"), Err(NumberFault::Range));
        assert_eq!(u8::scan(b"+255x"), Ok((255, 4)));
        assert_eq!(u8::scan(b"256"), Err(NumberFault::Range));
        assert_eq!(u8::scan(b"-1"), Err(NumberFault::Range));
        assert_eq!(i64::scan(b"-9223372036854775808"), Ok((i64::MIN, 20)));
        assert_eq!(i64::scan(b"-9223372036854775809"), Err(NumberFault::Range));
        assert_eq!(u64::scan(b"18446744073709551615"), Ok((u64::MAX, 20)));
        assert_eq!(u64::scan(b"18446744073709551616"), Err(NumberFault::Range));
        for none in [&b""[..], b"-", b"x1", b" 1"] {
            assert_eq!(i32::scan(none), Err(NumberFault::Syntax));
        }
    }

    #[test]
    fn floats_and_their_ends() {
        assert_eq!(f64::scan(b"1.5e3,"), Ok((1500.0, 5)));
        assert_eq!(f64::scan(b"5.}"), Ok((5.0, 2)));
        assert_eq!(f64::scan(b".5"), Ok((0.5, 2)));
        assert_eq!(f64::scan(b"1e"), Ok((1.0, 1)));
        assert_eq!(f64::scan(b"1e+,"), Ok((1.0, 1)));
        assert_eq!(f64::scan(b"-INF"), Ok((f64::NEG_INFINITY, 4)));
        assert!(f64::scan(b"-NaN").unwrap().0.is_sign_negative());
        assert_eq!(f64::scan(b"1e999"), Err(NumberFault::Range));
        assert_eq!(f64::scan(b"1e-999"), Ok((0.0, 6)));
        assert_eq!(f32::scan(b"1e39"), Err(NumberFault::Range));
        assert_eq!(f64::scan(b"0e999"), Ok((0.0, 5)));
        assert_eq!(f64::scan(b"."), Err(NumberFault::Syntax));
        assert_eq!(f64::scan(b"e5"), Err(NumberFault::Syntax));
    }

    #[test]
    fn decimals_keep_their_scale() {
        let (value, len) = Decimal64::scan(b"1.10]").unwrap();
        assert_eq!((value.to_string(), len), ("1.10".into(), 4));
        let (value, len) = Decimal128::scan(b"-1.00000000000000000000000000001e5").unwrap();
        assert_eq!(
            (value.to_string(), len),
            ("-100000.000000000000000000000001".into(), 34)
        );
        assert_eq!(
            Decimal32::scan(b"12345675").unwrap().0.to_string(),
            "1.234568e+07"
        );
        assert_eq!(Decimal32::scan(b"-iNf").unwrap().0.to_string(), "-inf");
    }

    proptest! {
        #[test]
        fn floats_agree_with_the_standard_library(
            text in "[+-]?[0-9]{1,25}(\\.[0-9]{0,25})?(e[+-]?[0-9]{1,2})?",
        ) {
            let expected: f64 = text.parse().unwrap();
            prop_assert_eq!(f64::scan(text.as_bytes()), Ok((expected, text.len())));
            if let Ok((value, _)) = f32::scan(text.as_bytes()) {
                prop_assert_eq!(value, text.parse::<f32>().unwrap());
            }
            let decimal = Decimal64::scan(text.as_bytes()).unwrap().0;
            prop_assert_eq!(decimal.unpack(), text.parse::<Decimal64>().unwrap().unpack());
        }
    }
}
