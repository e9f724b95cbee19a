//! Floats as a C++ stream prints them by default: `%g` with precision 6 (float32) or 15 (float64).
//!
//! # Why this way
//! The shortest digits that read back as the float are found fast. Rounding them to the precision
//! equals rounding the float's exact value, except where the digits dropped are exactly one half,
//! or where the float is subnormal (and its shortest digits are not padded by zeros): those take
//! the exact way. For with fewer digits than the precision a normal float differs from its shortest
//! digits by less than half a unit of the last place printed; and if a tie lay between the float
//! and its shortest digits, that tie would be shorter or nearer.

use std::fmt::Write;

/// Appends a float64, as a C++ stream prints it with precision 15.
pub fn print_f64(x: f64, out: &mut Vec<u8>) {
    if x.trunc() == x && x.abs() < 1e15 && (x != 0.0 || x.is_sign_positive()) {
        // Most floats in data are whole, and those print as integers.
        out.extend_from_slice(itoa::Buffer::new().format(x as i64).as_bytes());
        return;
    }
    if !special(x, out) {
        let mut buffer = ryu::Buffer::new();
        let shortest = FloatDigits::parse(buffer.format_finite(x.abs()).as_bytes());
        let normal = x.abs() >= f64::MIN_POSITIVE;
        shortest
            .rounded(15, normal)
            .unwrap_or_else(|| FloatDigits::exact(x, 15))
            .print(15, out);
    }
}

/// Appends a float32, as a C++ stream prints it with precision 6.
pub fn print_f32(x: f32, out: &mut Vec<u8>) {
    if x.trunc() == x && x.abs() < 1e6 && (x != 0.0 || x.is_sign_positive()) {
        out.extend_from_slice(itoa::Buffer::new().format(x as i32).as_bytes());
        return;
    }
    if !special(f64::from(x), out) {
        let mut buffer = ryu::Buffer::new();
        let shortest = FloatDigits::parse(buffer.format_finite(x.abs()).as_bytes());
        let normal = x.abs() >= f32::MIN_POSITIVE;
        shortest
            .rounded(6, normal)
            .unwrap_or_else(|| FloatDigits::exact(f64::from(x), 6))
            .print(6, out);
    }
}

/// Prints the sign, and the rest of what has no digits; false if digits are still to come.
fn special(x: f64, out: &mut Vec<u8>) -> bool {
    if x.is_sign_negative() {
        out.push(b'-');
    }
    if x.is_nan() {
        out.extend_from_slice(b"nan");
    } else if x.is_infinite() {
        out.extend_from_slice(b"inf");
    } else if x == 0.0 {
        out.push(b'0');
    }
    !x.is_finite() || x == 0.0
}

/// A positive number as ASCII digits with a point after the first, times a power of ten.
struct FloatDigits {
    digits: [u8; 24],
    len: usize,
    exponent: i32,
}

impl FloatDigits {
    /// Digits of a number such as `12.5`, `0.001` or `1.5e-7`.
    fn parse(text: &[u8]) -> FloatDigits {
        let mut number = FloatDigits {
            digits: [b'0'; 24],
            len: 0,
            exponent: -1,
        };
        let mut point = false;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b'.' => point = true,
                b'e' => {
                    number.exponent += exponent(&text[at + 1..]);
                    break;
                }
                b'0' if number.len == 0 => number.exponent -= i32::from(point),
                digit => {
                    number.digits[number.len] = digit;
                    number.len += 1;
                    number.exponent += i32::from(!point);
                }
            }
        }
        number.trim();
        number
    }

    /// Digits by the formatter, which rounds the exact value half to even.
    fn exact(x: f64, precision: usize) -> FloatDigits {
        let mut text = FormatBuffer {
            bytes: [0; 32],
            len: 0,
        };
        let fits = write!(text, "{:.*e}", precision - 1, x.abs());
        debug_assert!(
            fits.is_ok(),
            "17 digits, a point and an exponent fit 32 bytes"
        );
        FloatDigits::parse(&text.bytes[..text.len])
    }

    /// Rounded to a precision; `None` if shortest digits do not tell how.
    fn rounded(mut self, precision: usize, normal: bool) -> Option<FloatDigits> {
        if !normal {
            return None;
        }
        if self.len <= precision {
            return Some(self);
        }
        let dropped = &self.digits[precision..self.len];
        if dropped == b"5" {
            return None;
        }
        let up = dropped[0] >= b'5';
        self.len = precision;
        if up {
            self.increment();
        }
        self.trim();
        Some(self)
    }

    fn increment(&mut self) {
        for at in (0..self.len).rev() {
            if self.digits[at] < b'9' {
                self.digits[at] += 1;
                return;
            }
            self.digits[at] = b'0';
        }
        self.digits[0] = b'1';
        self.exponent += 1;
    }

    fn trim(&mut self) {
        while self.len > 1 && self.digits[self.len - 1] == b'0' {
            self.len -= 1;
        }
    }

    fn print(&self, precision: i32, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.len];
        if self.exponent < -4 || self.exponent >= precision {
            return self.print_scientific(out);
        }
        if self.exponent < 0 {
            out.extend_from_slice(b"0.");
            out.resize(out.len() + (-1 - self.exponent) as usize, b'0');
            return out.extend_from_slice(digits);
        }
        let whole = self.exponent as usize + 1;
        if whole >= digits.len() {
            out.extend_from_slice(digits);
            out.resize(out.len() + whole - digits.len(), b'0');
        } else {
            out.extend_from_slice(&digits[..whole]);
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }

    fn print_scientific(&self, out: &mut Vec<u8>) {
        out.push(self.digits[0]);
        if self.len > 1 {
            out.push(b'.');
            out.extend_from_slice(&self.digits[1..self.len]);
        }
        out.extend_from_slice(if self.exponent < 0 { b"e-" } else { b"e+" });
        let exponent = self.exponent.unsigned_abs();
        if exponent < 10 {
            out.push(b'0');
        }
        out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
    }
}

