//! Text to numbers, as the C library's `strtoll`, `strtoull` and `strtod` read it.
//!
//! Blanks before a number are skipped and count as read. What follows the number is left alone.

use eval::{NativeCall, NativeFn};
use tuple::Value;

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::utility;

const PARSE_INT: &str = "Reads an integer at the beginning of the text into `number`. Gives the \
    number of characters read; -1, and `number` unchanged, if there is none or it does not fit.";
const PARSE_FLOAT: &str = "Reads a floating-point number at the beginning of the text into \
    `number`. Gives the number of characters read; -1, and `number` unchanged, if there is none or \
    it is too large.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "int32 parseNumber(mutable int64 number, rstring text, int32 base)",
        "Reads an integer to base 2 to 36, or 0 to go by the prefix `0x` or `0`, at the beginning \
         of the text into `number`. Gives the number of characters read; -1, and `number` \
         unchanged, if there is none, it does not fit or there is no such base.",
        |c| parse_integer(c, c.int32(2)),
    ),
    utility(
        "int32 parseNumber(mutable int64 number, rstring text)",
        PARSE_INT,
        |c| parse_integer(c, 10),
    ),
    utility(
        "int32 parseNumber(mutable int64 number, ustring text)",
        PARSE_INT,
        |c| parse_integer(c, 10),
    ),
    utility(
        "int32 parseNumber(mutable float64 number, rstring text)",
        PARSE_FLOAT,
        parse_float,
    ),
    utility(
        "int32 parseNumber(mutable float64 number, ustring text)",
        PARSE_FLOAT,
        parse_float,
    ),
    utility(
        "uint64 strtoull(rstring value, int32 base)",
        "The integer at the beginning of the text, to base 2 to 36, or 0 to go by the prefix `0x` \
         or `0`. A minus wraps around; too large a number gives the largest; no number gives 0.",
        |c| Ok(Value::Uint64(unsigned(&integer(c.bytes(0), c.int32(1))))),
    ),
    utility(
        "uint64 strtoull(rstring value, int32 base, mutable int32 numCharsProcessed)",
        "As without the third argument, which is set to the number of characters read.",
        |c| {
            let read = integer(c.bytes(0), c.int32(1));
            c.set_int32(2, read.bytes as i32);
            Ok(Value::Uint64(unsigned(&read)))
        },
    ),
    utility(
        "int64 strtoll(rstring value, int32 base)",
        "The integer at the beginning of the text, to base 2 to 36, or 0 to go by the prefix `0x` \
         or `0`. A number that does not fit gives the nearest that does; no number gives 0.",
        |c| Ok(Value::Int64(signed(&integer(c.bytes(0), c.int32(1))))),
    ),
    utility(
        "int64 strtoll(rstring value, int32 base, mutable int32 numCharsProcessed)",
        "As without the third argument, which is set to the number of characters read.",
        |c| {
            let read = integer(c.bytes(0), c.int32(1));
            c.set_int32(2, read.bytes as i32);
            Ok(Value::Int64(signed(&read)))
        },
    ),
    utility(
        "float64 strtod(rstring value)",
        "The floating-point number at the beginning of the text, which may be `inf`, `nan` or \
         hexadecimal; 0 if there is none.",
        |c| Ok(Value::Float64(float(c.bytes(0)).0)),
    ),
    utility(
        "float64 strtod(rstring value, mutable int32 numCharsProcessed)",
        "As without the second argument, which is set to the number of characters read.",
        |c| {
            let (x, bytes) = float(c.bytes(0));
            c.set_int32(1, bytes as i32);
            Ok(Value::Float64(x))
        },
    ),
];

/// An integer that was read.
struct ParsedInteger {
    negative: bool,
    /// `None` if it does not fit 64 bits.
    magnitude: Option<u64>,
    /// Number of bytes read; 0 if they are not a number.
    bytes: usize,
}

fn parse_integer(c: &mut NativeCall<'_>, base: i32) -> NativeResult {
    let read = integer(&c.utf8(1), base);
    let value = read.magnitude.map(|m| {
        if read.negative {
            -i128::from(m)
        } else {
            m.into()
        }
    });
    Ok(Value::Int32(
        match value.and_then(|v| i64::try_from(v).ok()) {
            Some(value) if read.bytes > 0 => {
                c.set_int64(0, value);
                read.bytes as i32
            }
            _ => -1,
        },
    ))
}

fn parse_float(c: &mut NativeCall<'_>) -> NativeResult {
    let text = c.utf8(1);
    let (x, bytes) = float(&text);
    let named = text[..bytes].iter().any(|b| b.eq_ignore_ascii_case(&b'i'));
    Ok(Value::Int32(if bytes == 0 || (x.is_infinite() && !named) {
        -1
    } else {
        c.set_float64(0, x);
        bytes as i32
    }))
}

fn unsigned(read: &ParsedInteger) -> u64 {
    match (read.magnitude, read.negative) {
        (None, _) => u64::MAX,
        (Some(m), true) => m.wrapping_neg(),
        (Some(m), false) => m,
    }
}

