//! The names of character encodings.
//!
//! Names are matched as ICU does: case, blanks and punctuation do not count, nor do zeros in front
//! of a number (`IBM-00858` is `ibm858`). Code pages are known by their numbers too, with or
//! without a word before them: `857`, `cp857`, `ibm-857`, `IBM857` and `ibm-857_P100-1995` are one.
//! What the WHATWG encoding standard calls an encoding is known as well.

use std::sync::LazyLock;

use encoding_rs::Encoding;
use eval::Fault;
use rustc_hash::FxHashMap;

use super::character_set::Charset;
use super::code_page::CODE_PAGES;

impl Charset {
    /// The character set of a name.
    ///
    /// # Errors
    /// If no character set has this name; the message names the page with all of them.
    pub fn from_name(name: &str) -> Result<Charset, Fault> {
        find(name).ok_or_else(|| {
            Fault::value(format!(
                "no character encoding is named \"{name}\", as UTF-8, ISO-8859-1, windows-1252 and \
                 Shift_JIS are; docs/compatibility.md has all"
            ))
        })
    }

    /// The preferred name of the character set, whichever of its names it was found by.
    pub fn name(self) -> &'static str {
        name_of(self)
    }
}

/// The character set of a name, if there is one.
fn find(name: &str) -> Option<Charset> {
    // Options of ICU after a name (`ibm-37,swaplfnl`) mean another table.
    if name.contains(',') {
        return None;
    }
    let plain = normalize_name(name);
    if let Some(charset) = INDEX.get(&plain) {
        return Some(*charset);
    }
    if let Some(charset) =
        code_page_number(&plain).and_then(|number| INDEX.get(&number.to_string()))
    {
        return Some(*charset);
    }
    Encoding::for_label_no_replacement(name.as_bytes()).map(Charset::from_encoding)
}

/// The name that stands for all names of a character set.
fn name_of(charset: Charset) -> &'static str {
    let known = encodings().find(|name| find(name) == Some(charset));
    known.unwrap_or(match charset {
        Charset::Table(encoding) => encoding.name(),
        _ => "an encoding",
    })
}

/// One name of each supported character encoding.
pub fn encodings() -> impl Iterator<Item = &'static str> {
    let own = OWN_NAMES.iter().map(|(name, ..)| *name);
    let tables = WHATWG_NAMES.iter().map(|(name, _)| *name);
    own.chain(tables)
        .chain(CODE_PAGES.iter().map(|page| page.name))
}

/// Letters and digits of a name, in lower case, without the zeros in front of numbers.
fn normalize_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut after_digit = false;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_alphanumeric() {
            after_digit = false;
            continue;
        }
        let is_leading_zero = c == '0' && !after_digit;
        let next_is_digit = chars.peek().is_some_and(char::is_ascii_digit);
        if is_leading_zero && next_is_digit {
            continue;
        }
        after_digit = c.is_ascii_digit();
        plain.push(c.to_ascii_lowercase());
    }
    plain
}

/// The number that a stripped name of a code page has: `ibm857`, `857`, `ibm857p1001995`.
fn code_page_number(plain: &str) -> Option<u32> {
    let words = [
        "", "ibm", "cp", "ccsid", "csibm", "cpibm", "xibm", "ms", "windows", "oem",
    ];
    words.iter().find_map(|word| {
        let rest = plain.strip_prefix(word)?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let is_whole = digits == rest.len() || rest[digits..].starts_with("p100");
        rest[..digits].parse().ok().filter(|_| is_whole)
    })
}

/// Every stripped name, and every number as text.
static INDEX: LazyLock<FxHashMap<String, Charset>> = LazyLock::new(|| {
    let mut index = FxHashMap::default();
    for (name, charset, aliases) in OWN_NAMES {
        for name in aliases.iter().chain([name]) {
            index.insert(normalize_name(name), *charset);
        }
    }
    for (name, aliases) in WHATWG_NAMES {
        let encoding = Encoding::for_label_no_replacement(name.as_bytes());
        for name in aliases.iter().chain([name]) {
            encoding.map(|table| index.insert(normalize_name(name), Charset::from_encoding(table)));
        }
    }
    for page in &CODE_PAGES {
        index.insert(normalize_name(page.name), Charset::CodePage(page));
        if let Some(number) = code_page_number(&normalize_name(page.name)) {
            index.insert(number.to_string(), Charset::CodePage(page));
        }
    }
    for (alias, name) in CODE_PAGE_ALIASES {
        let page = CODE_PAGES.iter().find(|page| page.name == *name);
        page.map(|page| index.insert(normalize_name(alias), Charset::CodePage(page)));
    }
    for (numbers, name) in CODE_PAGE_NUMBERS {
        let charset = index.get(&normalize_name(name)).copied();
        for number in *numbers {
            charset.map(|charset| index.insert(number.to_string(), charset));
        }
    }
    index
});

