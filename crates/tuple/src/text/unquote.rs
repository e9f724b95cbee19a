//! Quoted strings back to their content.
//!
//! Escapes are `\" \\ \? \' \a \b \f \n \r \t \v \0 \uXXXX`; any other character behind a backslash
//! stands for itself.

/// Appends the content of a string literal, given without its quotes. `\uXXXX` becomes UTF-8: two
/// halves of a pair one character, a lone half its three bytes.
pub fn unquote_bytes(literal: &[u8], out: &mut Vec<u8>) {
    unquote_pieces(literal, |piece| out.extend_from_slice(piece));
}

/// Appends the content of a string literal as UTF-16; `\uXXXX` becomes that unit. What is not UTF-8
/// becomes U+FFFD.
pub fn unquote_units(literal: &[u8], out: &mut Vec<u16>) {
    unquote_each_unit(literal, |unit| out.push(unit));
}

/// Hands out the content of a string literal piece by piece, as [`unquote_bytes`] appends it.
pub(super) fn unquote_pieces(literal: &[u8], mut sink: impl FnMut(&[u8])) {
    let mut rest = literal;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        sink(&rest[..at]);
        let (piece, behind) = escape(&rest[at + 1..]);
        rest = behind;
        match piece {
            EscapeContent::Byte(byte) => sink(&[byte]),
            EscapeContent::Unit(unit) => match pair(unit, behind) {
                Some((c, behind)) => {
                    sink(c.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = behind;
                }
                None => sink_unit(unit, &mut sink),
            },
        }
    }
    sink(rest);
}

/// Hands out the content of a string literal by UTF-16 unit, as [`unquote_units`] appends it.
pub(super) fn unquote_each_unit(literal: &[u8], mut sink: impl FnMut(u16)) {
    let mut rest = literal;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        each_unit(&rest[..at], &mut sink);
        let (piece, behind) = escape(&rest[at + 1..]);
        rest = behind;
        match piece {
            EscapeContent::Unit(unit) => sink(unit),
            EscapeContent::Byte(byte) if byte.is_ascii() => sink(u16::from(byte)),
            // The first byte of a longer character, which stands for itself.
            EscapeContent::Byte(_) => {
                let start = literal.len() - rest.len() - 1;
                let end = next_backslash(literal, start + 1);
                each_unit(&literal[start..end], &mut sink);
                rest = &literal[end..];
            }
        }
    }
    each_unit(rest, &mut sink);
}

/// Hands out bytes as UTF-16 units; what is not UTF-8 becomes U+FFFD.
pub(super) fn each_unit(bytes: &[u8], mut sink: impl FnMut(u16)) {
    for chunk in bytes.utf8_chunks() {
        chunk.valid().encode_utf16().for_each(&mut sink);
        if !chunk.invalid().is_empty() {
            sink(char::REPLACEMENT_CHARACTER as u16);
        }
    }
}

enum EscapeContent {
    Byte(u8),
    Unit(u16),
}

/// Meaning of the characters behind a backslash, and the text behind them.
fn escape(text: &[u8]) -> (EscapeContent, &[u8]) {
    let Some((&first, behind)) = text.split_first() else {
        return (EscapeContent::Byte(b'\\'), text);
    };
    let byte = match first {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        b'0' => 0,
        b'u' => match hex_unit(behind) {
            Some((unit, behind)) => return (EscapeContent::Unit(unit), behind),
            None => b'u',
        },
        other => other,
    };
    (EscapeContent::Byte(byte), behind)
}

fn hex_unit(text: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, behind) = text.split_at_checked(4)?;
    let unit = digits.iter().try_fold(0u16, |unit, &digit| {
        Some(unit << 4 | char::from(digit).to_digit(16)? as u16)
    })?;
    Some((unit, behind))
}

/// The character of which a unit is the first half and the escape that follows the second.
fn pair(high: u16, behind: &[u8]) -> Option<(char, &[u8])> {
    let (low, rest) = hex_unit(behind.strip_prefix(b"\\u")?)?;
    let c = char::decode_utf16([high, low]).next()?.ok()?;
    (u32::from(c) > 0xFFFF).then_some((c, rest))
}

/// Hands out one UTF-16 unit as UTF-8 would be, even half a pair.
fn sink_unit(unit: u16, sink: &mut impl FnMut(&[u8])) {
    match char::from_u32(u32::from(unit)) {
        Some(c) => sink(c.encode_utf8(&mut [0; 4]).as_bytes()),
        None => sink(&[
            0xE0 | (unit >> 12) as u8,
            0x80 | (unit >> 6 & 0x3F) as u8,
            0x80 | (unit & 0x3F) as u8,
        ]),
    }
}

fn next_backslash(literal: &[u8], from: usize) -> usize {
    memchr::memchr(b'\\', &literal[from..]).map_or(literal.len(), |at| from + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(literal: &str) -> Vec<u8> {
        let mut out = Vec::new();
        unquote_bytes(literal.as_bytes(), &mut out);
        out
    }

    fn units(literal: &str) -> Vec<u16> {
        let mut out = Vec::new();
        unquote_units(literal.as_bytes(), &mut out);
        out
    }

    #[test]
    fn escapes() {
        let literal = r#"\"\\\?\'\a\b\f\n\r\t\v\0\u0041\q\é\"#;
        let expected = "\"\\?'\x07\x08\x0C\n\r\t\x0B\0Aqé\\";
        assert_eq!(bytes(literal), expected.as_bytes());
        assert_eq!(
            units(literal),
            expected.encode_utf16().collect::<Vec<u16>>()
        );
        assert_eq!(bytes(r"\u12"), b"u12");
    }

    #[test]
    fn pairs_and_lone_halves() {
        assert_eq!(bytes(r"\uD83D\uDE00!"), "😀!".as_bytes());
        assert_eq!(bytes(r"\uD800\u0041"), b"\xED\xA0\x80A");
        assert_eq!(units(r"\uD83D\uDE00"), [0xD83D, 0xDE00]);
        assert_eq!(units(r"é\uDE00é"), [0xE9, 0xDE00, 0xE9]);
    }
}
