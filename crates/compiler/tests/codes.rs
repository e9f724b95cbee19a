//! The page of diagnostic codes: every code that is reported is explained, and every example
//! reports its code.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use compiler::codes::{self, CodeExample};
use support::input;
use thalweg_compiler as compiler;

/// Codes without examples: faults of the compiler, of files and of values from outside, and what
/// only a long program or a toolkit of several files shows.
const WITHOUT_EXAMPLES: &[&str] = &[
    "ambiguous-call",
    "ambiguous-name",
    "deep-composites",
    "formal-too-large",
    "intrinsic-not-allowed",
    "mixed-mode",
    "not-an-attribute",
    "not-compiled",
    "not-public",
    "outside-function",
    "too-deep",
    "too-many-errors",
    "too-many-operators",
    "type-too-deep",
    "type-too-large",
    "unknown-stream-type",
    "unreadable-file",
    "unsupported-operator",
    "unused-value",
];

#[test]
fn examples_report_their_codes() {
    let mut failed = Vec::new();
    for code in codes::all() {
        match &code.examples[..] {
            [] if WITHOUT_EXAMPLES.contains(&code.code) => {}
            [wrong, right] => {
                let (said, text) = compile(wrong);
                if !said.contains(&code.code) {
                    failed.push(format!("wrong example of {}:\n{text}", code.code));
                }
                let (said, text) = compile(right);
                if said.contains(&code.code) || text.contains("error[") {
                    failed.push(format!("right example of {}:\n{text}", code.code));
                }
            }
            _ => failed.push(format!("{} has no two examples", code.code)),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_code_that_is_reported_is_explained() {
    let mut reported = BTreeSet::new();
    for name in ["syntax", "compiler", "engine"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        collect_codes(&folder.join("src"), &mut reported);
    }
    assert!(reported.len() > 100, "the sources are there");
    let listed: Vec<_> = codes::all().map(|code| code.code.to_owned()).collect();
    let explained: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), explained.len(), "a code is explained twice");
    let missing: Vec<_> = reported.difference(&explained).collect();
    assert!(missing.is_empty(), "not explained: {missing:?}");
    let idle: Vec<_> = explained.difference(&reported).collect();
    assert!(idle.is_empty(), "explained and never reported: {idle:?}");
}

#[test]
fn sections_stand_alone() {
    for code in codes::all() {
        let sentences = code.sentences;
        assert!(sentences.ends_with('.'), "{sentences}");
        assert!(sentences.matches(". ").count() >= 1, "{sentences}");
        let text = code.to_string();
        assert!(
            text.starts_with(code.code) && !text.contains("```"),
            "{text}"
        );
    }
}

/// The codes that an example reports, and the report.
fn compile(example: &CodeExample) -> (Vec<&'static str>, String) {
    let output = compiler::compile(input("example.spl", &example.program(), None));
    let said = output.diagnostics.iter().map(|found| found.code).collect();
    let text = syntax::render(&output.diagnostics, &output.sources, false);
    (said, text)
}

/// Adds the codes that the sources of a folder report: what stands between quotes in kebab case.
fn collect_codes(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("its entries can be read").path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else if has_codes(&path) {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let literals = text.split('"');
            codes.extend(literals.filter(|text| is_code(text)).map(str::to_owned));
        }
    }
}

/// Whether a file is a source that can report something: not a test, and not the table itself.
fn has_codes(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.extension().is_some_and(|e| e == "rs") && name != "tests.rs" && name != "codes.rs"
}

/// Whether a literal has the form of a code: words in lower case with hyphens between.
fn is_code(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
    text.contains('-') && text.split('-').all(is_word)
}
