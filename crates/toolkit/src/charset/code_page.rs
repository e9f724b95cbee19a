//! Code pages with one byte for each character: those of DOS, the EBCDIC ones for Latin letters,
//! and ISO-8859-9.
//!
//! The tables of DOS are those of the crate `oem_cp`. An EBCDIC code page is a permutation of
//! ISO-8859-1 (or -9): one is listed whole, and the others by the bytes that differ from it.
//! IBM1140 to IBM1149 are older pages with the euro sign in place of the currency sign.

use std::fmt;
use std::sync::OnceLock;

use oem_cp::code_table::DECODING_TABLE_CP_MAP;
use oem_cp::code_table_type::TableType;
use rustc_hash::FxHashMap;

/// Byte for a character that the encoding lacks: SUB of ASCII, also in EBCDIC pages without an own
/// one.
pub const SUBSTITUTE: u8 = 0x1A;

/// A code page: a table of at most 256 characters.
pub struct CodePage {
    /// Name of the code page.
    pub name: &'static str,
    base: CodePageBase,
    /// Bytes whose characters differ from those of the base.
    changes: &'static [(u8, char)],
    /// Whether the euro sign stands in the place of the currency sign.
    has_euro: bool,
    tables: OnceLock<CodePageTables>,
}

/// The table that a code page starts from.
#[derive(Clone, Copy)]
enum CodePageBase {
    /// The first 256 code points.
    Latin1,
    /// The EBCDIC code page IBM037.
    Ebcdic,
    /// US-ASCII, and a table of DOS for the upper half.
    Dos(u16),
}

/// Tables for both directions of conversion.
struct CodePageTables {
    chars: [Option<char>; 256],
    bytes: FxHashMap<char, u8>,
}

/// The code pages that are known by a table here.
pub static CODE_PAGES: [CodePage; 39] = [
    page("ISO-8859-9", CodePageBase::Latin1, LATIN5),
    dos("IBM437", 437),
    dos("IBM720", 720),
    dos("IBM737", 737),
    dos("IBM775", 775),
    dos("IBM850", 850),
    dos("IBM852", 852),
    dos("IBM855", 855),
    dos("IBM857", 857),
    dos("IBM858", 858),
    dos("IBM860", 860),
    dos("IBM861", 861),
    dos("IBM862", 862),
    dos("IBM863", 863),
    dos("IBM864", 864),
    dos("IBM865", 865),
    dos("IBM869", 869),
    ebcdic("IBM037", &[]),
    ebcdic("IBM273", GERMAN),
    ebcdic("IBM277", DANISH),
    ebcdic("IBM278", SWEDISH),
    ebcdic("IBM280", ITALIAN),
    ebcdic("IBM284", SPANISH),
    ebcdic("IBM285", BRITISH),
    ebcdic("IBM297", FRENCH),
    ebcdic("IBM500", INTERNATIONAL),
    ebcdic("IBM871", ICELANDIC),
    ebcdic("IBM1026", TURKISH),
    ebcdic("IBM1047", OPEN_SYSTEMS),
    ebcdic("IBM1140", &[]).with_euro(),
    ebcdic("IBM1141", GERMAN).with_euro(),
    ebcdic("IBM1142", DANISH).with_euro(),
    ebcdic("IBM1143", SWEDISH).with_euro(),
    ebcdic("IBM1144", ITALIAN).with_euro(),
    ebcdic("IBM1145", SPANISH).with_euro(),
    ebcdic("IBM1146", BRITISH).with_euro(),
    ebcdic("IBM1147", FRENCH).with_euro(),
    ebcdic("IBM1148", INTERNATIONAL).with_euro(),
    ebcdic("IBM1149", ICELANDIC).with_euro(),
];

const fn page(name: &'static str, base: CodePageBase, changes: &'static [(u8, char)]) -> CodePage {
    CodePage {
        name,
        base,
        changes,
        has_euro: false,
        tables: OnceLock::new(),
    }
}