const fn wide(width: usize, big: bool, mark: bool) -> Charset {
    Charset::Wide {
        width,
        is_big_endian: big,
        has_mark: mark,
    }
}

const IS_BIG_ENDIAN_HOST: bool = cfg!(target_endian = "big");

/// Encodings that are implemented here, with other names for them.
const OWN_NAMES: &[(&str, Charset, &[&str])] = &[
    ("UTF-8", Charset::Utf8, &["unicode-1-1-utf-8"]),
    (
        "UTF-7",
        Charset::Utf7,
        &["unicode-1-1-utf-7", "unicode-2-0-utf-7", "csUnicode11UTF7"],
    ),
    (
        "UTF-16",
        wide(2, IS_BIG_ENDIAN_HOST, true),
        &["unicode", "csUnicode", "ucs-2", "ISO-10646-UCS-2"],
    ),
    (
        "UTF-16BE",
        wide(2, true, false),
        &["x-utf-16be", "UTF16_BigEndian", "UnicodeBigUnmarked"],
    ),
    (
        "UTF-16LE",
        wide(2, false, false),
        &["x-utf-16le", "UTF16_LittleEndian", "UnicodeLittleUnmarked"],
    ),
    (
        "UTF-32",
        wide(4, IS_BIG_ENDIAN_HOST, true),
        &["ucs-4", "csUCS4", "ISO-10646-UCS-4"],
    ),
    ("UTF-32BE", wide(4, true, false), &["UTF32_BigEndian"]),
    ("UTF-32LE", wide(4, false, false), &["UTF32_LittleEndian"]),
    (
        "US-ASCII",
        Charset::Bytes { limit: 0x80 },
        &[
            "ASCII",
            "us",
            "646",
            "ascii7",
            "csASCII",
            "iso-ir-6",
            "ANSI_X3.4-1968",
            "ANSI_X3.4-1986",
            "ISO646-US",
            "ISO_646.irv:1983",
            "ISO_646.irv:1991",
        ],
    ),
    (
        "ISO-8859-1",
        Charset::Bytes { limit: 0x100 },
        &[
            "latin1",
            "l1",
            "8859_1",
            "csISOLatin1",
            "iso-ir-100",
            "ISO_8859-1:1987",
        ],
    ),
];

/// Encodings of encoding_rs by their name in the WHATWG standard, with the names that ICU has for
/// them.
const WHATWG_NAMES: &[(&str, &[&str])] = &[
    ("ISO-8859-2", &["latin2", "8859_2", "ISO_8859-2:1987"]),
    ("ISO-8859-3", &["latin3", "8859_3", "ISO_8859-3:1988"]),
    ("ISO-8859-4", &["latin4", "8859_4", "ISO_8859-4:1988"]),
    ("ISO-8859-5", &["cyrillic", "8859_5", "ISO_8859-5:1988"]),
    ("ISO-8859-6", &["arabic", "8859_6", "ISO_8859-6:1987"]),
    ("ISO-8859-7", &["greek", "8859_7", "ISO_8859-7:1987"]),
    ("ISO-8859-8", &["hebrew", "8859_8", "ISO_8859-8:1988"]),
    ("ISO-8859-10", &["latin6", "ISO_8859-10:1992"]),
    ("ISO-8859-13", &["8859_13"]),
    ("ISO-8859-14", &["latin8", "ISO_8859-14:1998"]),
    ("ISO-8859-15", &["latin9", "latin-9", "8859_15"]),
    ("ISO-8859-16", &["latin10"]),
    ("windows-1250", &[]),
    ("windows-1251", &[]),
    ("windows-1252", &[]),
    ("windows-1253", &[]),
    ("windows-1254", &[]),
    ("windows-1255", &[]),
    ("windows-1256", &[]),
    ("windows-1257", &[]),
    ("windows-1258", &[]),
    ("windows-874", &["tis-620", "TIS620.2533", "ISO-8859-11"]),
    ("IBM866", &[]),
    ("KOI8-R", &["koi8", "csKOI8R"]),
    ("KOI8-U", &[]),
    ("macintosh", &["mac", "macroman", "csMacintosh"]),
    ("x-mac-cyrillic", &["maccy", "x-MacCyrillic"]),
    ("Shift_JIS", &["sjis", "x-sjis", "pck", "csShiftJIS"]),
    ("EUC-JP", &["eucjis", "ujis", "X-EUC-JP"]),
    ("ISO-2022-JP", &["csISO2022JP"]),
    ("GBK", &["csGBK"]),
    ("gb18030", &[]),
    ("Big5", &["csBig5", "big-5"]),
    ("EUC-KR", &["csEUCKR", "5601", "KS_C_5601-1987"]),
];

