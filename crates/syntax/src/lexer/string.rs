//! String literals: finding where they end, and what their escapes stand for.
//!
//! A string may span lines, so a forgotten quote would swallow the text up to the next string and
//! turn everything after it inside out. A string of several lines whose closing quote touches a
//! letter, another quote or a backslash is never right; it and one that never closes are cut at the
//! end of their first line.
//!
//! A raw string, `r"\d+"`, has no escapes: it ends at the next quote of its kind, on its line. A
//! pattern with `\"` in it does not go on there; where what follows cannot be an expression's, that
//! is said.

use std::sync::Arc;

use super::closing_quote::ClosingQuoteSearch;
use super::tokens::Lexer;
use crate::ast::{ExprKind, StringKind};
use crate::step_count::count_steps;
use crate::{Diagnostic, Span, SyntaxKind};

impl Lexer<'_> {
    pub(super) fn string(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        let rest = self.cursor.rest();
        let close = self.closing_quote(start as usize, rest);
        match length_closed_at(rest.as_bytes(), close) {
            Some(len) => self.cursor.advance(len),
            None => {
                let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
                let len = rest[..line].trim_end().len();
                self.cursor.advance(len.max(1));
                self.is_broken = true;
                let quote = &rest[..1];
                let span = Span::new(self.file, start, self.cursor.offset());
                self.diagnostics.push(
                    Diagnostic::error("unterminated-string", span, "this string has no end")
                        .help(format!("close it with `{quote}`")),
                );
            }
        }
        let text = &rest[..(self.cursor.offset() - start) as usize];
        self.check_escapes(start, text);
        self.check_encoding(start, text);
        SyntaxKind::StringToken
    }

    pub(super) fn raw_string(&mut self) -> SyntaxKind {
        let start = self.cursor.offset();
        let rest = self.cursor.rest();
        match raw_length(rest) {
            Some(len) if goes_on(&rest[..len], &rest[len..]) => {
                let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
                let quote = &rest[1..2];
                let close = rest[..line].rfind(quote).unwrap_or(len - 1);
                self.cursor.advance(close + 1);
                self.is_broken = true;
                let end = start + len as u32;
                let span = Span::new(self.file, end - 2, end);
                let message = "a raw string ends at its next quote, also behind a backslash";
                let other = if quote == "\"" { '\'' } else { '"' };
                self.diagnostics
                    .push(Diagnostic::error("raw-string-goes-on", span, message).help(
                    format!(
                        "write it as `r{other}...{other}`, or `\\x{:x}` for the quote in a pattern",
                        quote.as_bytes()[0]
                    ),
                ));
            }
            Some(len) => self.cursor.advance(len),
            None => {
                let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
                self.cursor.advance(rest[..line].trim_end().len().max(2));
                self.is_broken = true;
                let quote = &rest[1..2];
                let span = Span::new(self.file, start, self.cursor.offset());
                self.diagnostics.push(
                    Diagnostic::error("unterminated-string", span, "this string has no end")
                        .help(format!("close it with `{quote}`, on the same line")),
                );
            }
        }
        let text = &rest[..(self.cursor.offset() - start) as usize];
        self.check_encoding(start, text);
        SyntaxKind::StringToken
    }

    /// Reports a replacement character: bytes that are not UTF-8 were read as one, and the string
    /// would have other bytes than the file.
    fn check_encoding(&mut self, start: u32, text: &str) {
        if let Some(at) = text.find(char::REPLACEMENT_CHARACTER) {
            let at = start + at as u32;
            let end = at + char::REPLACEMENT_CHARACTER.len_utf8() as u32;
            let message = "these bytes are not UTF-8, or the character U+FFFD";
            self.diagnostics.push(
                Diagnostic::error("wrong-encoding", Span::new(self.file, at, end), message).help(
                    "convert the file, for example with `iconv -f ISO-8859-1 -t UTF-8`; write \
                     `\\ufffd` if that character is meant",
                ),
            );
        }
    }

    /// Where the quote would stand that closes the string here. A string that is cut at the end of
    /// its line was searched beyond it: a quote that stands there was passed over as an escaped
    /// one, and a search that begins behind it finds the same.
    fn closing_quote(&mut self, start: usize, rest: &str) -> usize {
        let last = &mut self.closings[usize::from(rest.starts_with('"'))];
        match last {
            Some(last) if last.start <= start && start < last.end => last.end - start,
            _ => {
                let close = quote_end(rest.as_bytes());
                let found = start + close;
                *last = Some(ClosingQuoteSearch { start, end: found });
                close
            }
        }
    }

    fn check_escapes(&mut self, start: u32, text: &str) {
        let mut at = 0;
        while let Some(found) = text[at..].find('\\') {
            let escape = at + found;
            let Some(letter) = text[escape + 1..].chars().next() else {
                return;
            };
            let begin = start + escape as u32;
            at = escape + 1 + letter.len_utf8();
            let span = Span::new(self.file, begin, begin + 1 + letter.len_utf8() as u32);
            if letter == 'u' {
                if hex_unit(&text[at..]).is_none() {
                    self.diagnostics.push(
                        Diagnostic::error(
                            "invalid-escape",
                            span,
                            "`\\u` needs four hexadecimal digits",
                        )
                        .help("write the code as four digits, as in `\\u00e9`"),
                    );
                }
            } else if simple_escape(letter).is_none() {
                self.diagnostics.push(unknown_escape(letter, span));
            }
        }
    }
}

