//! Numbers of the command line: decimal, or hexadecimal with `0x`.

use std::ops::RangeInclusive;

/// Parses a number within a range.
///
/// # Errors
/// The text is no such number; the error says what would be right.
pub fn parse_number(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hexadecimal.map_or((text, 10), |digits| (digits, 16));
    // Signs, which `from_str_radix` takes, are refused.
    let is_plain = digits.starts_with(|first: char| first.is_ascii_hexdigit());
    let number = u64::from_str_radix(digits, radix).ok().filter(|_| is_plain);
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| {
            let (from, to) = range.into_inner();
            format!("must be a whole number from {from} to {to}, decimal or as in 0x1f")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_hexadecimal() {
        let known = [
            ("0", 0),
            ("25", 25),
            ("007", 7),
            ("0x0", 0),
            ("0x3", 3),
            ("0XfF", 255),
        ];
        for (text, is) in known {
            assert_eq!(parse_number(text, 0..=1000), Ok(is), "{text}");
        }
        let wrong = [
            "", "-1", "+1", "1.5", "1k", "0x", "x1", "0x-1", "ten", " 1", "1001", "0xfff",
        ];
        for text in wrong {
            assert!(parse_number(text, 0..=1000).is_err(), "{text}");
        }
        let most = "18446744073709551616";
        assert!(parse_number(most, 0..=u64::MAX).is_err());
    }
}