/// Names of code pages without a number, or with more than one.
const CODE_PAGE_ALIASES: &[(&str, &str)] = &[
    ("latin5", "ISO-8859-9"),
    ("l5", "ISO-8859-9"),
    ("8859_9", "ISO-8859-9"),
    ("csISOLatin5", "ISO-8859-9"),
    ("iso-ir-148", "ISO-8859-9"),
    ("ISO_8859-9:1989", "ISO-8859-9"),
    ("csPC8CodePage437", "IBM437"),
    ("csPC775Baltic", "IBM775"),
    ("csPC850Multilingual", "IBM850"),
    ("csPCp852", "IBM852"),
    ("csPCp855", "IBM855"),
    ("PC-Multilingual-850+euro", "IBM858"),
    ("csPC862LatinHebrew", "IBM862"),
    ("ebcdic-cp-us", "IBM037"),
    ("ebcdic-cp-ca", "IBM037"),
    ("ebcdic-cp-wt", "IBM037"),
    ("ebcdic-cp-nl", "IBM037"),
    ("ebcdic-de", "IBM273"),
    ("ebcdic-cp-dk", "IBM277"),
    ("ebcdic-cp-no", "IBM277"),
    ("ebcdic-cp-fi", "IBM278"),
    ("ebcdic-cp-se", "IBM278"),
    ("ebcdic-cp-it", "IBM280"),
    ("ebcdic-cp-es", "IBM284"),
    ("ebcdic-cp-gb", "IBM285"),
    ("ebcdic-gb", "IBM285"),
    ("ebcdic-cp-fr", "IBM297"),
    ("ebcdic-cp-be", "IBM500"),
    ("ebcdic-cp-ch", "IBM500"),
    ("ebcdic-cp-is", "IBM871"),
    ("ebcdic-us-37+euro", "IBM1140"),
    ("ebcdic-de-273+euro", "IBM1141"),
    ("ebcdic-dk-277+euro", "IBM1142"),
    ("ebcdic-no-277+euro", "IBM1142"),
    ("ebcdic-fi-278+euro", "IBM1143"),
    ("ebcdic-se-278+euro", "IBM1143"),
    ("ebcdic-it-280+euro", "IBM1144"),
    ("ebcdic-es-284+euro", "IBM1145"),
    ("ebcdic-gb-285+euro", "IBM1146"),
    ("ebcdic-fr-297+euro", "IBM1147"),
    ("ebcdic-international-500+euro", "IBM1148"),
    ("ebcdic-is-871+euro", "IBM1149"),
];

