//! Conversion of strings to SPL string literals and back.
//!
//! A literal made here is pure ASCII: `"caf\u00e9"`. Code points beyond U+FFFF take two escapes, as
//! in UTF-16.

use eval::{Fault, NativeFn};
use tuple::{UString, Value};

use crate::function::arguments::NativeArguments;
use crate::function::entry::string;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "rstring interpretRStringLiteral(rstring str)",
        "The string that a literal in double quotes stands for. Faults if the quotes are missing \
         or the text is not UTF-8.",
        |c| {
            let text = interpret(c.bytes(0))?;
            c.bounded_rstring(text.to_string_lossy())
        },
    ),
    string(
        "rstring makeRStringLiteral(rstring str)",
        "The string as a literal in double quotes, all but printable ASCII escaped. Faults if the \
         string is not UTF-8.",
        |c| match str::from_utf8(c.bytes(0)) {
            Ok(text) => c.bounded_rstring(literal(text.encode_utf16())),
            Err(_) => Err(not_utf8()),
        },
    ),
    string(
        "ustring interpretUStringLiteral(rstring str)",
        "The string that a literal in double quotes stands for. Faults if the quotes are missing \
         or the text is not UTF-8.",
        |c| interpret(c.bytes(0)).map(Value::UString),
    ),
    string(
        "rstring makeUStringLiteral(ustring str)",
        "The string as a literal in double quotes, all but printable ASCII escaped.",
        |c| c.bounded_rstring(literal(c.ustring(0).as_units().iter().copied())),
    ),
];

/// Escapes with a letter of their own.
const NAMED: &[(u8, char)] = &[
    (0, '0'),
    (7, 'a'),
    (8, 'b'),
    (9, 't'),
    (10, 'n'),
    (11, 'v'),
    (12, 'f'),
    (13, 'r'),
    (b'"', '"'),
    (b'\\', '\\'),
];

fn literal(units: impl Iterator<Item = u16>) -> String {
    let mut text = String::from("\"");
    for unit in units {
        let named = NAMED.iter().find(|(code, _)| u16::from(*code) == unit);
        match (named, unit) {
            (Some((_, letter)), _) => text.extend(['\\', *letter]),
            (None, 0x20..0x7F) => text.push(unit as u8 as char),
            (None, _) => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text.push('"');
    text
}

fn interpret(literal: &[u8]) -> Result<UString, Fault> {
    let text = str::from_utf8(literal)
        .map_err(|_| not_utf8())?
        .trim_matches([' ', '\t']);
    let body = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
    let Some(body) = body else {
        return Err(Fault::value("a string literal must stand in double quotes"));
    };
    let mut units = UString::default();
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            units.push_code_point(c.into());
            continue;
        }
        match rest.next() {
            Some('u') => units.0.push(hexadecimal(&mut rest)?),
            Some(letter) => {
                let named = NAMED.iter().find(|(_, l)| *l == letter);
                units.push_code_point(named.map_or(letter.into(), |(code, _)| (*code).into()));
            }
            None => return Err(Fault::value("a string literal must not end in a backslash")),
        }
    }
    Ok(units)
}

/// The four digits after `\u`.
fn hexadecimal(rest: &mut std::str::Chars<'_>) -> Result<u16, Fault> {
    let digits = rest
        .as_str()
        .get(..4)
        .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
        .and_then(|d| u16::from_str_radix(d, 16).ok());
    let unit = digits.ok_or_else(|| Fault::value("\\u must be followed by four hex digits"))?;
    *rest = rest.as_str()[4..].chars();
    Ok(unit)
}

fn not_utf8() -> Fault {
    Fault::value("the string is not UTF-8")
}
