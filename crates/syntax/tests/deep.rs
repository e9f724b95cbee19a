//! Programs that were generated: sums of thousands of terms, chains of `else if`; and nesting
//! without end, which is refused in a sentence.

use thalweg_syntax::{FileId, format, parse, with_deep_stack};

/// Codes of the diagnostics of a text, after its tree was walked, printed, formatted and dropped.
fn codes(text: &str) -> Vec<&'static str> {
    let walked = with_deep_stack(|| {
        let parsed = parse(FileId(0), text);
        assert_eq!(parsed.tree.text().to_string(), text);
        let codes: Vec<_> = parsed.diagnostics.iter().map(|d| d.code).collect();
        if codes.is_empty() {
            let once = format(text).expect("nothing is wrong with it");
            assert_eq!(format(&once).as_ref(), Ok(&once));
        }
        codes
    });
    walked.expect("there is a thread")
}

fn function(body: &str) -> String {
    format!("void f() {{\n    {body}\n}}\n")
}

fn chain(else_ifs: usize) -> String {
    let more = " else if (a) { b(); }".repeat(else_ifs);
    function(&format!("if (a) {{ b(); }}{more} else {{ c(); }}"))
}

#[test]
fn long_sums_are_no_nesting() {
    for operator in ["+", "&&", "==", "-"] {
        let sum = |terms: usize| function(&format!("x = {};", vec!["a"; terms].join(operator)));
        assert_eq!(codes(&sum(8_000)), [""; 0], "{operator}");
        assert_eq!(codes(&sum(10_000)), ["too-deep"], "{operator}");
    }
    let fields = |count: usize| function(&format!("x = a{};", ".b".repeat(count)));
    assert_eq!(codes(&fields(8_000)), [""; 0]);
    assert_eq!(codes(&fields(10_000)), ["too-deep"]);
}

#[test]
fn long_chains_of_else_if_are_no_nesting() {
    assert_eq!(codes(&chain(4_096)), [""; 0]);
    assert_eq!(codes(&chain(4_097)), ["too-deep"]);
    assert_eq!(codes(&chain(100_000)), ["too-deep"]);
    // Chains in chains count together.
    let inner = "if (a) {} else if (a) {}";
    let wrapped = (0..200).fold(inner.to_owned(), |inner, _| {
        let else_ifs = " else if (a) {}".repeat(30);
        format!("if (a) {{}}{else_ifs} else if (b) {{ {inner} }}")
    });
    assert_eq!(codes(&function(&wrapped))[0], "too-deep");
}

#[test]
fn a_hundred_thousand_parentheses_are_refused() {
    const DEPTH: usize = 100_000;
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("f(", ")"),
        ("{a=", "}"),
        ("-", ""),
        ("a ? b : ", ""),
    ] {
        let text = function(&format!(
            "x = {}a{};",
            open.repeat(DEPTH),
            close.repeat(DEPTH)
        ));
        assert_eq!(codes(&text)[0], "too-deep", "{open}");
    }
    let text = function(&format!("{}{}", "{".repeat(DEPTH), "}".repeat(DEPTH)));
    assert_eq!(codes(&text)[0], "too-deep");
    let text = function(&format!("{}b();", "if (a) ".repeat(DEPTH)));
    assert_eq!(codes(&text)[0], "too-deep");
}