fn unknown_escape(letter: char, span: Span) -> Diagnostic {
    if matches!(letter, '\n' | '\r') {
        let message = "a backslash before the end of a line is no escape; the line end stays";
        return Diagnostic::warning("unknown-escape", span, message)
            .help("write `\\\\` for a backslash; a string goes on in the next line without one");
    }
    let message = format!("`\\{letter}` is no escape; it stands for `{letter}`");
    Diagnostic::warning("unknown-escape", span, message).help(format!(
        "write `\\\\{letter}` for a backslash and `{letter}`"
    ))
}

/// The length of a string with quotes and suffix; `None` if it does not close.
fn closed_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    length_closed_at(bytes, quote_end(bytes))
}

/// Offset at which the quote that begins a text is repeated; the text's length or more if it is
/// not.
fn quote_end(bytes: &[u8]) -> usize {
    let quote = bytes[0];
    let mut at = 1;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(&byte) if byte != quote => at += 1,
            _ => {
                count_steps(at);
                return at;
            }
        }
    }
}

/// Like [`closed_length`], of a string whose closing quote would stand at `end`.
fn length_closed_at(bytes: &[u8], close: usize) -> Option<usize> {
    bytes.get(close)?;
    let mut at = close + 1;
    if matches!(bytes.get(at), Some(b'r' | b'u' | b'x')) && !is_word(bytes.get(at + 1)) {
        at += 1;
    }
    let touches = is_word(bytes.get(at)) || matches!(bytes.get(at), Some(b'"' | b'\'' | b'\\'));
    let spans_lines = || bytes[..close].contains(&b'\n');
    (!(touches && spans_lines())).then_some(at)
}

/// The length of a raw string with its `r`, quotes and suffix; `None` if it does not close on its
/// line.
fn raw_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| *byte == bytes[1] || matches!(byte, b'\n' | b'\r');
    let close = 2 + bytes[2..].iter().position(ends)?;
    if bytes[close] != bytes[1] {
        return None;
    }
    let has_suffix =
        matches!(bytes.get(close + 1), Some(b'r' | b'u' | b'x')) && !is_word(bytes.get(close + 2));
    Some(close + 1 + usize::from(has_suffix))
}

/// Whether a raw string that ends with a backslash was meant to go on: another quote follows on the
/// line, and before it something that stands behind no string.
fn goes_on(string: &str, rest: &str) -> bool {
    let quote = &string[1..2];
    if !string[..string.len() - 1].ends_with('\\') || !string.ends_with(quote) {
        return false;
    }
    let line = rest.split(['\n', '\r']).next().unwrap_or_default();
    let (touching, next) = (line.bytes().next(), line.trim_start().bytes().next());
    let is_odd = is_word(touching.as_ref())
        || matches!(touching, Some(b'[' | b'{' | b'"' | b'\''))
        || matches!(next, Some(b'(' | b'\\' | b'^' | b'$'));
    is_odd && line.contains(quote)
}

fn is_word(byte: Option<&u8>) -> bool {
    byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_')
}

fn simple_escape(letter: char) -> Option<char> {
    Some(match letter {
        '"' | '\\' | '?' | '\'' => letter,
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{C}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{B}',
        '0' => '\0',
        _ => return None,
    })
}

