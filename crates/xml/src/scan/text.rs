//! Characters, names and references of XML text.

use std::borrow::Cow;

/// Replaces references to characters and to the five entities that every document has.
pub(super) fn expand_references(text: &str) -> Result<String, String> {
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or("a reference without `;`")?;
        let c = match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ => character_of_reference(name).ok_or_else(|| format!("&{name}; is unknown"))?,
        };
        out.push(c);
        out.push_str(rest);
    }
    Ok(out)
}

fn character_of_reference(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let point = match number.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(point).filter(|&c| is_char(c))
}

/// Line ends as line feeds, as XML 1.0 prescribes.
pub(super) fn normalize_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// The value of an attribute: blanks become spaces, unless they are written as references.
pub(super) fn attribute_value(text: &str) -> Result<String, String> {
    expand_references(&normalize_line_ends(text).replace(['\t', '\n'], " "))
}

/// Checks that bytes are UTF-8 and have only characters that XML allows.
pub(super) fn checked_text(bytes: &[u8]) -> Result<&str, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    match text.chars().find(|&c| !is_char(c)) {
        None => Ok(text),
        Some(c) => {
            let point = u32::from(c);
            Err(format!("the character U+{point:04X} is not allowed"))
        }
    }
}

fn is_char(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}')
}

/// Whether a text is a name, with or without a prefix.
pub(crate) fn is_name(text: &str) -> bool {
    text.chars().all(is_name_char) && text.chars().next().is_some_and(is_name_start)
}

/// Whether a character may be part of a name.
pub(crate) fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{B7}')
}

/// Whether a name may begin with a character that may be part of one.
pub(super) fn is_name_start(c: char) -> bool {
    !c.is_numeric() && c != '-' && c != '.' && c != '\u{B7}'
}

/// Whether a character is a blank of XML.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}