const fn dos(name: &'static str, number: u16) -> CodePage {
    page(name, CodePageBase::Dos(number), &[])
}

const fn ebcdic(name: &'static str, changes: &'static [(u8, char)]) -> CodePage {
    page(name, CodePageBase::Ebcdic, changes)
}

impl CodePage {
    const fn with_euro(mut self) -> CodePage {
        self.has_euro = true;
        self
    }

    /// The text that bytes spell. A byte without a character becomes U+FFFD.
    pub fn decode(&self, bytes: &[u8]) -> String {
        let chars = &self.tables().chars;
        let char = |&b: &u8| chars[usize::from(b)].unwrap_or(char::REPLACEMENT_CHARACTER);
        bytes.iter().map(char).collect()
    }

    /// The bytes of a text. A character that the code page lacks becomes its substitute character,
    /// which is another byte in EBCDIC.
    pub fn encode(&self, text: &str) -> Vec<u8> {
        let bytes = &self.tables().bytes;
        let substitute = bytes.get(&char::from(SUBSTITUTE)).copied();
        let byte = |c: char| bytes.get(&c).copied().or(substitute).unwrap_or(SUBSTITUTE);
        text.chars().map(byte).collect()
    }

    fn tables(&self) -> &CodePageTables {
        self.tables.get_or_init(|| {
            let chars = self.chars();
            let pairs = (0..=u8::MAX).zip(chars).rev();
            let bytes = pairs.filter_map(|(byte, c)| Some((c?, byte))).collect();
            CodePageTables { chars, bytes }
        })
    }

    fn chars(&self) -> [Option<char>; 256] {
        let mut chars = [None; 256];
        for (byte, c) in (0..=u8::MAX).zip(&mut chars) {
            *c = match self.base {
                CodePageBase::Latin1 => Some(char::from(byte)),
                CodePageBase::Ebcdic => Some(char::from(IBM037[usize::from(byte)])),
                CodePageBase::Dos(_) if byte.is_ascii() => Some(char::from(byte)),
                CodePageBase::Dos(number) => upper_half(number, byte),
            };
        }
        for (byte, c) in self.changes {
            chars[usize::from(*byte)] = Some(*c);
        }
        if self.has_euro {
            let currency = chars.iter_mut().find(|c| **c == Some('¤'));
            currency.into_iter().for_each(|c| *c = Some('€'));
        }
        chars
    }
}

fn upper_half(number: u16, byte: u8) -> Option<char> {
    let at = usize::from(byte - 0x80);
    match DECODING_TABLE_CP_MAP.get(&number)? {
        TableType::Complete(chars) => Some(chars[at]),
        TableType::Incomplete(chars) => chars[at],
    }
}

impl fmt::Debug for CodePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for CodePage {
    fn eq(&self, other: &CodePage) -> bool {
        self.name == other.name
    }
}

impl Eq for CodePage {}

