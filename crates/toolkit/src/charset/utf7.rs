//! UTF-7 (RFC 2152): text in seven bits, with characters outside ASCII as base64 of UTF-16 between
//! `+` and `-`.
//!
//! ```text
//!   Hi Mom +Jjo-!      Hi Mom ☺!        1 +- 1      1 + 1
//! ```
//! Read is all that the RFC allows: any ASCII outside of base64, and base64 that ends with `-`,
//! with another character that is not base64, or with the text. Written is ASCII as it is, but for
//! `+`, `~`, `\` and controls other than blanks and line ends; each piece of text ends outside of
//! base64, so that pieces may follow each other.

/// The digits of base64 in order.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes of UTF-7 to text, piece by piece.
#[derive(Default)]
pub struct Utf7Decoder {
    /// State of the base64 run that is being read.
    base64_run: Option<Base64Run>,
}

/// A run of base64.
#[derive(Default)]
struct Base64Run {
    /// Bits that do not make a unit yet, the last one lowest.
    bits: u32,
    /// Number of these bits, below 16 between digits.
    bit_count: u32,
    /// The first half of a surrogate pair.
    high: Option<u16>,
    /// Whether a digit came.
    has_digits: bool,
}

impl Utf7Decoder {
    /// Appends the text of the next bytes. What is malformed becomes U+FFFD.
    pub fn decode(&mut self, bytes: &[u8], text: &mut Vec<u8>) {
        for &byte in bytes {
            match &mut self.base64_run {
                None if byte == b'+' => self.base64_run = Some(Base64Run::default()),
                None => put_direct(byte, text),
                Some(run) => match DIGITS.iter().position(|digit| *digit == byte) {
                    Some(digit) => run.digit(digit as u32, text),
                    None => self.end_run(byte, text),
                },
            }
        }
    }

    /// Ends the text; appends what an unfinished run still stands for.
    pub fn finish(&mut self, text: &mut Vec<u8>) {
        if let Some(run) = self.base64_run.take() {
            run.end(text);
        }
    }

    /// A character that is not base64 ends the run; `-` is swallowed.
    fn end_run(&mut self, byte: u8, text: &mut Vec<u8>) {
        let Some(run) = self.base64_run.take() else {
            return;
        };
        let is_plus = !run.has_digits && byte == b'-';
        if is_plus {
            text.push(b'+');
            return;
        }
        run.end(text);
        if byte != b'-' {
            put_direct(byte, text);
        }
    }
}

impl Base64Run {
    fn digit(&mut self, digit: u32, text: &mut Vec<u8>) {
        self.has_digits = true;
        self.bits = self.bits << 6 | digit;
        self.bit_count += 6;
        if self.bit_count >= 16 {
            self.bit_count -= 16;
            let unit = (self.bits >> self.bit_count) as u16;
            self.bits &= (1 << self.bit_count) - 1;
            self.unit(unit, text);
        }
    }

    fn unit(&mut self, unit: u16, text: &mut Vec<u8>) {
        if let Some(high) = self.high.take() {
            match char::decode_utf16([high, unit]).next() {
                Some(Ok(pair)) => return put(pair, text),
                // Half of a pair; the unit after it is a character of its own.
                _ => put(char::REPLACEMENT_CHARACTER, text),
            }
        }
        match unit {
            0xD800..0xDC00 => self.high = Some(unit),
            _ => put(
                char::from_u32(unit.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
                text,
            ),
        }
    }

    /// Base64 may end with up to five bits of padding, which are zeros.
    fn end(self, text: &mut Vec<u8>) {
        let is_whole = self.has_digits && self.bit_count < 6 && self.bits == 0;
        if self.high.is_some() || !is_whole {
            put(char::REPLACEMENT_CHARACTER, text);
        }
    }
}

fn put_direct(byte: u8, text: &mut Vec<u8>) {
    match byte.is_ascii() {
        true => text.push(byte),
        false => put(char::REPLACEMENT_CHARACTER, text),
    }
}

fn put(c: char, text: &mut Vec<u8>) {
    text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

/// The bytes of a text.
pub fn encode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let shifted = |c: char| !is_direct(c) && c != '+';
        let end = match shifted(first) {
            true => rest.find(|c| !shifted(c)),
            false => rest.find(shifted),
        };
        let (run, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        if shifted(first) {
            put_shifted(run, &mut bytes);
        } else {
            for byte in run.bytes() {
                bytes.push(byte);
                if byte == b'+' {
                    bytes.push(b'-');
                }
            }
        }
    }
    bytes
}

/// Whether a character stands for itself.
fn is_direct(c: char) -> bool {
    matches!(c, ' '..='}' | '\t' | '\n' | '\r') && c != '+' && c != '\\'
}

/// A run of characters in base64, with the `-` that ends it.
fn put_shifted(run: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'+');
    let (mut bits, mut bit_count) = (0u32, 0);
    for unit in run.encode_utf16() {
        bits = bits << 16 | u32::from(unit);
        bit_count += 16;
        while bit_count >= 6 {
            bit_count -= 6;
            bytes.push(DIGITS[(bits >> bit_count & 63) as usize]);
        }
        bits &= (1 << bit_count) - 1;
    }
    if bit_count > 0 {
        bytes.push(DIGITS[(bits << (6 - bit_count) & 63) as usize]);
    }
    bytes.push(b'-');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8], piece: usize) -> String {
        let (mut decoder, mut text) = (Utf7Decoder::default(), Vec::new());
        for piece in bytes.chunks(piece) {
            decoder.decode(piece, &mut text);
        }
        decoder.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    /// The examples of the RFC among them.
    #[test]
    fn known_texts() {
        let known: &[(&str, &str)] = &[
            ("A≢Α.", "A+ImIDkQ-."),
            ("Hi Mom -☺-!", "Hi Mom -+Jjo--!"),
            ("日本語", "+ZeVnLIqe-"),
            ("1 + 1 = 2", "1 +- 1 = 2"),
            ("+é+", "+-+AOk-+-"),
            ("😀~\\", "+2D3eAAB+AFw-"),
            ("a\0b", "a+AAA-b"),
            ("", ""),
        ];
        for (text, bytes) in known {
            assert_eq!(encode(text), bytes.as_bytes(), "{text}");
            for piece in 1..=bytes.len().max(1) {
                assert_eq!(
                    decoded(bytes.as_bytes(), piece),
                    *text,
                    "{bytes} by {piece}"
                );
            }
        }
    }

    #[test]
    fn base64_ends_in_several_ways() {
        assert_eq!(decoded(b"A+ImIDkQ.", 3), "A≢Α.");
        assert_eq!(decoded(b"+AOk", 1), "é");
        assert_eq!(decoded(b"~\\\x01", 1), "~\\\x01");
    }

    #[test]
    fn what_is_malformed_is_replaced() {
        let wrong: &[(&[u8], &str)] = &[
            (b"a\xE9b", "a\u{FFFD}b"),
            (b"+!", "\u{FFFD}!"),
            (b"+", "\u{FFFD}"),
            (b"+A-", "\u{FFFD}"),
            (b"+AOl-", "é\u{FFFD}"),
            (b"+2D0-x", "\u{FFFD}x"),
            (b"+3gA-x", "\u{FFFD}x"),
            (b"+2D3YPd4A-x", "\u{FFFD}\u{1F600}x"),
        ];
        for (bytes, text) in wrong {
            for piece in 1..=bytes.len() {
                assert_eq!(decoded(bytes, piece), *text, "{}", bytes.escape_ascii());
            }
        }
    }
}
