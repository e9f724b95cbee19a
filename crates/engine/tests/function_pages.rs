//! Pages of `docs/functions`: each has all functions of its namespace, with the prototypes and
//! texts that the library declares. `BLESS=1` writes them anew, and keeps the examples.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use eval::NativeFn;

/// Functions of a namespace by name, overloads in the order of the library.
type Names = BTreeMap<&'static str, Vec<&'static NativeFn>>;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/functions")
}

/// The function's name: `sqrt` of `<numeric T> T sqrt(T f)`.
fn name(function: &NativeFn) -> &'static str {
    let before = function.prototype.split('(').next().unwrap_or_default();
    let words = before.trim_end().rsplit([' ', '>']);
    words.into_iter().next().unwrap_or_default()
}

fn functions() -> BTreeMap<&'static str, Names> {
    let mut found: BTreeMap<_, Names> = BTreeMap::new();
    for function in toolkit::functions() {
        let names = found.entry(function.namespace).or_default();
        names.entry(name(function)).or_default().push(function);
    }
    found
}

/// Prototypes and texts of a section; overloads with one text share a block.
fn head(overloads: &[&NativeFn]) -> String {
    let mut text = String::new();
    for same in overloads.chunk_by(|a, b| a.doc == b.doc) {
        text += "```text\n";
        for function in same {
            let _ = writeln!(text, "{}", function.prototype);
        }
        let words: Vec<&str> = same[0].doc.split_whitespace().collect();
        let _ = write!(text, "```\n\n{}\n\n", words.join(" "));
    }
    text
}

/// The part of a section behind prototypes and texts: examples, or a sentence.
fn rest(section: &str) -> &str {
    let last = section.rsplit("```text\n").next().unwrap_or_default();
    let (_prototypes, text) = last.split_once("```\n\n").unwrap_or_default();
    let (_text, rest) = text.split_once("\n\n").unwrap_or_default();
    rest
}

fn check_page(namespace: &str, names: &Names) {
    let path = folder().join(format!("{namespace}.md"));
    let page = fs::read_to_string(&path).unwrap();
    let mut sections = page.split("\n## ");
    let mut expected = sections.next().unwrap().trim_end().to_owned();
    let sections = sections.filter_map(|section| section.split_once('\n'));
    let found: BTreeMap<&str, &str> = sections.collect();
    for (name, overloads) in names {
        let rest = found.get(name).map_or("", |section| rest(section));
        let section = format!("{}{}", head(overloads), rest);
        let _ = write!(expected, "\n\n## {name}\n\n{}", section.trim_end());
        let is_refused = overloads.iter().all(|one| one.unsupported.is_some());
        assert!(
            is_refused || !rest.trim().is_empty(),
            "{namespace}::{name} has no example"
        );
    }
    expected.push('\n');
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
        return;
    }
    let mut lines = expected.lines().zip(page.lines());
    let different = lines.find(|(declared, found)| declared != found);
    assert_eq!(different, None, "{namespace}: declared, and on the page");
    assert_eq!(expected.len(), page.len(), "{namespace}");
}

#[test]
fn every_function_stands_on_the_page_of_its_namespace() {
    let functions = functions();
    let files = fs::read_dir(folder()).unwrap();
    let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(".md")?.to_owned()))
        .filter(|page| page != "README")
        .collect();
    pages.sort();
    assert_eq!(pages, functions.keys().copied().collect::<Vec<_>>());
    for (namespace, names) in &functions {
        check_page(namespace, names);
    }
}