/// Numbers that IBM and Microsoft give to encodings with a name.
const CODE_PAGE_NUMBERS: &[(&[u32], &str)] = &[
    (&[1208, 65001], "UTF-8"),
    (&[65000], "UTF-7"),
    (&[1204, 1205], "UTF-16"),
    (&[1200, 1201], "UTF-16BE"),
    (&[1202, 1203], "UTF-16LE"),
    (&[1236, 1237], "UTF-32"),
    (&[1232, 1233], "UTF-32BE"),
    (&[1234, 1235], "UTF-32LE"),
    (&[367], "US-ASCII"),
    (&[819], "ISO-8859-1"),
    (&[912], "ISO-8859-2"),
    (&[913], "ISO-8859-3"),
    (&[914], "ISO-8859-4"),
    (&[915], "ISO-8859-5"),
    (&[1089], "ISO-8859-6"),
    (&[813], "ISO-8859-7"),
    (&[916], "ISO-8859-8"),
    (&[920], "ISO-8859-9"),
    (&[921], "ISO-8859-13"),
    (&[923], "ISO-8859-15"),
    (&[1250, 5346], "windows-1250"),
    (&[1251, 5347], "windows-1251"),
    (&[1252, 5348], "windows-1252"),
    (&[1253, 5349], "windows-1253"),
    (&[1254, 5350], "windows-1254"),
    (&[1255, 9447], "windows-1255"),
    (&[1256, 9448], "windows-1256"),
    (&[1257, 9449], "windows-1257"),
    (&[1258, 5354], "windows-1258"),
    (&[874, 1162], "windows-874"),
    (&[866], "IBM866"),
    (&[878, 20866], "KOI8-R"),
    (&[1168, 21866], "KOI8-U"),
    (&[1275, 10000], "macintosh"),
    (&[1283, 10007], "x-mac-cyrillic"),
    (&[932, 943], "Shift_JIS"),
    (&[954, 33722], "EUC-JP"),
    (&[936, 1386], "GBK"),
    (&[1392, 54936], "gb18030"),
    (&[950, 1370], "Big5"),
    (&[949, 970, 1363], "EUC-KR"),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The name of what a name means, as [`all`] has it.
    fn meant(name: &str) -> Option<&'static str> {
        find(name).map(name_of)
    }

    #[test]
    fn options_of_a_converter_are_another_encoding() {
        for name in [
            "ibm-1047_P100-1995,swaplfnl",
            "ibm-37,swaplfnl",
            "UTF-8,version=1",
        ] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    #[test]
    fn spelling_does_not_count() {
        for name in [
            "857",
            "cp857",
            "CP857",
            "ibm-857",
            "IBM857",
            "IBM00857",
            "csIBM857",
            "ibm_857",
            "Ibm 857",
            "ibm-857_P100-1995",
        ] {
            assert_eq!(meant(name), Some("IBM857"), "{name}");
        }
        for name in [
            "IBM037",
            "ibm37",
            "037",
            "37",
            "cp037",
            "ebcdic-cp-us",
            "CCSID00037",
        ] {
            assert_eq!(meant(name), Some("IBM037"), "{name}");
        }
        for name in ["utf8", "UTF_8", "Utf-08", "ibm-1208", "cp65001"] {
            assert_eq!(meant(name), Some("UTF-8"), "{name}");
        }
        for name in ["utf-7", "UTF7", "unicode-1-1-utf-7"] {
            assert_eq!(meant(name), Some("UTF-7"), "{name}");
        }
        for name in [
            "latin1",
            "ISO_8859-1:1987",
            "csisolatin1",
            "ibm-819",
            "iso8859_1",
        ] {
            assert_eq!(meant(name), Some("ISO-8859-1"), "{name}");
        }
        let others = [
            ("cp1252", "windows-1252"),
            ("ibm-5348_P100-1997", "windows-1252"),
            ("iso885915", "ISO-8859-15"),
            ("latin5", "ISO-8859-9"),
            ("ebcdic-us-37+euro", "IBM1140"),
            ("IBM01047", "IBM1047"),
            ("cp866", "IBM866"),
            ("windows-31j", "Shift_JIS"),
            ("ms932", "Shift_JIS"),
            ("csiso2022jp", "ISO-2022-JP"),
            ("koi8r", "KOI8-R"),
            ("unicode", "UTF-16"),
            ("unicodefffe", "UTF-16BE"),
        ];
        for (name, encoding) in others {
            assert_eq!(meant(name), Some(encoding), "{name}");
        }
    }

    #[test]
    fn other_names_mean_nothing() {
        for name in [
            "",
            "UTF-9",
            "85",
            "cp",
            "ibm-857x",
            "857857",
            "ISO-2022-KR",
            "é",
        ] {
            assert_eq!(meant(name), None, "{name}");
        }
    }

    #[test]
    fn every_encoding_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for name in encodings() {
            assert!(names.insert(normalize_name(name)), "{name} comes twice");
            assert_eq!(meant(name), Some(name));
        }
        for (_, name) in CODE_PAGE_ALIASES {
            assert_eq!(meant(name), Some(*name));
        }
        for (_, name) in CODE_PAGE_NUMBERS {
            assert_eq!(meant(name), Some(*name));
        }
    }
}
