//! `spl.string` but for regular expressions.

use tuple::{Type, UString, Value};

use crate::harness::*;

#[test]
fn lengths_are_bytes_or_code_points() {
    gives("length(T str)", &[r("héllo")], int32(6));
    gives("length(T str)", &[u("héllo")], int32(5));
    gives("length(T str)", &[u("a😀")], int32(2));
    gives("length(T str)", &[bounded("ab", 5)], int32(2));
    gives("toCharacterCode(T str)", &[r("é")], uint32(0xC3));
    gives("toCharacterCode(T str)", &[u("😀x")], uint32(0x1F600));
    gives("toCharacterCode(T str)", &[r("")], uint32(0));
}

#[test]
fn case() {
    gives("lower(T str)", &[r("AbÄ")], r("abÄ"));
    gives("upper(T str)", &[r("abä1")], r("ABä1"));
    gives("lower(T str)", &[u("ÄΣ")], u("äς"));
    gives("upper(T str)", &[u("straße")], u("STRASSE"));
    gives("upper(T str)", &[bounded("ab", 4)], bounded("AB", 4));
    let lone = Arg(
        Type::UString,
        Value::UString(UString(vec![b'a'.into(), 0xD800])),
    );
    let upper = Arg(
        Type::UString,
        Value::UString(UString(vec![b'A'.into(), 0xD800])),
    );
    gives("upper(T str)", &[lone], upper);
}

#[test]
fn trimming_takes_a_set_of_characters() {
    gives("T trim(T str, T t)", &[r("xyaxbyx"), r("xy")], r("axb"));
    gives("ltrim(T str, T t)", &[r("  a "), r(" ")], r("a "));
    gives("rtrim(T str, T t)", &[r("  a "), r(" ")], r("  a"));
    gives("T trim(T str, T t)", &[r("xxx"), r("x")], r(""));
    gives("ltrim(T str, T t)", &[r("xxx"), r("x")], r(""));
    gives("T trim(T str, T t)", &[r("abc"), r("")], r("abc"));
    gives("T trim(T str, T t)", &[r(""), r("x")], r(""));
    gives("T trim(T str, T t)", &[u("😀a😀b😀"), u("😀")], u("a😀b"));
}

#[test]
fn substrings() {
    let f = "substring(T str, int32 sidx, int32 slen)";
    gives(f, &[r("hello"), int32(1), int32(3)], r("ell"));
    gives(f, &[r("hello"), int32(3), int32(99)], r("lo"));
    gives(f, &[r("hello"), int32(-2), int32(4)], r("he"));
    gives(f, &[r("hello"), int32(-2), int32(1)], r(""));
    gives(f, &[r("hello"), int32(5), int32(1)], r(""));
    gives(f, &[r("hello"), int32(1), int32(-1)], r(""));
    gives(f, &[u("a😀bc"), int32(1), int32(2)], u("😀b"));
    gives(f, &[r("hello"), int32(0), int32(i32::MAX)], r("hello"));
    faults(
        f,
        &[r("hello"), int32(6), int32(1)],
        Type::RString,
        "index 6",
    );
    for length in [1, 0, -1] {
        let args = [u("😀"), int32(2), int32(length)];
        faults(f, &args, Type::UString, "length 1");
    }
}

#[test]
fn finding_substrings() {
    gives(
        "int32 findFirst(T str, T ps)",
        &[r("banana"), r("an")],
        int32(1),
    );
    gives(
        "int32 findFirst(T str, T ps)",
        &[r("banana"), r("x")],
        int32(-1),
    );
    gives(
        "int32 findFirst(T str, T ps)",
        &[u("😀banana"), u("an")],
        int32(2),
    );
    let from = "findFirst(T str, T ps, int32 sidx)";
    gives(from, &[r("banana"), r("an"), int32(2)], int32(3));
    gives(from, &[r("banana"), r("an"), int32(-9)], int32(1));
    gives(from, &[r("banana"), r("an"), int32(4)], int32(-1));
    gives(from, &[r("banana"), r(""), int32(6)], int32(6));
    gives(from, &[r("banana"), r("a"), int32(7)], int32(-1));
    gives(from, &[u("😀a😀a"), u("a"), int32(2)], int32(3));
    let last = "findLast(T str, T ps, int32 sidx)";
    gives(last, &[r("banana"), r("an"), int32(5)], int32(3));
    gives(last, &[r("banana"), r("an"), int32(2)], int32(1));
    gives(last, &[r("banana"), r("an"), int32(0)], int32(-1));
    gives(last, &[r("banana"), r("an"), int32(-1)], int32(-1));
    gives(last, &[r("banana"), r("an"), int32(99)], int32(3));
    gives(last, &[u("😀a😀a"), u("a"), int32(9)], int32(3));
}