/// The code points of IBM037, EBCDIC of the United States; all are below 256.
#[rustfmt::skip]
const IBM037: [u8; 256] = [
    0x00, 0x01, 0x02, 0x03, 0x9C, 0x09, 0x86, 0x7F, 0x97, 0x8D, 0x8E, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F,
    0x10, 0x11, 0x12, 0x13, 0x9D, 0x85, 0x08, 0x87, 0x18, 0x19, 0x92, 0x8F, 0x1C, 0x1D, 0x1E, 0x1F,
    0x80, 0x81, 0x82, 0x83, 0x84, 0x0A, 0x17, 0x1B, 0x88, 0x89, 0x8A, 0x8B, 0x8C, 0x05, 0x06, 0x07,
    0x90, 0x91, 0x16, 0x93, 0x94, 0x95, 0x96, 0x04, 0x98, 0x99, 0x9A, 0x9B, 0x14, 0x15, 0x9E, 0x1A,
    0x20, 0xA0, 0xE2, 0xE4, 0xE0, 0xE1, 0xE3, 0xE5, 0xE7, 0xF1, 0xA2, 0x2E, 0x3C, 0x28, 0x2B, 0x7C,
    0x26, 0xE9, 0xEA, 0xEB, 0xE8, 0xED, 0xEE, 0xEF, 0xEC, 0xDF, 0x21, 0x24, 0x2A, 0x29, 0x3B, 0xAC,
    0x2D, 0x2F, 0xC2, 0xC4, 0xC0, 0xC1, 0xC3, 0xC5, 0xC7, 0xD1, 0xA6, 0x2C, 0x25, 0x5F, 0x3E, 0x3F,
    0xF8, 0xC9, 0xCA, 0xCB, 0xC8, 0xCD, 0xCE, 0xCF, 0xCC, 0x60, 0x3A, 0x23, 0x40, 0x27, 0x3D, 0x22,
    0xD8, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0xAB, 0xBB, 0xF0, 0xFD, 0xFE, 0xB1,
    0xB0, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E, 0x6F, 0x70, 0x71, 0x72, 0xAA, 0xBA, 0xE6, 0xB8, 0xC6, 0xA4,
    0xB5, 0x7E, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0xA1, 0xBF, 0xD0, 0xDD, 0xDE, 0xAE,
    0x5E, 0xA3, 0xA5, 0xB7, 0xA9, 0xA7, 0xB6, 0xBC, 0xBD, 0xBE, 0x5B, 0x5D, 0xAF, 0xA8, 0xB4, 0xD7,
    0x7B, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0xAD, 0xF4, 0xF6, 0xF2, 0xF3, 0xF5,
    0x7D, 0x4A, 0x4B, 0x4C, 0x4D, 0x4E, 0x4F, 0x50, 0x51, 0x52, 0xB9, 0xFB, 0xFC, 0xF9, 0xFA, 0xFF,
    0x5C, 0xF7, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A, 0xB2, 0xD4, 0xD6, 0xD2, 0xD3, 0xD5,
    0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0xB3, 0xDB, 0xDC, 0xD9, 0xDA, 0x9F,
];

/// ISO-8859-9: the Turkish letters, in the places of the Icelandic ones.
#[rustfmt::skip]
const LATIN5: &[(u8, char)] = &[
    (0xD0, 'Ğ'), (0xDD, 'İ'), (0xDE, 'Ş'), (0xF0, 'ğ'), (0xFD, 'ı'), (0xFE, 'ş'),
];

/// EBCDIC of Austria and Germany.
#[rustfmt::skip]
const GERMAN: &[(u8, char)] = &[
    (0x43, '{'), (0x4A, 'Ä'), (0x4F, '!'), (0x59, '~'), (0x5A, 'Ü'), (0x5F, '^'), (0x63, '['),
    (0x6A, 'ö'), (0x7C, '§'), (0xA1, 'ß'), (0xB0, '¢'), (0xB5, '@'), (0xBA, '¬'), (0xBB, '|'),
    (0xC0, 'ä'), (0xCC, '¦'), (0xD0, 'ü'), (0xDC, '}'), (0xE0, 'Ö'), (0xEC, '\\'), (0xFC, ']'),
];

/// EBCDIC of Denmark and Norway.
#[rustfmt::skip]
const DANISH: &[(u8, char)] = &[
    (0x47, '}'), (0x4A, '#'), (0x4F, '!'), (0x5A, '¤'), (0x5B, 'Å'), (0x5F, '^'), (0x67, '$'),
    (0x6A, 'ø'), (0x70, '¦'), (0x7B, 'Æ'), (0x7C, 'Ø'), (0x80, '@'), (0x9C, '{'), (0x9E, '['),
    (0x9F, ']'), (0xA1, 'ü'), (0xB0, '¢'), (0xBA, '¬'), (0xBB, '|'), (0xC0, 'æ'), (0xD0, 'å'),
    (0xDC, '~'),
];

