//! Between UTF-8 and other encodings.
//!
//! Names are those of the WHATWG encoding standard and, ignoring case, `_` and `-`, the usual names
//! of the ISO 8859, UTF and Windows families. Unlike on the web, ISO-8859-1 and US-ASCII are
//! themselves and not windows-1252, and UTF-16 and UTF-32 can be written. A character that the
//! target lacks becomes its substitute character, U+001A.

use encoding_rs::Encoding;
use graph::{Call, Fault, NativeFn};
use tuple::{List, Value};

use super::string;
use crate::function::call::Arguments;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    string(
        "rstring convertToUtf8(list<uint8> val, rstring enc)",
        "The text whose bytes in the encoding `enc` are given. What is malformed becomes U+FFFD; \
         an unknown encoding faults.",
        |c| {
            let bytes: &[u8] = c.list(0).as_slice().unwrap_or_default();
            c.give_bytes(charset(c, 1)?.decode(bytes))
        },
    ),
    string(
        "rstring convertToUtf8(rstring val, rstring enc)",
        "The text whose bytes in the encoding `enc` are given. What is malformed becomes U+FFFD; \
         an unknown encoding faults.",
        |c| c.give_bytes(charset(c, 1)?.decode(c.bytes(0))),
    ),
    string(
        "list<uint8> convertFromUtf8(rstring str, rstring enc)",
        "The bytes of the text in the encoding `enc`. What the encoding lacks becomes the \
         substitute character 0x1A; an unknown encoding faults.",
        |c| Ok(Value::List(List::Uint8(charset(c, 1)?.encode(&c.text(0))))),
    ),
    string(
        "rstring convertFromUtf8ToString(rstring str, rstring enc)",
        "The bytes of the text in the encoding `enc`, as an rstring. What the encoding lacks \
         becomes the substitute character 0x1A; an unknown encoding faults.",
        |c| c.give_bytes(charset(c, 1)?.encode(&c.text(0))),
    ),
];

/// How text lies in bytes.
#[derive(Clone, Copy)]
enum Charset {
    /// Code points up to a limit, one byte each: US-ASCII and ISO-8859-1.
    Bytes { limit: u32 },
    /// Two or four bytes a unit; with a byte order mark when written if the name leaves the order
    /// open.
    Wide { width: usize, big: bool, mark: bool },
    /// What encoding_rs knows, in both directions.
    Table(&'static Encoding),
}

const SUBSTITUTE: u8 = 0x1A;

fn charset(c: &Call<'_>, at: usize) -> Result<Charset, Fault> {
    named(&c.text(at))
}

/// Text in one encoding in another one.
///
/// # Errors
/// If an encoding is not known by its name.
pub fn convert(from: &str, to: &str, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let text = named(from)?.decode(bytes);
    Ok(named(to)?.encode(&String::from_utf8_lossy(&text)))
}

fn named(name: &str) -> Result<Charset, Fault> {
    let plain: String = name.chars().filter(|c| !"-_ ".contains(*c)).collect();
    let wide = |width, big, mark| Some(Charset::Wide { width, big, mark });
    let own = match plain.to_ascii_lowercase().as_str() {
        "usascii" | "ascii" | "ansix3.41968" | "iso646us" => Some(Charset::Bytes { limit: 0x80 }),
        "iso88591" | "latin1" | "l1" | "ibm819" => Some(Charset::Bytes { limit: 0x100 }),
        "utf16" => wide(2, cfg!(target_endian = "big"), true),
        "utf16le" => wide(2, false, false),
        "utf16be" => wide(2, true, false),
        "utf32" => wide(4, cfg!(target_endian = "big"), true),
        "utf32le" => wide(4, false, false),
        "utf32be" => wide(4, true, false),
        _ => None,
    };
    let by_table = || known(name.as_bytes()).or_else(|| known(respelt(&plain).as_bytes()));
    let found = own.or_else(|| by_table().map(Charset::Table));
    found.ok_or_else(|| Fault::value(format!("no character encoding is named \"{name}\"")))
}

fn known(name: &[u8]) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(name)
}

