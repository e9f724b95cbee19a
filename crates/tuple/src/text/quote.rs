//! Quoted strings, as SPL prints them.
//!
//! Printable characters stay, among them all letters; `\\ \0 \t \r \n \a \b \f \v \"` have names;
//! what else is not printable is `\uxxxx` with lower-case digits, by UTF-16 unit. Bytes that are
//! not UTF-8 are copied.

/// Appends bytes in quotes.
pub fn print_bytes_quoted(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = bytes;
    loop {
        let plain = rest
            .iter()
            .position(|&b| !is_plain(b))
            .unwrap_or(rest.len());
        let (head, tail) = rest.split_at(plain);
        out.extend_from_slice(head);
        let Some(&first) = tail.first() else { break };
        rest = if first < 0x80 {
            print_ascii(first, out);
            &tail[1..]
        } else {
            print_wide(tail, out)
        };
    }
    out.push(b'"');
}

/// Appends UTF-16 in quotes; lone surrogates as `\uxxxx`.
pub fn print_units_quoted(units: &[u16], out: &mut Vec<u8>) {
    out.push(b'"');
    for c in char::decode_utf16(units.iter().copied()) {
        match c {
            Ok(c) => print_char(c, out),
            Err(lone) => print_unit(lone.unpaired_surrogate(), out),
        }
    }
    out.push(b'"');
}

/// Printable ASCII that needs no escape.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// The bytes up to the next ASCII one, which may hold several characters and invalid bytes.
fn print_wide<'a>(bytes: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let end = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
    let (wide, rest) = bytes.split_at(end);
    for chunk in wide.utf8_chunks() {
        chunk.valid().chars().for_each(|c| print_char(c, out));
        out.extend_from_slice(chunk.invalid());
    }
    rest
}

fn print_char(c: char, out: &mut Vec<u8>) {
    match u8::try_from(c) {
        Ok(byte) if is_plain(byte) => out.push(byte),
        Ok(byte) if byte.is_ascii() => print_ascii(byte, out),
        _ if is_printable(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        _ => c
            .encode_utf16(&mut [0; 2])
            .iter()
            .for_each(|&unit| print_unit(unit, out)),
    }
}

/// ASCII that needs an escape.
fn print_ascii(byte: u8, out: &mut Vec<u8>) {
    let name = match byte {
        b'\\' => b'\\',
        b'"' => b'"',
        0 => b'0',
        b'\t' => b't',
        b'\r' => b'r',
        b'\n' => b'n',
        0x07 => b'a',
        0x08 => b'b',
        0x0C => b'f',
        0x0B => b'v',
        other => return print_unit(u16::from(other), out),
    };
    out.extend_from_slice(&[b'\\', name]);
}

fn print_unit(unit: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(b"0123456789abcdef"[usize::from(unit >> shift & 15)]);
    }
}

/// Whether a character beyond ASCII is printable: not a control, format, private or unassigned one.
fn is_printable(c: char) -> bool {
    if c.is_whitespace() {
        return !c.is_control();
    }
    // The standard library knows printable characters only through its escapes. Behind another
    // character a combining mark is not escaped for being first.
    let mut buffer = [b' '; 5];
    let len = c.encode_utf8(&mut buffer[1..]).len();
    let pair = std::str::from_utf8(&buffer[..=len]).unwrap_or("");
    pair.escape_debug().nth(1) == Some(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        print_bytes_quoted(bytes, &mut out);
        out
    }

    #[test]
    fn escapes() {
        let all = b"a\\\0\t\r\n\x07\x08\x0C\x0B\"'\x01\x7F";
        let expected = br#""a\\\0\t\r\n\a\b\f\v\"'\u0001\u007f""#;
        assert_eq!(quoted(all), expected);
    }

    #[test]
    fn printable_text_stays() {
        let text = "grün e\u{301} 日本 😀\u{A0}";
        assert_eq!(quoted(text.as_bytes()), format!("\"{text}\"").as_bytes());
        assert_eq!(quoted("\u{85}\u{E000}".as_bytes()), br#""\u0085\ue000""#);
        assert_eq!(quoted("\u{F0000}".as_bytes()), br#""\udb80\udc00""#);
    }

    #[test]
    fn invalid_bytes_are_copied() {
        assert_eq!(quoted(b"\xFFa\xC3(\xE2\x82"), b"\"\xFFa\xC3(\xE2\x82\"");
    }

    #[test]
    fn lone_surrogates_are_escaped() {
        let mut out = Vec::new();
        print_units_quoted(&[0x61, 0xD800, 0x22, 0xD83D, 0xDE00], &mut out);
        assert_eq!(out, "\"a\\ud800\\\"😀\"".as_bytes());
    }
}