fn signed(read: &ParsedInteger) -> i64 {
    let magnitude = read.magnitude.map_or(i128::MAX / 2, i128::from);
    let value = if read.negative { -magnitude } else { magnitude };
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// Blanks and a sign: whether it was a minus, and where the rest begins.
fn sign(text: &[u8]) -> (bool, usize) {
    let blank = |b: &u8| b" \t\n\r\x0B\x0C".contains(b);
    let at = text.iter().position(|b| !blank(b)).unwrap_or(text.len());
    match text.get(at) {
        Some(b'-') => (true, at + 1),
        Some(b'+') => (false, at + 1),
        _ => (false, at),
    }
}

fn integer(text: &[u8], base: i32) -> ParsedInteger {
    let none = ParsedInteger {
        negative: false,
        magnitude: Some(0),
        bytes: 0,
    };
    let (negative, mut at) = sign(text);
    let digit = |at: usize, base: u32| text.get(at).and_then(|&b| char::from(b).to_digit(base));
    let hexadecimal =
        matches!(text.get(at..at + 2), Some([b'0', b'x' | b'X'])) && digit(at + 2, 16).is_some();
    let base = match base {
        0 if hexadecimal => 16,
        0 if text.get(at) == Some(&b'0') => 8,
        0 => 10,
        2..=36 => base as u32,
        _ => return none,
    };
    if base == 16 && hexadecimal {
        at += 2;
    }
    let start = at;
    let mut magnitude = Some(0u64);
    while let Some(digit) = digit(at, base) {
        magnitude = magnitude
            .and_then(|m| m.checked_mul(base.into()))
            .and_then(|m| m.checked_add(digit.into()));
        at += 1;
    }
    if at == start {
        none
    } else {
        ParsedInteger {
            negative,
            magnitude,
            bytes: at,
        }
    }
}

/// A float and how many bytes it took; 0 bytes if there was none.
fn float(text: &[u8]) -> (f64, usize) {
    let (negative, at) = sign(text);
    let rest = &text[at..];
    let (magnitude, bytes) = named(rest)
        .or_else(|| hexadecimal(rest))
        .unwrap_or_else(|| decimal(rest));
    if bytes == 0 {
        return (0.0, 0);
    }
    (if negative { -magnitude } else { magnitude }, at + bytes)
}

fn named(text: &[u8]) -> Option<(f64, usize)> {
    let names: [(&[u8], f64); 3] = [
        (b"infinity", f64::INFINITY),
        (b"inf", f64::INFINITY),
        (b"nan", f64::NAN),
    ];
    let starts = |name: &[u8]| {
        text.get(..name.len())
            .is_some_and(|t| t.eq_ignore_ascii_case(name))
    };
    names
        .iter()
        .find(|(name, _)| starts(name))
        .map(|(name, x)| (*x, name.len()))
}

fn decimal(text: &[u8]) -> (f64, usize) {
    let digits = |from: usize| {
        text[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let whole = digits(0);
    let mut end = whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return (0.0, 0);
    }
    end += exponent(&text[end..], b'e').1;
    let number = str::from_utf8(&text[..end])
        .ok()
        .and_then(|t| t.parse().ok());
    (number.unwrap_or(0.0), end)
}

/// The exponent after its letter, and how many bytes the two took; 0 bytes if there is none.
fn exponent(text: &[u8], letter: u8) -> (i32, usize) {
    let Some((first, rest)) = text.split_first() else {
        return (0, 0);
    };
    let signs = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    let digits = rest[signs..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    if !first.eq_ignore_ascii_case(&letter) || digits == 0 {
        return (0, 0);
    }
    let magnitude = rest[signs..signs + digits].iter().fold(0i32, |n, b| {
        n.saturating_mul(10).saturating_add((b - b'0').into())
    });
    let value = if rest[0] == b'-' {
        -magnitude
    } else {
        magnitude
    };
    (value, 1 + signs + digits)
}

/// Reads a hexadecimal float, as `0x1.8p3`; returns it with the number of bytes it takes.
fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    if !matches!(text, [b'0', b'x' | b'X', ..]) {
        return None;
    }
    let (mut mantissa, mut shift, mut digits) = (0u64, 0i32, 0);
    let mut at = 2;
    let mut point = false;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !point {
            point = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            digits += 1;
            if mantissa >> 58 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                shift -= 4 * i32::from(point);
            } else {
                // Digits beyond a float64's precision; the last bit stands for all of them.
                mantissa |= u64::from(digit != 0);
                shift += 4 * i32::from(!point);
            }
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let (power, bytes) = exponent(&text[at..], b'p');
    let power = power.saturating_add(shift).clamp(-4000, 4000);
    // In two steps, because the power of 2 alone may be out of range.
    let half = power / 2;
    Some((
        mantissa as f64 * 2f64.powi(half) * 2f64.powi(power - half),
        at + bytes,
    ))
}