/// EBCDIC of Finland and Sweden.
#[rustfmt::skip]
const SWEDISH: &[(u8, char)] = &[
    (0x43, '{'), (0x47, '}'), (0x4A, '§'), (0x4F, '!'), (0x51, '`'), (0x5A, '¤'), (0x5B, 'Å'),
    (0x5F, '^'), (0x63, '#'), (0x67, '$'), (0x6A, 'ö'), (0x71, '\\'), (0x79, 'é'), (0x7B, 'Ä'),
    (0x7C, 'Ö'), (0x9F, ']'), (0xA1, 'ü'), (0xB0, '¢'), (0xB5, '['), (0xBA, '¬'), (0xBB, '|'),
    (0xC0, 'ä'), (0xCC, '¦'), (0xD0, 'å'), (0xDC, '~'), (0xE0, 'É'), (0xEC, '@'),
];

/// Differences of the Italian EBCDIC pages from IBM037.
#[rustfmt::skip]
const ITALIAN: &[(u8, char)] = &[
    (0x44, '{'), (0x48, '\\'), (0x4A, '°'), (0x4F, '!'), (0x51, ']'), (0x54, '}'), (0x58, '~'),
    (0x5A, 'é'), (0x5F, '^'), (0x6A, 'ò'), (0x79, 'ù'), (0x7B, '£'), (0x7C, '§'), (0x90, '['),
    (0xA1, 'ì'), (0xB0, '¢'), (0xB1, '#'), (0xB5, '@'), (0xBA, '¬'), (0xBB, '|'), (0xC0, 'à'),
    (0xCD, '¦'), (0xD0, 'è'), (0xDD, '`'), (0xE0, 'ç'),
];

/// EBCDIC of Spain and Latin America.
#[rustfmt::skip]
const SPANISH: &[(u8, char)] = &[
    (0x49, '¦'), (0x4A, '['), (0x5A, ']'), (0x69, '#'), (0x6A, 'ñ'), (0x7B, 'Ñ'), (0xA1, '¨'),
    (0xB0, '¢'), (0xBA, '^'), (0xBB, '!'), (0xBD, '~'),
];

/// EBCDIC of the United Kingdom.
#[rustfmt::skip]
const BRITISH: &[(u8, char)] = &[
    (0x4A, '$'), (0x5B, '£'), (0xA1, '¯'), (0xB0, '¢'), (0xB1, '['), (0xBA, '^'), (0xBC, '~'),
];

/// Differences of the French EBCDIC pages from IBM037.
#[rustfmt::skip]
const FRENCH: &[(u8, char)] = &[
    (0x44, '@'), (0x48, '\\'), (0x4A, '°'), (0x4F, '!'), (0x51, '{'), (0x54, '}'), (0x5A, '§'),
    (0x5F, '^'), (0x6A, 'ù'), (0x79, 'µ'), (0x7B, '£'), (0x7C, 'à'), (0x90, '['), (0xA0, '`'),
    (0xA1, '¨'), (0xB0, '¢'), (0xB1, '#'), (0xB5, ']'), (0xBA, '¬'), (0xBB, '|'), (0xBD, '~'),
    (0xC0, 'é'), (0xD0, 'è'), (0xDD, '¦'), (0xE0, 'ç'),
];

/// EBCDIC of Belgium and Switzerland, the international one.
#[rustfmt::skip]
const INTERNATIONAL: &[(u8, char)] = &[
    (0x4A, '['), (0x4F, '!'), (0x5A, ']'), (0x5F, '^'), (0xB0, '¢'), (0xBA, '¬'), (0xBB, '|'),
];

/// Differences of the Icelandic EBCDIC pages from IBM037.
#[rustfmt::skip]
const ICELANDIC: &[(u8, char)] = &[
    (0x4A, 'Þ'), (0x4F, '!'), (0x5A, 'Æ'), (0x5F, 'Ö'), (0x79, 'ð'), (0x7C, 'Ð'), (0x8C, '`'),
    (0x8E, '{'), (0x9C, '}'), (0x9E, ']'), (0xA1, 'ö'), (0xAC, '@'), (0xAE, '['), (0xB0, '¢'),
    (0xBA, '¬'), (0xBB, '|'), (0xBE, '\\'), (0xC0, 'þ'), (0xCC, '~'), (0xD0, 'æ'), (0xE0, '´'),
    (0xEC, '^'),
];

