//! Numbers: `10`, `0x1F`, `1.5e3`, `.5`, with suffix letters for kind and width.
//!
//! Only the form is checked here. Whether a kind and a width go together and whether the value
//! fits is said by the compiler, which knows the types.

use super::tokens::Lexer;
use crate::{Diagnostic, Span, SyntaxKind};

impl<'t> Lexer<'t> {
    pub(super) fn number(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        let text = self.cursor.rest();
        if self.cursor.eat_str("0x") || self.cursor.eat_str("0X") {
            self.hex(start, text);
        } else {
            self.decimal(start, text);
        }
        SyntaxKind::Number
    }

    fn hex(&mut self, start: u32, text: &str) {
        let digits = self.cursor.eat_while(|b| b.is_ascii_hexdigit());
        let suffix = self.suffix();
        let span = Span::new(self.file, start, self.cursor.offset());
        if text.starts_with("0X") {
            self.invalid(
                span,
                "a hexadecimal number begins with `0x`, in lower case",
                None,
            );
        } else if digits == 0 {
            let help = "write digits after `0x`, as in `0x1F`";
            self.invalid(
                span,
                "a hexadecimal number needs at least one digit",
                Some(help),
            );
        } else if !matches!(suffix, "" | "s" | "u") {
            let message = format!("`{suffix}` cannot end a hexadecimal number");
            let help = "only `s` (signed) or `u` (unsigned) may follow; the count of digits gives the width";
            self.invalid(span, message, Some(help));
        }
    }

    fn decimal(&mut self, start: u32, text: &str) {
        let whole = self.cursor.eat_while(|b| b.is_ascii_digit());
        if self.cursor.first() == b'.' {
            self.cursor.advance(1);
            self.cursor.eat_while(|b| b.is_ascii_digit());
        }
        self.exponent();
        let suffix = self.suffix();
        let span = Span::new(self.file, start, self.cursor.offset());
        if whole > 1 && text.starts_with('0') {
            let digits = text[..whole].trim_start_matches('0');
            let rest = &text[whole..(self.cursor.offset() - start) as usize];
            let shown = if digits.is_empty() { "0" } else { digits };
            let help = format!("write `{shown}{rest}`; SPL has no octal numbers");
            self.invalid(span, "a number cannot begin with `0`", Some(&help));
        } else if decode_suffix(suffix).is_none() {
            let message = format!("`{suffix}` is no suffix of a number");
            let digits = &text[..(self.cursor.offset() - start) as usize - suffix.len()];
            self.invalid(span, message, Some(&suffix_help(digits, suffix)));
        }
    }

    /// An exponent, if it has digits; else its letter is left to be a bad suffix.
    fn exponent(&mut self) {
        let rest = self.cursor.rest().as_bytes();
        let sign = matches!(rest.get(1), Some(b'+' | b'-')) as usize;
        let is_exponent = matches!(rest.first(), Some(b'e' | b'E'))
            && rest.get(1 + sign).is_some_and(u8::is_ascii_digit);
        if is_exponent {
            self.cursor.advance(1 + sign);
            self.cursor.eat_while(|b| b.is_ascii_digit());
        }
    }

    fn suffix(&mut self) -> &'t str {
        let rest = self.cursor.rest();
        let len = self
            .cursor
            .eat_while(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
        &rest[..len]
    }

    fn invalid(&mut self, span: Span, message: impl Into<String>, help: Option<&str>) {
        let diagnostic = Diagnostic::error("invalid-number", span, message);
        self.diagnostics.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }
}

/// Advice for a suffix that is none: how the number is written.
fn suffix_help(digits: &str, suffix: &str) -> String {
    let lower = suffix.to_ascii_lowercase().replace("ll", "l");
    let binary = suffix.strip_prefix(['b', 'B']).filter(|_| digits == "0");
    let value = binary.and_then(|digits| u64::from_str_radix(digits, 2).ok());
    if suffix.contains('_') {
        "the digits of a number stand without `_`".to_owned()
    } else if let Some(value) = value {
        format!("write `{value}`; SPL has no binary numbers")
    } else if suffix.starts_with(['e', 'E']) {
        "an exponent needs digits, as in `1e10`".to_owned()
    } else if decode_suffix(&lower).is_some() {
        format!("write `{digits}{lower}`")
    } else {
        "a suffix is a kind (`s`, `u`, `f`, `d`), a width (`b`, `h`, `w`, `l`, `q`), or both"
            .to_owned()
    }
}

/// The parts of a number token.
pub(crate) struct NumberParts<'t> {
    /// Digits without `0x` and suffix.
    pub(crate) digits: &'t str,
    pub(crate) is_hex: bool,
    /// Whether the number has a point or an exponent.
    pub(crate) is_float: bool,
    /// The letters at the end.
    pub(crate) suffix: &'t str,
}

/// Takes a number token apart.
pub(crate) fn split_number(text: &str) -> NumberParts<'_> {
    let (is_hex, rest) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let bytes = rest.as_bytes();
    let run = |from: usize, accept: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|b| accept(b)).count()
    };
    if is_hex {
        let (digits, suffix) = rest.split_at(run(0, u8::is_ascii_hexdigit));
        return NumberParts {
            digits,
            is_hex,
            is_float: false,
            suffix,
        };
    }
    let whole = run(0, u8::is_ascii_digit);
    let mut end = whole;
    if bytes.get(end) == Some(&b'.') {
        end = run(end + 1, u8::is_ascii_digit);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = matches!(bytes.get(end + 1), Some(b'+' | b'-')) as usize;
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = run(end + 1 + sign, u8::is_ascii_digit);
        }
    }
    let (digits, suffix) = rest.split_at(end);
    NumberParts {
        digits,
        is_hex,
        is_float: end > whole,
        suffix,
    }
}

/// The kind and the width that suffix letters say, in either order; `None` if it is no suffix.
pub(crate) fn decode_suffix(suffix: &str) -> Option<(Option<char>, Option<char>)> {
    let mut kind = None;
    let mut width = None;
    for letter in suffix.chars() {
        let place = match letter {
            's' | 'u' | 'f' | 'd' => &mut kind,
            'b' | 'h' | 'w' | 'l' | 'q' => &mut width,
            _ => return None,
        };
        if place.replace(letter).is_some() {
            return None;
        }
    }
    Some((kind, width))
}

#[cfg(test)]
mod tests {
    use super::decode_suffix;

    #[test]
    fn suffix_letters_come_in_either_order_and_once() {
        assert_eq!(decode_suffix(""), Some((None, None)));
        assert_eq!(decode_suffix("ul"), Some((Some('u'), Some('l'))));
        assert_eq!(decode_suffix("lu"), Some((Some('u'), Some('l'))));
        assert_eq!(decode_suffix("w"), Some((None, Some('w'))));
        assert_eq!(decode_suffix("uu"), None);
        assert_eq!(decode_suffix("us"), None);
        assert_eq!(decode_suffix("k"), None);
    }
}