/// A name without separators as the standard spells it: `iso885915` is `iso-8859-15`.
fn respelt(plain: &str) -> String {
    let plain = plain.to_ascii_lowercase();
    let numbered = [
        ("iso8859", "iso-8859-"),
        ("windows", "windows-"),
        ("cp125", "windows-125"),
    ];
    let other = [
        ("utf8", "utf-8"),
        ("eucjp", "euc-jp"),
        ("euckr", "euc-kr"),
        ("koi8r", "koi8-r"),
    ];
    let spelling = other
        .iter()
        .find(|(name, _)| *name == plain)
        .map(|(_, s)| s.to_string());
    spelling.unwrap_or_else(|| {
        let stem = numbered.iter().find(|(stem, _)| plain.starts_with(stem));
        stem.map_or(plain.clone(), |(stem, spelt)| {
            plain.replacen(stem, spelt, 1)
        })
    })
}

impl Charset {
    fn decode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Charset::Bytes { limit } => {
                let char = |&b: &u8| {
                    if u32::from(b) < limit {
                        b.into()
                    } else {
                        '\u{FFFD}'
                    }
                };
                bytes.iter().map(char).collect::<String>().into_bytes()
            }
            Charset::Wide { width, big, mark } => {
                let (big, bytes) = if mark {
                    order(bytes, width, big)
                } else {
                    (big, bytes)
                };
                decode_wide(bytes, width, big).into_bytes()
            }
            Charset::Table(encoding) => encoding
                .decode_without_bom_handling(bytes)
                .0
                .into_owned()
                .into_bytes(),
        }
    }

    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Charset::Bytes { limit } => {
                let byte = |c: char| {
                    if u32::from(c) < limit {
                        c as u8
                    } else {
                        SUBSTITUTE
                    }
                };
                text.chars().map(byte).collect()
            }
            Charset::Wide { width, big, mark } => {
                let mark = mark.then_some('\u{FEFF}');
                encode_wide(mark.into_iter().chain(text.chars()), width, big)
            }
            Charset::Table(encoding) => encode_by_table(encoding, text),
        }
    }
}

/// The byte order that a mark at the beginning states, and what follows the mark.
fn order(bytes: &[u8], width: usize, big: bool) -> (bool, &[u8]) {
    for order in [false, true] {
        if bytes.starts_with(&encode_wide(['\u{FEFF}'].into_iter(), width, order)) {
            return (order, &bytes[width..]);
        }
    }
    (big, bytes)
}

fn decode_wide(bytes: &[u8], width: usize, big: bool) -> String {
    let whole = bytes.chunks_exact(width);
    let cut_off = !whole.remainder().is_empty();
    let units = whole.map(|unit| {
        let digit = |n: u32, b: &u8| n << 8 | u32::from(*b);
        if big {
            unit.iter().fold(0, digit)
        } else {
            unit.iter().rev().fold(0, digit)
        }
    });
    let mut text: String = match width {
        2 => char::decode_utf16(units.map(|u| u as u16))
            .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
        _ => units
            .map(|u| char::from_u32(u).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect(),
    };
    if cut_off {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

fn encode_wide(chars: impl Iterator<Item = char>, width: usize, big: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |unit: u32| {
        let all = unit.to_le_bytes();
        if big {
            bytes.extend(all[..width].iter().rev());
        } else {
            bytes.extend_from_slice(&all[..width]);
        }
    };
    for c in chars {
        match width {
            2 => c
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|&unit| put(unit.into())),
            _ => put(c.into()),
        }
    }
    bytes
}

fn encode_by_table(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, unmappable) = encoding.encode(text);
    if !unmappable {
        return bytes.into_owned();
    }
    // encoding_rs would write `&#8364;`; that is for web forms only.
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        let mut buffer = [0; 4];
        let (one, _, lacking) = encoding.encode(c.encode_utf8(&mut buffer));
        if lacking {
            bytes.push(SUBSTITUTE);
        } else {
            bytes.extend_from_slice(&one);
        }
    }
    bytes
}