/// Differences of the Turkish EBCDIC page from IBM037.
#[rustfmt::skip]
const TURKISH: &[(u8, char)] = &[
    (0x48, '{'), (0x4A, 'Ç'), (0x4F, '!'), (0x5A, 'Ğ'), (0x5B, 'İ'), (0x5F, '^'), (0x68, '['),
    (0x6A, 'ş'), (0x79, 'ı'), (0x7B, 'Ö'), (0x7C, 'Ş'), (0x7F, 'Ü'), (0x8C, '}'), (0x8D, '`'),
    (0x8E, '¦'), (0xA1, 'ö'), (0xAC, ']'), (0xAD, '$'), (0xAE, '@'), (0xB0, '¢'), (0xBA, '¬'),
    (0xBB, '|'), (0xC0, 'ç'), (0xCC, '~'), (0xD0, 'ğ'), (0xDC, '\\'), (0xE0, 'ü'), (0xEC, '#'),
    (0xFC, '"'),
];

/// EBCDIC of open systems on mainframes.
#[rustfmt::skip]
const OPEN_SYSTEMS: &[(u8, char)] = &[
    (0x5F, '^'), (0xAD, '['), (0xB0, '¬'), (0xBA, 'Ý'), (0xBB, '¨'), (0xBD, ']'),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> &'static CodePage {
        CODE_PAGES.iter().find(|page| page.name == name).unwrap()
    }

    #[test]
    fn every_byte_comes_back() {
        for page in &CODE_PAGES {
            for byte in 0..=u8::MAX {
                let text = page.decode(&[byte]);
                let lacks = text == "\u{FFFD}";
                assert!(lacks || page.encode(&text) == [byte], "{page:?} {byte:#x}");
            }
            // Every code page has the digits and letters of ASCII.
            let text = "09AZaz.,\n";
            assert_eq!(page.decode(&page.encode(text)), text, "{page:?}");
        }
    }

    /// Bytes that other converters give for these texts.
    #[test]
    fn known_bytes() {
        let known: &[(&str, &str, &[u8])] = &[
            ("IBM857", "ışığ €", &[0x8D, 0x9F, 0x8D, 0xA7, 0x20, 0x1A]),
            ("IBM437", "é½π", &[0x82, 0xAB, 0xE3]),
            ("IBM850", "äß×", &[0x84, 0xE1, 0x9E]),
            ("IBM858", "€", &[0xD5]),
            (
                "IBM037",
                "Hi, é!\n",
                &[0xC8, 0x89, 0x6B, 0x40, 0x51, 0x5A, 0x25],
            ),
            ("IBM273", "Ä{ß}", &[0x4A, 0x43, 0xA1, 0xDC]),
            ("IBM500", "[!]|", &[0x4A, 0x4F, 0x5A, 0xBB]),
            ("IBM1047", "[]^Ý", &[0xAD, 0xBD, 0x5F, 0xBA]),
            ("IBM1026", "ğşıİ", &[0xD0, 0x6A, 0x79, 0x5B]),
            ("IBM1140", "a€", &[0x81, 0x9F]),
            ("IBM1143", "É\\€", &[0xE0, 0x71, 0x5A]),
            ("IBM037", "€", &[0x3F]),
            ("ISO-8859-9", "ğ\u{80}", &[0xF0, 0x80]),
        ];
        for (name, text, bytes) in known {
            assert_eq!(page(name).encode(text), *bytes, "{name} {text}");
        }
        assert_eq!(page("IBM857").decode(&[0xD5]), "\u{FFFD}");
    }
}
