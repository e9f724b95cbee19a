//! Rules for a whole file: its doc, its size, its name, and words that must not stand in it.

use super::TidySource;

/// Past this, look for the second idea.
const LINES_MAX: usize = 600;

/// Names that say nothing.
const VAGUE_NAMES: [&str; 8] = [
    "common.rs",
    "util.rs",
    "utils.rs",
    "core.rs",
    "base.rs",
    "helper.rs",
    "helpers.rs",
    "manager.rs",
];

/// Findings on one file.
pub fn check(source: &TidySource) -> Vec<String> {
    let TidySource { path, text } = source;
    let mut findings = Vec::new();
    if !text.starts_with("//!") {
        findings.push(format!("{path}:1: no module doc"));
    }
    let lines = text.lines().count();
    if lines > LINES_MAX {
        findings.push(format!("{path}: {lines} lines, at most {LINES_MAX}"));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if VAGUE_NAMES.contains(&name) {
        findings.push(format!("{path}: a name that says nothing"));
    }
    findings.extend(find_forbidden_words(source));
    findings
}

fn find_forbidden_words(source: &TidySource) -> Vec<String> {
    // Put together here so that this file does not find itself.
    let forbidden = [
        concat!("todo", "!("),
        concat!("unimplemented", "!("),
        concat!("#[", "ignore"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
    ];
    let lines = source.text.lines().enumerate();
    let found = lines.flat_map(|(at, line)| {
        let found = forbidden.iter().filter(move |word| line.contains(**word));
        found.map(move |word| format!("{}:{}: `{word}`", source.path, at + 1))
    });
    found.collect()
}
