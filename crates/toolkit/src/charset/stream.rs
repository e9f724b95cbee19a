//! Text that comes or goes piece by piece: pieces need not end where characters do.

use encoding_rs::CoderResult;

use super::wide::{decode_wide, ends_within_pair, order};
use super::{Charset, utf7};

/// Bytes of a character set to UTF-8.
pub struct Decoder {
    charset: Charset,
    table: Option<encoding_rs::Decoder>,
    utf7: utf7::Decoder,
    /// The beginning of a character.
    rest: Vec<u8>,
    /// Whether the high byte of a unit comes first, once that is known.
    big: Option<bool>,
}

impl Decoder {
    /// For a character set.
    pub fn new(charset: Charset) -> Decoder {
        let table = match charset {
            Charset::Table(encoding) => Some(encoding.new_decoder_without_bom_handling()),
            _ => None,
        };
        Decoder {
            charset,
            table,
            utf7: utf7::Decoder::default(),
            rest: Vec::new(),
            big: None,
        }
    }

    /// Forgets what came: the next bytes are the first of a text.
    pub fn restart(&mut self) {
        *self = Decoder::new(self.charset);
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
            (Charset::Wide { width, big, mark }, _) => {
                self.rest.extend_from_slice(raw);
                if is_last || self.rest.len() >= width {
                    let big = self.settle_order(width, big, mark);
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
    fn settle_order(&mut self, width: usize, big: bool, mark: bool) -> bool {
        if let Some(big) = self.big {
            return big;
        }
        let (found, behind) = if mark {
            order(&self.rest, width, big)
        } else {
            (big, &self.rest[..])
        };
        let mark_bytes = self.rest.len() - behind.len();
        self.rest.drain(..mark_bytes);
        *self.big.insert(found)
    }

    fn decode_wide(&mut self, width: usize, big: bool, is_last: bool, text: &mut Vec<u8>) {
        let mut whole = self.rest.len();
        if !is_last {
            whole -= whole % width;
            if width == 2 && ends_within_pair(&self.rest[..whole], big) {
                whole -= width;
            }
        }
        text.extend(decode_wide(&self.rest[..whole], width, big).into_bytes());
        self.rest.drain(..whole);
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
pub struct Encoder {
    charset: Charset,
}

impl Encoder {
    /// For a character set.
    pub fn new(charset: Charset) -> Encoder {
        Encoder { charset }
    }

    /// For the rest of a text whose beginning has its byte order mark.
    pub fn continued(charset: Charset) -> Encoder {
        let mut encoder = Encoder::new(charset);
        encoder.has_begun();
        encoder
    }

    fn has_begun(&mut self) {
        if let Charset::Wide { mark, .. } = &mut self.charset {
            *mark = false;
        }
    }

    /// Appends the bytes of more text; a byte order mark comes before the first.
    pub fn encode(&mut self, text: &[u8], bytes: &mut Vec<u8>) {
        bytes.extend(self.charset.encode(&String::from_utf8_lossy(text)));
        self.has_begun();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "a\u{e9}\u{1d11e}\n";

    /// A text in pieces of so many bytes, there and back.
    fn there_and_back(name: &str, piece: usize) -> String {
        let charset = Charset::named(name).unwrap();
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(charset);
        let mut buffer = [0; 4];
        for c in TEXT.chars() {
            encoder.encode(c.encode_utf8(&mut buffer).as_bytes(), &mut bytes);
        }
        // UTF-7 ends each piece outside of base64.
        assert!(charset == Charset::Utf7 || bytes == charset.encode(TEXT));
        let mut decoder = Decoder::new(charset);
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
        let mut decoder = Decoder::new(Charset::named("UTF-16").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[0xFE], &mut text);
        decoder.decode(&[0xFF, 0, b'a'], &mut text);
        decoder.finish(&mut text);
        assert_eq!(text, b"a");
    }

    #[test]
    fn what_is_cut_off_is_replaced() {
        let mut decoder = Decoder::new(Charset::named("UTF-16LE").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[b'a', 0, 0x34, 0xD8], &mut text);
        assert_eq!(text, b"a");
        decoder.finish(&mut text);
        assert_eq!(text, "a\u{fffd}".as_bytes());
    }
    #[test]
    fn a_text_may_follow_the_end_of_another() {
        for name in ["GB18030", "ISO-8859-15", "UTF-16", "UTF-8", "UTF-7", "857"] {
            let mut decoder = Decoder::new(Charset::named(name).unwrap());
            let mut text = Vec::new();
            decoder.finish(&mut text);
            decoder.finish(&mut text);
            assert_eq!(text, b"", "{name}");
        }
        let mut decoder = Decoder::new(Charset::named("GB18030").unwrap());
        let mut text = Vec::new();
        decoder.decode(&[0x81], &mut text);
        decoder.finish(&mut text);
        decoder.decode(b"a", &mut text);
        assert_eq!(text, "\u{fffd}a".as_bytes());
    }
}