#[test]
fn finding_characters_of_a_set() {
    gives("findFirstOf(T str, T ps)", &[r("hello"), r("ol")], int32(2));
    gives(
        "findFirstOf(T str, T ps, int32 sidx)",
        &[r("hello"), r("ol"), int32(4)],
        int32(4),
    );
    gives("findFirstOf(T str, T ps)", &[r("hello"), r("")], int32(-1));
    gives("findFirstOf(T str, T ps)", &[u("😀😀x"), u("yx")], int32(2));
    gives(
        "findLastOf(T str, T ps, int32 sidx)",
        &[r("hello"), r("le"), int32(9)],
        int32(3),
    );
    gives(
        "findLastOf(T str, T ps, int32 sidx)",
        &[u("x😀😀"), u("x"), int32(2)],
        int32(0),
    );
    gives(
        "findLastOf(T str, T ps, int32 sidx)",
        &[r(""), r("x"), int32(2)],
        int32(-1),
    );
    gives("findFirstNotOf(T str, T ps)", &[r("aab"), r("a")], int32(2));
    gives("findFirstNotOf(T str, T ps)", &[u("aab"), u("a")], int32(2));
    gives("findFirstNotOf(T str, T ps)", &[r("aa"), r("a")], int32(-1));
    gives(
        "findFirstNotOf(T str, T ps, int32 sidx)",
        &[r("baab"), r("a"), int32(1)],
        int32(3),
    );
    gives(
        "findLastNotOf(T str, T ps, int32 sidx)",
        &[r("baaa"), r("a"), int32(3)],
        int32(0),
    );
    gives(
        "findLastNotOf(T str, T ps, int32 sidx)",
        &[u("aa"), u("a"), int32(1)],
        int32(-1),
    );
}

#[test]
fn tokens() {
    let f = "tokenize(rstring str, rstring delim, boolean keepEmptyTokens)";
    gives(
        f,
        &[r("a,b;;c"), r(",;"), boolean(false)],
        strings(["a", "b", "c"]),
    );
    gives(
        f,
        &[r("a,b;;c"), r(",;"), boolean(true)],
        strings(["a", "b", "", "c"]),
    );
    gives(
        f,
        &[r(",a,"), r(","), boolean(true)],
        strings(["", "a", ""]),
    );
    gives(f, &[r(""), r(","), boolean(true)], strings([""]));
    gives(f, &[r(""), r(","), boolean(false)], empty(Type::RString));
    gives(f, &[r("a b"), r(""), boolean(false)], strings(["a b"]));
    let f = "tokenize(ustring str, ustring delim, boolean keepEmptyTokens)";
    gives(
        f,
        &[u("a😀b😁c"), u("😀😁"), boolean(false)],
        ustrings(["a", "b", "c"]),
    );
    gives(f, &[u("a,b"), u(","), boolean(false)], ustrings(["a", "b"]));
    gives(
        "csvTokenize(rstring str)",
        &[r("a,,\"b,c\"")],
        strings(["a", "", "\"b", "c\""]),
    );
    gives("csvTokenize(ustring str)", &[u("a,")], ustrings(["a", ""]));
}

#[test]
fn tokens_into_a_list() {
    let f = "tokenize(rstring str, rstring delim, boolean keepEmptyTokens, boolean multipleDelim, \
             mutable list<rstring> tokens)";
    let tokens = |text: &str, whole: bool, into: Arg| {
        let args = [r(text), r("--"), boolean(false), boolean(!whole), into];
        run(&mut Pe::default(), f, &args, &Type::Void).1[4].text()
    };
    assert_eq!(
        tokens("a--b-c", true, strings(["old"])),
        strings(["a", "b-c"]).text()
    );
    assert_eq!(
        tokens("a--b-c", false, strings(["old"])),
        strings(["a", "b", "c"]).text()
    );
    assert_eq!(
        tokens("a--b--c", true, upto(2, empty(Type::RString))),
        upto(2, strings(["a", "b"])).text()
    );
}

