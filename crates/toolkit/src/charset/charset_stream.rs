//! Conversion of text piece by piece: pieces need not end where characters do.

use encoding_rs::CoderResult;

use super::character_set::Charset;
use super::utf7;
use super::utf16_utf32::{decode_wide, ends_within_pair, split_byte_order_mark};

/// Bytes of a character set to UTF-8.
pub struct CharsetDecoder {
    charset: Charset,
    table: Option<encoding_rs::Decoder>,
    utf7: utf7::Utf7Decoder,
    /// The beginning of a character.
    incomplete: Vec<u8>,
    /// Whether the high byte of a unit comes first, once that is known.
    is_big_endian: Option<bool>,
}

impl CharsetDecoder {
    /// A converter for a character set, at the beginning of a text.
    pub fn new(charset: Charset) -> CharsetDecoder {
        let table = match charset {
            Charset::Table(encoding) => Some(encoding.new_decoder_without_bom_handling()),
            _ => None,
        };
        CharsetDecoder {
            charset,
            table,
            utf7: utf7::Utf7Decoder::default(),
            incomplete: Vec::new(),
            is_big_endian: None,
        }
    }

    /// Forgets what came: the next bytes are the first of a text.
    pub fn restart(&mut self) {
        *self = CharsetDecoder::new(self.charset);
    }

    /// Appends the text that the next bytes spell. A character that they only begin waits for more.
    pub fn decode(&mut self, raw: &[u8], text: &mut Vec<u8>) {
        self.decode_piece(raw, false, text);
    }

    /// The text ends: appends what stands for a character that was only begun. The next bytes are
    /// the first of another text.
    pub fn finish(&mut self, text: &mut Vec<u8>) {
        self.decode_piece(&[], true, text);
        // A table's decoder panics if it is used behind its end.
        self.restart();
    }

    fn decode_piece(&mut self, raw: &[u8], is_last: bool, text: &mut Vec<u8>) {
        match (self.charset, &mut self.table) {
            (_, Some(decoder)) => decode_by_table(decoder, raw, is_last, text),
            (
                Charset::Wide {
                    width,
                    is_big_endian: big,
                    has_mark: mark,
                },
                _,
            ) => {
                self.incomplete.extend_from_slice(raw);
                if is_last || self.incomplete.len() >= width {
                    let big = self.detect_byte_order(width, big, mark);
                    self.decode_wide(width, big, is_last, text);
                }
            }
            (Charset::Utf7, _) => {
                self.utf7.decode(raw, text);
                if is_last {
                    self.utf7.finish(text);
                }
            }
            (Charset::Utf8, _) => text.extend_from_slice(raw),
            (charset, _) => text.extend(charset.decode(raw)),
        }
    }

    /// The byte order; a mark in front states it if the name leaves it open.
    fn detect_byte_order(&mut self, width: usize, big: bool, mark: bool) -> bool {
        if let Some(big) = self.is_big_endian {
            return big;
        }
        let (found, behind) = if mark {
            split_byte_order_mark(&self.incomplete, width, big)
        } else {
            (big, &self.incomplete[..])
        };
        let mark_bytes = self.incomplete.len() - behind.len();
        self.incomplete.drain(..mark_bytes);
        *self.is_big_endian.insert(found)
    }

    fn decode_wide(&mut self, width: usize, big: bool, is_last: bool, text: &mut Vec<u8>) {
        let mut whole = self.incomplete.len();
        if !is_last {
            whole -= whole % width;
            if width == 2 && ends_within_pair(&self.incomplete[..whole], big) {
                whole -= width;
            }
        }
        text.extend(decode_wide(&self.incomplete[..whole], width, big).into_bytes());
        self.incomplete.drain(..whole);
    }
}

