//! Every dependency has its line, with a reason, in docs/dependencies.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::map;

/// Findings: dependencies without a line, and lines without a dependency.
pub fn check(root: &Path) -> Vec<String> {
    let used: BTreeSet<String> = manifests(root)
        .iter()
        .flat_map(|path| external_dependencies(path))
        .collect();
    let page = fs::read_to_string(root.join("docs/dependencies.md")).unwrap_or_default();
    let listed: BTreeSet<String> = page.lines().filter_map(parse_row).collect();
    let missing = used.difference(&listed).map(|name| {
        format!("docs/dependencies.md: `{name}` is used but has no line with its reason")
    });
    let stale = listed
        .difference(&used)
        .map(|name| format!("docs/dependencies.md: `{name}` has a line but is not used"));
    missing.chain(stale).collect()
}

fn manifests(root: &Path) -> Vec<std::path::PathBuf> {
    let crates = map::packages(root).into_iter();
    let crates = crates.map(|(_, folder)| root.join(folder).join("Cargo.toml"));
    let others = ["testkit", "xtask", "fuzz"].map(|name| root.join(name).join("Cargo.toml"));
    crates.chain(others).collect()
}

fn external_dependencies(manifest: &Path) -> Vec<String> {
    let table: toml::Table = fs::read_to_string(manifest)
        .unwrap_or_default()
        .parse()
        .unwrap_or_default();
    let targets = table.get("target").and_then(|targets| targets.as_table());
    let targets = targets.into_iter().flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table());
    let sections = tables.chain([&table]).flat_map(|table| {
        let names = ["dependencies", "dev-dependencies", "build-dependencies"];
        names
            .into_iter()
            .filter_map(|name| table.get(name)?.as_table())
    });
    let ours = |value: &toml::Value| {
        value
            .as_table()
            .is_some_and(|t| t.contains_key("workspace") || t.contains_key("path"))
    };
    let names = sections.flatten().filter(|(_, value)| !ours(value));
    names.map(|(name, _)| name.clone()).collect()
}

/// The first cell of a table row: `| serde | ...` or ``| `serde` | ...``.
fn parse_row(line: &str) -> Option<String> {
    let cell = line
        .strip_prefix('|')?
        .split('|')
        .next()?
        .trim()
        .trim_matches('`');
    let is_name = !cell.is_empty()
        && cell != "crate"
        && cell
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && cell.chars().any(|c| c.is_ascii_alphabetic());
    is_name.then(|| cell.to_owned())
}
