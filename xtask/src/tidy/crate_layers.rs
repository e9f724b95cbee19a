//! The arrows between crates: this table, the manifests and the code say the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::map;

/// Crate, and the crates that its code uses.
const LAYERS: &[(&str, &[&str])] = &[
    ("tuple", &[]),
    ("ring", &[]),
    ("fabric", &[]),
    ("sampling", &[]),
    ("plugin", &["ring"]),
    ("syntax", &[]),
    ("xml", &["tuple"]),
    ("graph", &["tuple", "syntax"]),
    ("eval", &["graph", "tuple", "xml"]),
    ("planner", &["syntax", "graph", "tuple"]),
    ("compiler", &["syntax", "graph", "eval", "planner", "tuple"]),
    ("transport", &["ring", "fabric", "plugin"]),
    (
        "runtime",
        &["transport", "eval", "graph", "tuple", "ring", "sampling"],
    ),
    ("jit", &["runtime", "eval", "graph", "tuple"]),
    ("toolkit", &["runtime", "eval", "graph", "tuple", "xml"]),
    (
        "engine",
        &[
            "syntax",
            "compiler",
            "planner",
            "eval",
            "graph",
            "tuple",
            "ring",
            "transport",
            "runtime",
            "jit",
            "toolkit",
        ],
    ),
    (
        "lsp",
        &["compiler", "engine", "graph", "syntax", "toolkit", "tuple"],
    ),
    ("measure", &[]),
    ("nexmark", &[]),
    ("topic", &["ring"]),
    ("perf", &["topic", "measure", "transport"]),
    ("capi", &["topic"]),
    ("cli", &["engine", "graph", "lsp"]),
    ("control", &["fabric", "ring", "transport"]),
    ("conformance", &["ring", "transport"]),
    (
        "suite",
        &["control", "measure", "nexmark", "planner", "transport"],
    ),
    (
        "bench",
        &["measure", "perf", "planner", "suite", "transport"],
    ),
    (
        "micro",
        &[
            "control", "engine", "eval", "graph", "jit", "planner", "runtime", "toolkit", "tuple",
        ],
    ),
    (
        "peers",
        &[
            "control",
            "engine",
            "measure",
            "nexmark",
            "suite",
            "transport",
        ],
    ),
];

/// Crate, a crate that it uses, and the one module of it that it may name.
const NARROW: &[(&str, &str, &str)] = &[("jit", "runtime", "abi")];

/// Findings on the table, on the manifests and on the code. Dependencies of tests are free.
pub fn check(root: &Path) -> Vec<String> {
    let paths = map::crate_paths(root);
    let mut findings = Vec::new();
    for (name, folder) in map::packages(root) {
        let Some((_, listed)) = LAYERS.iter().find(|(from, _)| *from == name) else {
            findings.push(format!("{name}: a crate without a row in LAYERS"));
            continue;
        };
        let listed: BTreeSet<String> = listed.iter().map(|to| (*to).to_owned()).collect();
        let used = paths.iter().filter(|(from, ..)| *from == name);
        let used = used.map(|(.., path)| path[0].clone()).collect();
        let declared = declared(&root.join(folder).join("Cargo.toml"));
        for (place, found) in [("Cargo.toml", declared), ("the code", used)] {
            findings.extend(
                found
                    .difference(&listed)
                    .map(|to| format!("{name}: {place} has {name} -> {to}, which LAYERS has not")),
            );
            findings.extend(
                listed
                    .difference(&found)
                    .map(|to| format!("{name}: LAYERS has {name} -> {to}, which {place} has not")),
            );
        }
    }
    findings.extend(paths.iter().filter_map(|(from, file, path)| {
        let (.., module) = NARROW
            .iter()
            .find(|(by, of, _)| by == from && *of == path[0])?;
        let beyond = path.get(1).is_some_and(|next| next != module);
        beyond.then(|| {
            format!(
                "{file}: `{}` is not of {}::{module}",
                path.join("::"),
                path[0]
            )
        })
    }));
    findings
}

/// The crates of the workspace among the dependencies of a manifest.
fn declared(manifest: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let dependencies = table.get("dependencies").and_then(|d| d.as_table());
    let names = dependencies.into_iter().flat_map(|d| d.keys());
    names
        .filter(|name| LAYERS.iter().any(|(ours, _)| ours == name))
        .cloned()
        .collect()
}
