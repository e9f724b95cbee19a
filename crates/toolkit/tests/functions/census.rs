//! The list of functions is the language's: every prototype, once, documented and well-formed.

use std::collections::BTreeSet;

/// Prototypes by namespace; a line with `#` begins a namespace.
const CENSUS: &str = include_str!("census.txt");

fn census() -> BTreeSet<(String, String)> {
    let mut namespace = "";
    let mut all = BTreeSet::new();
    for line in CENSUS.lines() {
        match line.strip_prefix("# ") {
            Some(name) => namespace = name,
            None => {
                all.insert((namespace.to_string(), canonical(line)));
            }
        }
    }
    all
}

/// Without the blanks that make no difference.
fn canonical(prototype: &str) -> String {
    let words = prototype.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(", ", ",")
}

#[test]
fn every_prototype_of_the_language_is_declared_once() {
    let mut declared = BTreeSet::new();
    for f in toolkit::functions() {
        let new = declared.insert((f.namespace.to_string(), canonical(f.prototype)));
        assert!(new, "{} {} is declared twice", f.namespace, f.prototype);
    }
    let census = census();
    let missing: Vec<_> = census.difference(&declared).collect();
    let unknown: Vec<_> = declared.difference(&census).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:#?} unknown {unknown:#?}"
    );
}

#[test]
fn every_prototype_parses() {
    for f in toolkit::functions() {
        let parsed = syntax::parse_prototype(f.prototype);
        let parsed = parsed.unwrap_or_else(|e| panic!("{}: {e}", f.prototype));
        assert!(
            f.prototype.contains(&format!(" {}(", parsed.name.text)),
            "{}",
            f.prototype
        );
    }
}

#[test]
fn every_function_is_documented_in_sentences() {
    for f in toolkit::functions() {
        assert!(f.doc.ends_with('.'), "{}: {}", f.prototype, f.doc);
        assert!(!f.doc.contains("  "), "{}: {}", f.prototype, f.doc);
        let first = f.doc.chars().next().expect("a doc is not empty");
        assert!(
            first.is_uppercase() || "`-e".contains(first),
            "{}: {}",
            f.prototype,
            f.doc
        );
    }
}

#[test]
fn namespaces_stand_together() {
    let mut seen: Vec<&str> = Vec::new();
    for f in toolkit::functions() {
        if seen.last() != Some(&f.namespace) {
            assert!(!seen.contains(&f.namespace), "{} comes twice", f.namespace);
            seen.push(f.namespace);
        }
    }
}
