//! The table of words in CONTRIBUTING.md, held by the names of types and files: a word of its
//! column "not" is part of no name.

use std::fs;
use std::path::Path;

use super::TidySource;
use super::definitions::{TypeDefinition, definitions};

/// Words of the column "not" that have a second, proper meaning in one place.
const MEANT: [(&str, &str); 3] = [
    // SPL's operator.
    ("gate", "crates/toolkit/src/utility/gate.rs"),
    // A slot of a layout is where an attribute lies.
    ("slot", "crates/tuple/src/layout"),
    ("topic", "pubsub/topic"),
];

/// Findings on the names of types and files.
pub fn check(root: &Path, sources: &[TidySource]) -> Vec<String> {
    let table = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap_or_default();
    let words = refused(&table);
    if words.is_empty() {
        return vec!["CONTRIBUTING.md: no table of words below \"## Words\"".to_owned()];
    }
    let mut findings = Vec::new();
    for source in sources {
        for part in source.path.trim_end_matches(".rs").split('/') {
            findings.extend(offence(&words, &source.path, part).map(|word| {
                format!(
                    "{}: `{word}` in a file's name; CONTRIBUTING.md says which word to use",
                    source.path
                )
            }));
        }
        for TypeDefinition { name, line } in definitions(source) {
            findings.extend(offence(&words, &source.path, &name).map(|word| {
                format!(
                    "{}:{line}: `{word}` in `{name}`; CONTRIBUTING.md says which word to use",
                    source.path
                )
            }));
        }
    }
    findings
}

/// The words in backticks in the last column of the table.
fn refused(text: &str) -> Vec<String> {
    let section = text.split("\n## Words\n").nth(1).unwrap_or("");
    let section = section.split("\n## ").next().unwrap_or("");
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.trim_end().trim_end_matches('|').rsplit('|').next());
    cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

fn offence<'a>(words: &'a [String], path: &str, name: &str) -> Option<&'a String> {
    let parts = split(name);
    words.iter().find(|word| {
        parts.contains(word)
            && !MEANT
                .iter()
                .any(|(meant, place)| meant == word && path.starts_with(place))
    })
}

/// The words of a name in camel or snake case, in lower case.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut begins = true;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            begins = true;
            continue;
        }
        if begins || letter.is_uppercase() {
            words.push(String::new());
        }
        begins = false;
        let word = words.last_mut().expect("a word was begun");
        word.extend(letter.to_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{refused, split};

    #[test]
    fn names_and_the_table_are_read() {
        assert_eq!(split("QueueState"), ["queue", "state"]);
        assert_eq!(split("order_position"), ["order", "position"]);
        let table = "# A\n## Words\n\n| word | means | not |\n| --- | --- | --- |\n| edge | x `y` | `link`, `wire` |\n## B\n| a | `c` |\n";
        assert_eq!(refused(table), ["link", "wire"]);
    }
}