fn exponent(text: &[u8]) -> i32 {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        digits => (1, digits),
    };
    sign * digits
        .iter()
        .fold(0, |sum, digit| sum * 10 + i32::from(digit - b'0'))
}

/// A formatter's target on the stack.
struct FormatBuffer {
    bytes: [u8; 32],
    len: usize,
}

impl Write for FormatBuffer {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        let place = self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(x: f64) -> String {
        let mut out = Vec::new();
        print_f64(x, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn text32(x: f32) -> String {
        let mut out = Vec::new();
        print_f32(x, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// `%g` by its definition, from the formatter's exact digits.
    fn reference(x: f64, precision: usize) -> String {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        if !x.is_finite() {
            return format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" });
        }
        let scientific = format!("{:.*e}", precision - 1, x.abs());
        let (mantissa, exponent) = scientific.split_once('e').unwrap();
        let exponent: i32 = exponent.parse().unwrap();
        let strip = |text: &str| match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
            false => text.to_string(),
        };
        if exponent < -4 || exponent >= precision as i32 {
            let sign_of = if exponent < 0 { '-' } else { '+' };
            return format!("{sign}{}e{sign_of}{:02}", strip(mantissa), exponent.abs());
        }
        let decimals = (precision as i32 - 1 - exponent) as usize;
        format!("{sign}{}", strip(&format!("{:.*}", decimals, x.abs())))
    }

    #[test]
    fn known_values() {
        for (x, expected) in [
            (3.0, "3"),
            (0.1, "0.1"),
            (1e20, "1e+20"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (1e15, "1e+15"),
            (999999999999999.0, "999999999999999"),
            (123456789012345680.0, "1.23456789012346e+17"),
            (1.0 / 3.0, "0.333333333333333"),
            (-0.0, "-0"),
            (0.0, "0"),
            (5e-324, "4.94065645841247e-324"),
            (f64::MAX, "1.79769313486232e+308"),
            (0.30000000000000004, "0.3"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(text(x), expected);
        }
        assert_eq!(text(f64::NAN.copysign(1.0)), "nan");
        assert_eq!(text(f64::NAN.copysign(-1.0)), "-nan");
        assert_eq!(text32(1e6), "1e+06");
        assert_eq!(text32(999999.0), "999999");
        assert_eq!(text32(0.1), "0.1");
        assert_eq!(text32(1.0 / 3.0), "0.333333");
        assert_eq!(text32(16777216.0), "1.67772e+07");
        assert_eq!(text32(1e-45), "1.4013e-45");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn float64_is_percent_g(bits: u64, places in 0..20i32, whole in -1e17..1e17f64) {
            let short = whole.trunc() / 10f64.powi(places);
            for x in [f64::from_bits(bits), short, f64::from_bits(bits & 0xFFFF_FFFF)] {
                prop_assert_eq!(text(x), reference(x, 15));
            }
        }

        #[test]
        fn float32_is_percent_g(bits: u32, places in 0..9i32, whole in -1e9..1e9f32) {
            let short = whole.trunc() / 10f32.powi(places);
            for x in [f32::from_bits(bits), short, f32::from_bits(bits & 0xFFFF)] {
                prop_assert_eq!(text32(x), reference(f64::from(x), 6));
            }
        }
    }
}
