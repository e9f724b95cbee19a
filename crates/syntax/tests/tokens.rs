//! Tokens of texts that are easily read wrongly.

use syntax::{FileId, SyntaxKind, SyntaxKind::*, tokens};
use thalweg_syntax as syntax;

/// The kinds of all tokens but white space, and the codes of what is wrong.
fn kinds(text: &str) -> (Vec<SyntaxKind>, Vec<&'static str>) {
    let (all, found) = tokens(FileId(0), text);
    let kinds = all.iter().map(|t| t.kind).filter(|k| *k != Whitespace);
    (kinds.collect(), found.iter().map(|d| d.code).collect())
}

#[test]
fn every_byte_is_in_one_token() {
    let text = "stream<int32 a> A = Op(/* b */) { } // c\r\n\u{FEFF}é \0 'd\n";
    let (all, _) = tokens(FileId(0), text);
    let mut at = 0;
    for token in all {
        assert_eq!(token.start, at);
        assert!(token.end > at);
        at = token.end;
    }
    assert_eq!(at as usize, text.len());
}

#[test]
fn the_longest_sign_wins_but_angles_stand_alone() {
    for (text, expected) in [
        ("a>>=b", vec![Ident, Gt, Gt, Eq, Ident]),
        ("a<<=b", vec![Ident, ShlEq, Ident]),
        ("a<=b", vec![Ident, LtEq, Ident]),
        ("a.>>b", vec![Ident, DotShr, Ident]),
        ("a.>=b", vec![Ident, DotGtEq, Ident]),
        ("a.b", vec![Ident, Dot, Ident]),
        ("a?.5:b", vec![Ident, Question, Number, Colon, Ident]),
        ("a??!=b", vec![Ident, QuestionQuestion, BangEq, Ident]),
        (
            "a?:b::c",
            vec![Ident, QuestionColon, Ident, ColonColon, Ident],
        ),
        ("a./*c*/b", vec![Ident, Dot, BlockComment, Ident]),
        ("a./b", vec![Ident, DotSlash, Ident]),
        ("a---b", vec![Ident, MinusMinus, Minus, Ident]),
        ("@x", vec![At, Ident]),
        ("state onProcess onTuple", vec![Ident, Ident, OnTupleKw]),
        ("$x $ y", vec![Ident, Unknown, Ident]),
    ] {
        assert_eq!(kinds(text).0, expected, "{text}");
    }
}

#[test]
fn numbers_end_where_their_letters_end() {
    for (text, expected) in [
        ("1.+2", vec![Number, Plus, Number]),
        ("1.e5", vec![Number]),
        ("1e5f", vec![Number]),
        ("10q", vec![Number]),
        ("0x1Fs", vec![Number]),
        ("[1:2]", vec![LBracket, Number, Colon, Number, RBracket]),
        ("0", vec![Number]),
        ("0.5", vec![Number]),
    ] {
        assert_eq!(kinds(text), (expected, vec![]), "{text}");
    }
    for text in [
        "00", "012", "0x", "0X1", "1k", "1uu", "1ulb", "1e", "1_000", "0x1w", "1.5x",
    ] {
        assert_eq!(
            kinds(text),
            (vec![Number], vec!["invalid-number"]),
            "{text}"
        );
    }
}

#[test]
fn raw_strings_end_at_the_next_quote_and_with_their_line() {
    for (text, expected) in [
        (r#"r"\d+\" x"#, vec![StringToken, Ident]),
        (r#"r'a"b'u;"#, vec![StringToken, Semi]),
        (r#"r"a"under"#, vec![StringToken, Ident]),
        (r#"ar"a""#, vec![Ident, StringToken]),
    ] {
        assert_eq!(kinds(text), (expected, vec![]), "{text}");
    }
    let (found, codes) = kinds("x = r\"\\d+;\ny : r'b';\n");
    assert_eq!(codes, ["unterminated-string"]);
    let line = [Ident, Eq, StringToken, Ident, Colon, StringToken, Semi];
    assert_eq!(found, line);
    assert_eq!(kinds("r\"").1, ["unterminated-string"]);
    // A pattern with an escaped quote.
    for text in [r#"r"\"(\w+)\" x";"#, r#"r"a \" (b)";"#, r"r'it\'s';"] {
        let found = (vec![StringToken, Semi], vec!["raw-string-goes-on"]);
        assert_eq!(kinds(text), found, "{text}");
    }
    for text in [r#"r"C:\", "x""#, r#"r"C:\" + "x""#, r#"r"\" in "x""#] {
        assert_eq!(kinds(text).1, [""; 0], "{text}");
    }
}

#[test]
fn strings_may_span_lines_but_a_forgotten_quote_stays_on_its_line() {
    assert_eq!(kinds("\"a\nb\"r"), (vec![StringToken], vec![]));
    assert_eq!(kinds("'it''s'"), (vec![StringToken, StringToken], vec![]));
    let (found, codes) = kinds("x : \"a;\ny : \"b\";\n");
    assert_eq!(codes, ["unterminated-string"]);
    assert_eq!(
        found,
        [Ident, Colon, StringToken, Ident, Colon, StringToken, Semi]
    );
    assert_eq!(kinds("\"never").1, ["unterminated-string"]);
    assert_eq!(kinds("\"\\").1, ["unterminated-string"]);
    assert_eq!(kinds("/* never").1, ["unterminated-comment"]);
    assert_eq!(
        kinds("/**/ /***/ //").0,
        [BlockComment, BlockComment, LineComment]
    );
}
