//! Any text: lexing, parsing, rendering and formatting neither panic nor lose a byte.
//!
//! `cargo +nightly fuzz run parse`

#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_syntax::{FileId, SourceMap, format, parse, render, with_deep_stack};

/// Trees of shorter texts are not so high that they need more stack than there is.
const SHORT_BYTES: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match text.len() < SHORT_BYTES {
        true => holds(&text),
        false => with_deep_stack(|| holds(&text)).expect("there is a thread"),
    }
});

fn holds(text: &str) {
    let parsed = parse(FileId(0), text);
    assert_eq!(
        parsed.tree.text().to_string(),
        text,
        "the tree keeps the text"
    );
    let mut sources = SourceMap::default();
    sources.add("fuzz.spl".as_ref(), text);
    let shown = render(&parsed.diagnostics, &sources, false);
    assert_eq!(shown.is_empty(), parsed.diagnostics.is_empty());
    if let Ok(once) = format(text) {
        let twice = format(&once);
        assert_eq!(
            twice.as_ref(),
            Ok(&once),
            "formatting twice is formatting once"
        );
    }
}