#[test]
fn literals() {
    gives(
        "makeRStringLiteral(rstring str)",
        &[r("a\"\\\n\té😀\u{7f}")],
        r(r#""a\"\\\n\t\u00e9\ud83d\ude00\u007f""#),
    );
    gives(
        "makeUStringLiteral(ustring str)",
        &[u("é\0")],
        r(r#""\u00e9\0""#),
    );
    gives(
        "interpretRStringLiteral(rstring str)",
        &[r(r#""a\"\u00E9\uD83D\uDE00\q""#)],
        r("a\"é😀q"),
    );
    gives(
        "interpretUStringLiteral(rstring str)",
        &[r(r#""\u00e9 é""#)],
        u("é é"),
    );
    faults(
        "interpretRStringLiteral(rstring str)",
        &[r("abc")],
        Type::RString,
        "double quotes",
    );
    faults(
        "interpretRStringLiteral(rstring str)",
        &[r(r#""\u12""#)],
        Type::RString,
        "four hex",
    );
    faults(
        "interpretRStringLiteral(rstring str)",
        &[r(r#""a\""#)],
        Type::RString,
        "backslash",
    );
    faults(
        "makeRStringLiteral(rstring str)",
        &[r(b"\xFF")],
        Type::RString,
        "not UTF-8",
    );
}

#[test]
fn joining_keeps_bounds() {
    gives(
        "concat(rstring lstr, rstring rstr)",
        &[r("ab"), r("cd")],
        r("abcd"),
    );
    gives(
        "concat(rstring lstr, rstring rstr)",
        &[bounded("ab", 3), bounded("cd", 3)],
        bounded("abc", 3),
    );
    changes(
        "appendM(mutable rstring str, rstring value)",
        &[r("ab"), r("cd")],
        r("abcd"),
    );
    changes(
        "appendM(mutable rstring str, rstring value)",
        &[bounded("ab", 3), r("cd")],
        bounded("abc", 3),
    );
    gives("convertFromBlob(blob b)", &[blob(b"a\xFF")], r(b"a\xFF"));
    gives("convertToBlob(rstring str)", &[r("ab")], blob(b"ab"));
}

#[test]
fn encodings() {
    let bytes = |bytes: &[u8]| list(std::array::from_fn::<_, 3, _>(|at| uint8(bytes[at])));
    gives(
        "convertToUtf8(list<uint8> val, rstring enc)",
        &[bytes(b"a\xE9b"), r("ISO_8859-1")],
        r("aéb"),
    );
    let to = "convertToUtf8(rstring val, rstring enc)";
    gives(to, &[r(b"\xA4"), r("iso-8859-15")], r("€"));
    gives(to, &[r(b"\xA4"), r("ISO_8859-15")], r("€"));
    gives(to, &[r(b"\x80"), r("windows-1252")], r("€"));
    gives(to, &[r(b"\xFE\xFF\0a"), r("UTF-16")], r("a"));
    gives(to, &[r(b"a\0\x3D\xD8\0\xDE"), r("UTF-16LE")], r("a😀"));
    gives(to, &[r(b"\x83\x65"), r("Shift_JIS")], r("テ"));
    gives(to, &[r(b"a\xFF"), r("UTF-8")], r("a\u{FFFD}"));
    faults(to, &[r("a"), r("klingon")], Type::RString, "klingon");
    let from = "convertFromUtf8ToString(rstring str, rstring enc)";
    gives(from, &[r("aé€"), r("ISO-8859-1")], r(b"a\xE9\x1A"));
    gives(from, &[r("é"), r("US-ASCII")], r(b"\x1A"));
    gives(from, &[r("€漢"), r("ISO-8859-15")], r(b"\xA4\x1A"));
    gives(from, &[r("a😀"), r("UTF-16BE")], r(b"\0a\xD8\x3D\xDE\0"));
    gives(from, &[r("a"), r("UTF-32LE")], r(b"a\0\0\0"));
    gives(
        "convertFromUtf8(rstring str, rstring enc)",
        &[r("né!"), r("latin1")],
        bytes(b"n\xE9!"),
    );
}
