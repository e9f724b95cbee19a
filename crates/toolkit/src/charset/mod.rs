//! Character encodings: what bytes a text is.
//!
//! Names are those of the WHATWG encoding standard and, ignoring case, `_` and `-`, the usual names
//! of the ISO 8859, UTF and Windows families. Unlike on the web, ISO-8859-1 and US-ASCII are
//! themselves and not windows-1252, and UTF-16 and UTF-32 can be written. A character that the
//! target lacks becomes its substitute character, U+001A. `stream` has the same piece by piece.

mod stream;
mod wide;

pub use stream::{Decoder, Encoder};

use encoding_rs::{Encoding, UTF_8};
use graph::Fault;

use wide::{decode_wide, encode_wide, order};

/// How text lies in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, which text is in here.
    Utf8,
    /// Code points up to a limit, one byte each: US-ASCII and ISO-8859-1.
    Bytes {
        /// The first code point that it lacks.
        limit: u32,
    },
    /// Two or four bytes a unit.
    Wide {
        /// Bytes a unit.
        width: usize,
        /// The high byte comes first.
        big: bool,
        /// A byte order mark comes first when written: the name leaves the order open.
        mark: bool,
    },
    /// What encoding_rs knows, in both directions.
    Table(&'static Encoding),
}

const SUBSTITUTE: u8 = 0x1A;

/// Text in one encoding in another one.
///
/// # Errors
/// If an encoding is not known by its name.
pub fn convert(from: &str, to: &str, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let text = Charset::named(from)?.decode(bytes);
    Ok(Charset::named(to)?.encode(&String::from_utf8_lossy(&text)))
}

impl Charset {
    /// The character set of a name.
    ///
    /// # Errors
    /// If nobody knows the name.
    pub fn named(name: &str) -> Result<Charset, Fault> {
        let plain: String = name.chars().filter(|c| !"-_ ".contains(*c)).collect();
        let wide = |width, big, mark| Some(Charset::Wide { width, big, mark });
        let own = match plain.to_ascii_lowercase().as_str() {
            "usascii" | "ascii" | "ansix3.41968" | "iso646us" => {
                Some(Charset::Bytes { limit: 0x80 })
            }
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
        let found = own.or_else(|| by_table().map(Charset::of_table));
        found.ok_or_else(|| {
            let known = "UTF-8, ISO-8859-1, windows-1252 and UTF-16LE are some";
            Fault::value(format!(
                "no character encoding is named \"{name}\"; {known}"
            ))
        })
    }

    fn of_table(encoding: &'static Encoding) -> Charset {
        if encoding == UTF_8 {
            Charset::Utf8
        } else {
            Charset::Table(encoding)
        }
    }

    /// The text that bytes spell, as UTF-8. What is malformed becomes U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned().into_bytes(),
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

    /// The bytes of a text. What the character set lacks becomes its substitute character.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Charset::Utf8 => text.as_bytes().to_vec(),
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
