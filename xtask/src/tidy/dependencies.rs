//! Every dependency has its line, with a reason, in docs/dependencies.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::map;

/// Findings: dependencies without a line, and lines without a dependency.
pub fn check(root: &Path) -> Vec<String> {
    let shared = read_table(&root.join("Cargo.toml"));
    let shared = shared.get("workspace").and_then(|w| w.get("dependencies"));
    let is_own = |name: &str| shared.is_some_and(|all| has_path(all.get(name)));
    let used: BTreeSet<String> = manifests(root)
        .iter()
        .flat_map(|path| external_dependencies(path, is_own))
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

fn read_table(manifest: &Path) -> toml::Table {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn has_path(dependency: Option<&toml::Value>) -> bool {
    dependency.is_some_and(|one| one.get("path").is_some())
}

/// Names of a crate's dependencies that are not crates of the project; `is_own` says whether one of
/// the workspace's dependencies is.
fn external_dependencies(manifest: &Path, is_own: impl Fn(&str) -> bool) -> Vec<String> {
    let table = read_table(manifest);
    let targets = table.get("target").and_then(|targets| targets.as_table());
    let targets = targets.into_iter().flatten();
    let tables = targets.filter_map(|(_, target)| target.as_table());
    let sections = tables.chain([&table]).flat_map(|table| {
        let names = ["dependencies", "dev-dependencies", "build-dependencies"];
        names
            .into_iter()
            .filter_map(|name| table.get(name)?.as_table())
    });
    let is_ours = |name: &str, value: &toml::Value| {
        has_path(Some(value)) || value.get("workspace").is_some() && is_own(name)
    };
    let names = sections.flatten();
    let names = names.filter(|(name, value)| !is_ours(name, value));
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
