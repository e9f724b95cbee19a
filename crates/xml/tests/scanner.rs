//! XML text in pieces: wherever they end, the scanner says the same of it, and it never panics.

use proptest::prelude::*;
use thalweg_xml::{Scanner, ScannerLimits, XmlToken};

const LIMITS: ScannerLimits = ScannerLimits {
    depth: 5,
    item_bytes: 30,
};

/// All tokens up to the first mistake, and the mistake with its line.
fn scan(bytes: &[u8], piece: usize) -> (Vec<XmlToken>, Result<(), (String, u64)>) {
    let mut scanner = Scanner::for_several_documents(LIMITS);
    let mut tokens = Vec::new();
    for piece in bytes.chunks(piece) {
        scanner.push(piece);
        loop {
            match scanner.token() {
                Ok(Some(token)) => tokens.push(token),
                Ok(None) => break,
                Err(why) => return (tokens, Err((why, scanner.line()))),
            }
        }
    }
    let end = scanner.end();
    let line = scanner.line();
    (tokens, end.map_err(|why| (why, line)))
}

/// Texts that are often well-formed for a while.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let parts = [
        "<a>",
        "</a>",
        "<b/>",
        "<b c='1'>",
        "</b>",
        "x",
        " ",
        "\n",
        "\r\n",
        "&lt;",
        "&#65;",
        "&",
        "<!-- c -->",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?p q?>",
        "<?xml version='1.0'?>",
        "<!DOCTYPE a [",
        "<!ENTITY e '>'>",
        "]>",
        "<",
        ">",
        "'",
        "\"",
        "/",
        "=",
        "\u{E9}",
        "\u{FEFF}",
        "\u{1}",
    ];
    let part = prop_oneof![
        8 => prop::sample::select(parts.to_vec()).prop_map(|part| part.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pieces_do_not_matter(text in texts(), piece in 1_usize..9) {
        let whole = scan(&text, text.len().max(1));
        prop_assert_eq!(scan(&text, piece), whole);
    }
}

#[test]
fn a_document_alone_is_one_document() {
    for (text, why) in [
        ("<a/><b/>", Err("a second root element")),
        ("<!-- c -->", Err("it has no element")),
        ("", Err("it has no element")),
        (
            " <?xml version='1.0'?><a/>",
            Err("an XML declaration inside"),
        ),
        (
            "\u{FEFF}<?xml version='1.0'?><?xml-style x?><a/> <!-- c -->\n",
            Ok(()),
        ),
    ] {
        let mut scanner = Scanner::new(LIMITS);
        scanner.push(text.as_bytes());
        let said = loop {
            match scanner.token() {
                Ok(Some(_)) => {}
                Ok(None) => break scanner.end(),
                Err(why) => break Err(why),
            }
        };
        assert_eq!(said, why.map_err(str::to_owned), "{text}");
    }
}
