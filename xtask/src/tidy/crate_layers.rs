//! The arrows between crates, complete: any other is a finding.

use std::fs;
use std::path::Path;

/// Crate, and the crates it may use. `*` is every crate of a lower floor.
const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("tuple", &[]),
    ("ring", &[]),
    ("syntax", &[]),
    ("graph", &["tuple"]),
    ("compiler", &["syntax", "graph", "tuple"]),
    ("transport", &["ring", "tuple"]),
    ("runtime", &["transport", "graph", "tuple", "ring"]),
    ("jit", &["runtime", "graph", "tuple"]),
    ("toolkit", &["runtime", "graph", "tuple"]),
    (
        "engine",
        &[
            "syntax",
            "compiler",
            "graph",
            "tuple",
            "ring",
            "transport",
            "runtime",
            "jit",
            "toolkit",
        ],
    ),
    ("measure", &[]),
    ("topic", &["ring"]),
    ("perf", &["topic", "measure", "ring"]),
    ("capi", &["topic"]),
    (
        "suite",
        &["engine", "measure", "graph", "tuple", "ring", "transport"],
    ),
    (
        "cli",
        &["engine", "graph", "ring", "measure", "perf", "suite"],
    ),
];

/// Findings on `crates/*/Cargo.toml`; dependencies of tests are free.
pub fn check(root: &Path) -> Vec<String> {
    let mut findings = Vec::new();
    for entry in fs::read_dir(root.join("crates"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((_, allowed)) = ALLOWED_DEPENDENCIES.iter().find(|(from, _)| *from == name) else {
            findings.push(format!(
                "crates/{name}: a crate that the table of arrows does not know"
            ));
            continue;
        };
        let used = workspace_dependencies(&entry.path().join("Cargo.toml"));
        let wrong = used.iter().filter(|used| !allowed.contains(&used.as_str()));
        findings.extend(wrong.map(|to| {
            format!("crates/{name}/Cargo.toml: the arrow {name} -> {to} is not in the table")
        }));
    }
    findings
}

fn workspace_dependencies(manifest: &Path) -> Vec<String> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let dependencies = table.get("dependencies").and_then(|d| d.as_table());
    let names = dependencies.into_iter().flat_map(|d| d.keys());
    names
        .filter(|name| ALLOWED_DEPENDENCIES.iter().any(|(ours, _)| ours == name))
        .cloned()
        .collect()
}
