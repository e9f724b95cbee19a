//! Character sets: text from bytes and bytes from text, in one piece.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::code_page::{CodePage, SUBSTITUTE};
use super::utf7;
use super::utf16_utf32::{decode_wide, encode_wide, split_byte_order_mark};

/// A character encoding that text can be converted from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8, the form of all text within the engine.
    Utf8,
    /// UTF-7: characters outside ASCII as base64.
    Utf7,
    /// Code points up to a limit, one byte each: US-ASCII and ISO-8859-1.
    Bytes {
        /// The first code point that the encoding lacks.
        limit: u32,
    },
    /// UTF-16 or UTF-32, by the size of a unit.
    Wide {
        /// Bytes of one unit: 2 or 4.
        width: usize,
        /// Whether the high byte comes first.
        is_big_endian: bool,
        /// Whether written text begins with a byte order mark, because the name of the encoding
        /// does not tell the order.
        has_mark: bool,
    },
    /// An encoding that encoding_rs can read and write.
    Table(&'static Encoding),
    /// A code page: one byte for each character, by a table.
    CodePage(&'static CodePage),
}

impl Charset {
    /// An encoding of encoding_rs; it does not write UTF-16.
    pub(super) fn from_encoding(encoding: &'static Encoding) -> Charset {
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
