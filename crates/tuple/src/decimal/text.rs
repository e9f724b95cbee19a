//! Decimals as SPL prints and reads them.

use std::fmt;
use std::str::FromStr;

use super::codec::{self, DecimalFormat, UnpackedDecimal, count_digits};
use super::{Decimal32, Decimal64, Decimal128};

/// A text that is not a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseDecimalError;

impl fmt::Display for ParseDecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the text is not a decimal number")
    }
}

impl std::error::Error for ParseDecimalError {}

/// Appends a decimal's text. The scale shows (`1.10`); scientific where the exponent of the first
/// digit is at most -4 or at least the precision, then with two exponent digits or more. A zero has
/// one digit in front of the point, as any number does.
fn print(value: UnpackedDecimal, format: DecimalFormat, out: &mut Vec<u8>) {
    let (negative, coefficient, exponent) = match value {
        UnpackedDecimal::Nan { negative } => return special(negative, b"nan", out),
        UnpackedDecimal::Infinite { negative } => return special(negative, b"inf", out),
        UnpackedDecimal::Finite {
            negative,
            coefficient,
            exponent,
        } => (negative, coefficient, exponent),
    };
    if negative {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(coefficient).as_bytes();
    let leading = exponent + count_digits(coefficient) as i32 - 1;
    if leading <= -4 || leading >= format.digits as i32 {
        scientific(digits, leading, out);
    } else if exponent >= 0 {
        out.extend_from_slice(digits);
        let zeros = if coefficient == 0 { 0 } else { exponent };
        out.resize(out.len() + zeros as usize, b'0');
    } else if leading >= 0 {
        let (whole, fraction) = digits.split_at(leading as usize + 1);
        out.extend_from_slice(whole);
        out.push(b'.');
        out.extend_from_slice(fraction);
    } else {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-1 - leading) as usize, b'0');
        out.extend_from_slice(digits);
    }
}

fn special(negative: bool, name: &[u8], out: &mut Vec<u8>) {
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(name);
}

fn scientific(digits: &[u8], leading: i32, out: &mut Vec<u8>) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.extend_from_slice(if leading < 0 { b"e-" } else { b"e+" });
    if leading.unsigned_abs() < 10 {
        out.push(b'0');
    }
    out.extend_from_slice(
        itoa::Buffer::new()
            .format(leading.unsigned_abs())
            .as_bytes(),
    );
}

/// Reads a whole text: `[+-] digits [. digits] [e [+-] digits]`, with a digit somewhere before the
/// exponent, or `nan` or `inf` in any case.
fn read(text: &[u8]) -> Option<UnpackedDecimal> {
    let (negative, rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if rest.eq_ignore_ascii_case(b"nan") {
        return Some(UnpackedDecimal::Nan { negative });
    }
    if rest.eq_ignore_ascii_case(b"inf") || rest.eq_ignore_ascii_case(b"infinity") {
        return Some(UnpackedDecimal::Infinite { negative });
    }
    let end = rest
        .iter()
        .position(|b| matches!(b, b'e' | b'E'))
        .unwrap_or(rest.len());
    let (coefficient, shift) = read_coefficient(&rest[..end])?;
    let exponent = match rest.get(end + 1..) {
        Some(exponent) => read_exponent(exponent)?,
        None => 0,
    };
    Some(UnpackedDecimal::Finite {
        negative,
        coefficient,
        exponent: exponent.saturating_add(shift),
    })
}

/// The digits as one number, and what their point adds to the exponent.
fn read_coefficient(text: &[u8]) -> Option<(u128, i32)> {
    let mut coefficient = 0u128;
    let (mut shift, mut digits, mut point) = (0i32, 0usize, false);
    for &byte in text {
        match byte {
            b'.' if !point => point = true,
            b'0'..=b'9' => {
                digits += 1;
                // 36 digits are enough to round any width; the rest only moves the exponent.
                if coefficient < codec::POWERS[35] {
                    coefficient = coefficient * 10 + u128::from(byte - b'0');
                    shift = shift.saturating_sub(i32::from(point));
                } else {
                    shift = shift.saturating_add(i32::from(!point));
                }
            }
            _ => return None,
        }
    }
    (digits > 0).then_some((coefficient, shift))
}

/// Reads an exponent. One beyond the range of every width is cut to the end of the range.
fn read_exponent(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = digits.iter().fold(0i32, |sum, digit| {
        sum.saturating_mul(10)
            .saturating_add(i32::from(digit - b'0'))
    });
    let magnitude = magnitude.min(1_000_000_000);
    Some(if negative { -magnitude } else { magnitude })
}

macro_rules! text {
    ($($type:ident $format:ident)+) => { $(
        impl $type {
            /// Appends the text that SPL prints.
            pub fn print(self, out: &mut Vec<u8>) {
                print(self.unpack(), codec::$format, out);
            }

            /// coefficient * 10^exponent, rounded half up.
            #[inline]
            pub fn scaled(negative: bool, coefficient: u64, exponent: i32) -> $type {
                let coefficient = u128::from(coefficient);
                $type::pack(UnpackedDecimal::Finite { negative, coefficient, exponent })
            }

            /// Reads a whole text; digits beyond the precision are rounded half up.
            pub fn from_text(text: &[u8]) -> Option<$type> {
                read(text).map($type::pack)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut text = Vec::with_capacity(48);
                self.print(&mut text);
                f.pad(&String::from_utf8_lossy(&text))
            }
        }

        impl FromStr for $type {
            type Err = ParseDecimalError;
            fn from_str(text: &str) -> Result<$type, ParseDecimalError> {
                $type::from_text(text.as_bytes()).ok_or(ParseDecimalError)
            }
        }
    )+ };
}

text!(Decimal32 DECIMAL32 Decimal64 DECIMAL64 Decimal128 DECIMAL128);