fn decode_by_table(
    decoder: &mut encoding_rs::Decoder,
    mut raw: &[u8],
    is_last: bool,
    text: &mut Vec<u8>,
) {
    loop {
        let wanted = decoder
            .max_utf8_buffer_length(raw.len())
            .unwrap_or(raw.len() * 3 + 16);
        let before = text.len();
        text.resize(before + wanted, 0);
        let (result, read, written, _) = decoder.decode_to_utf8(raw, &mut text[before..], is_last);
        text.truncate(before + written);
        raw = &raw[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// UTF-8 to a character set, whole characters at a time.
pub struct CharsetEncoder {
    charset: Charset,
}

impl CharsetEncoder {
    /// A converter for a character set, at the beginning of a text.
    pub fn new(charset: Charset) -> CharsetEncoder {
        CharsetEncoder { charset }
    }

    /// An encoder for the rest of a text whose byte order mark was written already.
    pub fn without_mark(charset: Charset) -> CharsetEncoder {
        let mut encoder = CharsetEncoder::new(charset);
        encoder.clear_mark();
        encoder
    }

    fn clear_mark(&mut self) {
        if let Charset::Wide { has_mark: mark, .. } = &mut self.charset {
            *mark = false;
        }
    }

    /// Appends the bytes of more text; a byte order mark comes before the first.
    pub fn encode(&mut self, text: &[u8], bytes: &mut Vec<u8>) {
        bytes.extend(self.charset.encode(&String::from_utf8_lossy(text)));
        self.clear_mark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\u{e9}\u{1d11e}\n";

    /// Encodes and decodes a text in pieces of this many bytes.
    fn there_and_back(name: &str, piece: usize) -> String {
        let charset = Charset::from_name(name).unwrap();
        let mut bytes = Vec::new();
        let mut encoder = CharsetEncoder::new(charset);
        let mut buffer = [0; 4];
        for c in TEXT.chars() {
            encoder.encode(c.encode_utf8(&mut buffer).as_bytes(), &mut bytes);
        }
        // UTF-7 ends each piece outside of base64.
        assert!(charset == Charset::Utf7 || bytes == charset.encode(TEXT));
        let mut decoder = CharsetDecoder::new(charset);
        let mut text = Vec::new();
        for piece in bytes.chunks(piece) {
            decoder.decode(piece, &mut text);
        }
        decoder.finish(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn pieces_may_end_within_a_character() {
        for name in [
            "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32BE", "GB18030", "UTF-7",
        ] {
            for piece in 1..=9 {
                assert_eq!(there_and_back(name, piece), TEXT, "{name} by {piece}");
            }
        }
    }

    #[test]
    fn a_mark_says_the_order() {
        let mut decoder = CharsetDecoder::new(Charset::from_name("UTF-16").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[0xFE], &mut text);
        decoder.decode(&[0xFF, 0, b'a'], &mut text);
        decoder.finish(&mut text);
        assert_eq!(text, b"a");
    }

    #[test]
    fn what_is_cut_off_is_replaced() {
        let mut decoder = CharsetDecoder::new(Charset::from_name("UTF-16LE").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[b'a', 0, 0x34, 0xD8], &mut text);
        assert_eq!(text, b"a");
        decoder.finish(&mut text);
        assert_eq!(text, "a\u{fffd}".as_bytes());
    }
    #[test]
    fn a_text_may_follow_the_end_of_another() {
        for name in ["GB18030", "ISO-8859-15", "UTF-16", "UTF-8", "UTF-7", "857"] {
            let mut decoder = CharsetDecoder::new(Charset::from_name(name).unwrap());
            let mut text = Vec::new();
            decoder.finish(&mut text);
            decoder.finish(&mut text);
            assert_eq!(text, b"", "{name}");
        }
        let mut decoder = CharsetDecoder::new(Charset::from_name("GB18030").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[0x81], &mut text);
        decoder.finish(&mut text);
        decoder.decode(b"a", &mut text);
        assert_eq!(text, "\u{fffd}a".as_bytes());
    }
}