fn hex_unit(text: &str) -> Option<u16> {
    let digits = text.get(..4)?;
    let all_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    all_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

/// Decodes a string token: its kind, and its text with the escapes interpreted.
pub(crate) fn decode_string(token: &str) -> ExprKind {
    if let Some(raw) = token.strip_prefix('r') {
        return decode_raw(raw);
    }
    let kind = match has_closing_quote(token) {
        true => suffix_kind(token),
        false => StringKind::Plain,
    };
    let inner = string_content(token);
    if !inner.contains('\\') {
        return ExprKind::String(Arc::from(inner), kind);
    }
    let units = decode_escapes(inner);
    match String::from_utf16(&units) {
        Ok(text) => ExprKind::String(Arc::from(text), kind),
        Err(_) => ExprKind::StringUnits(Arc::from(units), kind),
    }
}

/// Decodes a raw string behind its `r`, which may be broken.
fn decode_raw(token: &str) -> ExprKind {
    let quote = token.chars().next().unwrap_or('"');
    let behind = token.get(1..).unwrap_or_default();
    let (inner, suffix) = behind.rsplit_once(quote).unwrap_or((behind, ""));
    ExprKind::String(Arc::from(inner), suffix_kind(suffix))
}

/// The kind that the last letter of a token says.
fn suffix_kind(token: &str) -> StringKind {
    match token.as_bytes().last() {
        Some(b'r') => StringKind::RString,
        Some(b'u') => StringKind::UString,
        Some(b'x') => StringKind::Xml,
        _ => StringKind::Plain,
    }
}

/// A token that ends with a letter has a suffix only if a quote is before it; a broken token may
/// end with any letter.
fn has_closing_quote(token: &str) -> bool {
    closed_length(token) == Some(token.len()) && !token.ends_with(['"', '\''])
}

fn string_content(token: &str) -> &str {
    let quote = token.as_bytes()[0] as char;
    match closed_length(token) {
        Some(len) if len == token.len() => {
            let end = token.rfind(quote).unwrap_or(token.len());
            token.get(1..end).unwrap_or("")
        }
        _ => &token[1..],
    }
}

fn decode_escapes(text: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            '\\' => match chars.next() {
                Some('u') => {
                    if let Some(unit) = hex_unit(chars.as_str()) {
                        units.push(unit);
                        chars.nth(3);
                        continue;
                    }
                    'u'
                }
                Some(letter) => simple_escape(letter).unwrap_or(letter),
                None => '\\',
            },
            _ => c,
        };
        units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
    }
    units
}

#[cfg(test)]
mod tests {
    use super::decode_string;
    use crate::ast::{ExprKind, StringKind};

    fn text(token: &str) -> (String, StringKind) {
        match decode_string(token) {
            ExprKind::String(text, kind) => (text.to_string(), kind),
            other => panic!("{token} is {other:?}"),
        }
    }

    #[test]
    fn escapes_stand_for_their_characters() {
        assert_eq!(text(r#""a\tb\n\"\'\\\0""#).0, "a\tb\n\"'\\\0");
        assert_eq!(text(r#""\a\b\f\v\r\?""#).0, "\u{7}\u{8}\u{C}\u{B}\r?");
        assert_eq!(text(r#""caf\u00e9""#).0, "café");
        assert_eq!(text(r#""\d""#).0, "d");
        assert_eq!(text(r#""\uD83D\uDE00""#).0, "😀");
    }

    #[test]
    fn suffixes_give_the_kind() {
        assert_eq!(text("'a\"b'"), ("a\"b".to_owned(), StringKind::Plain));
        assert_eq!(text("'a'r").1, StringKind::RString);
        assert_eq!(text("\"a\"u").1, StringKind::UString);
        assert_eq!(text("\"<a/>\"x").1, StringKind::Xml);
    }

    #[test]
    fn raw_strings_have_no_escapes() {
        assert_eq!(text(r#"r"\d+\"#), (r"\d+\".to_owned(), StringKind::Plain));
        assert_eq!(
            text(r#"r"\d+\u00e9""#),
            (r"\d+\u00e9".to_owned(), StringKind::Plain)
        );
        assert_eq!(
            text(r#"r'a"b\'u"#),
            ("a\"b\\".to_owned(), StringKind::UString)
        );
        assert_eq!(text(r#"r"""#).0, "");
        assert_eq!(text(r#"r"it"#).0, "it");
    }

    #[test]
    fn a_lone_surrogate_keeps_its_units() {
        let ExprKind::StringUnits(units, kind) = decode_string(r#""a\uD800"u"#) else {
            panic!("a lone surrogate is no text");
        };
        assert_eq!((&*units, kind), (&[97u16, 0xD800][..], StringKind::UString));
    }
}
