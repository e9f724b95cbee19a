//! TypeDefinitions of types: in which files, and that each name is defined once.

use std::collections::BTreeMap;

use super::TidySource;

/// A type that a source file defines.
pub struct TypeDefinition {
    /// The name of the type.
    pub name: String,
    /// The line, from 1 on.
    pub line: usize,
}

/// Findings: names that two files define.
///
/// Each crate has one `Error`; types in a module `ast` are always written with the module's name.
pub fn check(sources: &[TidySource]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| !is_syntax_tree(source)) {
        for TypeDefinition { name, line } in definitions(source) {
            if name != "Error" {
                let place = format!("{}:{line}", source.path);
                places.entry(name).or_default().push(place);
            }
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    twice
        .map(|(name, places)| {
            format!(
                "{}: `{name}` is defined elsewhere, too: {}",
                places[0],
                places[1..].join(", ")
            )
        })
        .collect()
}

fn is_syntax_tree(source: &TidySource) -> bool {
    source.path.ends_with("/ast.rs") || source.path.contains("/ast/")
}

/// The structs, enums, traits, unions and type aliases of a file; none of files that only test.
pub fn definitions(source: &TidySource) -> Vec<TypeDefinition> {
    if is_test(&source.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        if line == "#[cfg(test)]" {
            break;
        }
        if let Some(name) = name(line) {
            let line = at + 1;
            found.push(TypeDefinition { name, line });
        }
    }
    found
}

fn is_test(path: &str) -> bool {
    let mut parts = path.split('/');
    parts.any(|part| ["tests", "tests.rs", "benches", "fuzz"].contains(&part))
}

/// The name that a line at a module's level defines. Relies on rustfmt.
fn name(line: &str) -> Option<String> {
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.peek() {
        if !(word.starts_with("pub") || *word == "unsafe") {
            break;
        }
        let is_open = word.contains('(') && !word.ends_with(')');
        words.next();
        if is_open {
            words.find(|word| word.ends_with(')'));
        }
    }
    let kind = words.next()?;
    if !["struct", "enum", "trait", "union", "type"].contains(&kind) {
        return None;
    }
    let name: String = words
        .next()?
        .chars()
        .take_while(|c| c.is_alphanumeric())
        .collect();
    name.starts_with(char::is_uppercase).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn definitions_are_seen() {
        assert_eq!(
            name("pub(crate) struct House<'a> {").as_deref(),
            Some("House")
        );
        assert_eq!(name("pub(in crate::a) enum Way {").as_deref(), Some("Way"));
        assert_eq!(name("    type Item = u8;"), None);
        assert_eq!(name("let type_ = 1;"), None);
    }
}
