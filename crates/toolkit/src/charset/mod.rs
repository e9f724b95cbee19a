//! Character encodings: what bytes a text is.
//!
//! [`names`] says which there are, by which names. Unlike on the web, ISO-8859-1, ISO-8859-9 and
//! US-ASCII are themselves and not a code page of Windows, and UTF-16 and UTF-32 can be written. A
//! character that the target lacks becomes its substitute character, U+001A. `charset_stream` has
//! the same piece by piece.

mod charset_stream;
mod code_page;
mod names;
mod utf16_utf32;
mod utf7;

pub use charset_stream::{CharsetDecoder, CharsetEncoder};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use eval::Fault;

use code_page::CodePage;
use utf16_utf32::{decode_wide, encode_wide, split_byte_order_mark};

/// How text lies in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, which text is in here.
    Utf8,
    /// Seven bits; what is not ASCII as base64.
    Utf7,
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
        is_big_endian: bool,
        /// A byte order mark comes first when written: the name leaves the order open.
        has_mark: bool,
    },
    /// What encoding_rs knows, in both directions.
    Table(&'static Encoding),
    /// One byte a character, by a table.
    CodePage(&'static CodePage),
}

const SUBSTITUTE: u8 = 0x1A;

/// Text in one encoding in another one.
///
/// # Errors
/// If an encoding is not known by its name.
pub fn convert(from: &str, to: &str, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let text = Charset::from_name(from)?.decode(bytes);
    Ok(Charset::from_name(to)?.encode(&String::from_utf8_lossy(&text)))
}

/// A name of each character encoding that there is.
pub fn encodings() -> impl Iterator<Item = &'static str> {
    names::all()
}

impl Charset {
    /// The character set of a name.
    ///
    /// # Errors
    /// If there is none of the name; the message says where those stand that there are.
    pub fn from_name(name: &str) -> Result<Charset, Fault> {
        names::find(name).ok_or_else(|| {
            Fault::value(format!(
                "no character encoding is named \"{name}\", as UTF-8, ISO-8859-1, windows-1252 and \
                 Shift_JIS are; docs/compatibility.md has all"
            ))
        })
    }

    /// Its name, the same whatever name it was found by.
    pub fn name(self) -> &'static str {
        names::name_of(self)
    }

    /// An encoding of encoding_rs; it does not write UTF-16.
    fn from_encoding(encoding: &'static Encoding) -> Charset {
        let wide = |big| Charset::Wide {
            width: 2,
            is_big_endian: big,
            has_mark: false,
        };
        match encoding {
            utf_8 if utf_8 == UTF_8 => Charset::Utf8,
            little if little == UTF_16LE => wide(false),
            big if big == UTF_16BE => wide(true),
            table => Charset::Table(table),
        }
    }

    /// The text that bytes spell, as UTF-8. What is malformed becomes U+FFFD.
    pub fn decode(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Charset::Utf8 => String::from_utf8_lossy(bytes).into_owned().into_bytes(),
            Charset::Utf7 => {
                let (mut decoder, mut text) = (utf7::Utf7Decoder::default(), Vec::new());
                decoder.decode(bytes, &mut text);
                decoder.finish(&mut text);
                text
            }
            Charset::CodePage(page) => page.decode(bytes).into_bytes(),
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
            Charset::Wide {
                width,
                is_big_endian: big,
                has_mark: mark,
            } => {
                let (big, bytes) = if mark {
                    split_byte_order_mark(bytes, width, big)
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
            Charset::Utf7 => utf7::encode(text),
            Charset::CodePage(page) => page.encode(text),
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
            Charset::Wide {
                width,
                is_big_endian: big,
                has_mark: mark,
            } => {
                let mark = mark.then_some('\u{FEFF}');
                encode_wide(mark.into_iter().chain(text.chars()), width, big)
            }
            Charset::Table(encoding) => encode_by_table(encoding, text),
        }
    }
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
