//! Tiers within a crate: its folders in the order of its manifest, with arrows one way.
//!
//! ```toml
//! [package.metadata.tiers]
//! # From the bottom: a folder or file of `src` uses only those that stand before it.
//! order = ["contract", "services", "execution"]
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::map;

/// Findings: arrows that run up, and entries that the list does not have or that are not there.
pub fn check(root: &Path) -> Vec<String> {
    let arrows = map::file_arrows(root);
    let mut findings = Vec::new();
    for (_, folder) in map::packages(root) {
        let Some(order) = order(&root.join(&folder).join("Cargo.toml")) else {
            continue;
        };
        let source = format!("{}/src/", folder.display());
        findings.extend(unlisted(root, &source, &order));
        for (from, to, names) in &arrows {
            let places = (tier(from, &source, &order), tier(to, &source, &order));
            if let (Some(lower), Some(upper)) = places
                && lower < upper
            {
                findings.push(format!(
                    "{from}: uses {names} of {to}, a tier above (`{}` stands before `{}`)",
                    order[lower], order[upper]
                ));
            }
        }
    }
    findings
}

/// The tiers of a crate, from the bottom; `None` where its manifest lists none.
pub fn order(manifest: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(manifest).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let tiers = table.get("package")?.get("metadata")?.get("tiers")?;
    let order = tiers.get("order")?.as_array()?.iter();
    order
        .map(|entry| entry.as_str().map(str::to_owned))
        .collect()
}

/// The place in the list of a file's folder, or of the file itself, directly below `src`.
fn tier(file: &str, source: &str, order: &[String]) -> Option<usize> {
    let entry = entry(file, source)?;
    order.iter().position(|tier| *tier == entry)
}

fn entry(file: &str, source: &str) -> Option<String> {
    let first = file.strip_prefix(source)?.split('/').next()?;
    let name = first.trim_end_matches(".rs");
    (!["lib", "main", "tests"].contains(&name)).then(|| name.to_owned())
}

fn unlisted(root: &Path, source: &str, order: &[String]) -> Vec<String> {
    let files = fs::read_dir(root.join(source))
        .into_iter()
        .flatten()
        .flatten();
    let files = files.filter(|file| file.path().is_dir() || is_source(&file.path()));
    let files = files.map(|file| format!("{source}{}", file.file_name().to_string_lossy()));
    let there: BTreeSet<String> = files.filter_map(|file| entry(&file, source)).collect();
    let listed: BTreeSet<String> = order.iter().cloned().collect();
    let missing = there.difference(&listed);
    let missing = missing.map(|name| format!("{source}{name}: not in the crate's tiers"));
    let gone = listed.difference(&there);
    missing
        .chain(gone.map(|name| format!("{source}: its tier `{name}` is not there")))
        .collect()
}

fn is_source(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "rs")
}
