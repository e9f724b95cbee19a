//! The code seen from above: packages, the arrows between crates and files, circles.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::{arrows, circles as find, paths_to_crates, read};
use crate::tidy::tiers;

/// Folders whose packages are looked at.
const FOLDERS: [&str; 3] = ["crates", "lab", "pubsub"];

/// Each package: its name as code writes it, and its folder.
pub fn packages(root: &Path) -> Vec<(String, PathBuf)> {
    let mut packages = Vec::new();
    for folder in FOLDERS {
        let entries = fs::read_dir(root.join(folder));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            packages.push((name.clone(), Path::new(folder).join(name)));
        }
    }
    packages.sort_by(|a: &(String, PathBuf), b| a.1.cmp(&b.1));
    packages
}

/// The map: each package with its description, its tiers from the bottom, and the packages it uses,
/// as a table; whoever is used stands above.
pub fn print(root: &Path) -> String {
    let paths = crate_paths(root);
    let mut text =
        "| crate | holds | tiers, from the bottom | uses |\n| --- | --- | --- | --- |\n".to_owned();
    for (name, folder) in from_the_bottom(packages(root), &paths) {
        let manifest = root.join(&folder).join("Cargo.toml");
        let tiers = tiers::order(&manifest).unwrap_or_default();
        let uses: BTreeSet<&str> = uses(&name, &paths).collect();
        let uses: Vec<&str> = uses.into_iter().collect();
        text += &format!(
            "| `{}` | {} | {} | {} |\n",
            folder.display(),
            description(&manifest),
            tiers.join(", "),
            uses.join(", ")
        );
    }
    text
}

/// Packages in an order in which each stands behind those that it uses.
fn from_the_bottom(
    mut left: Vec<(String, PathBuf)>,
    paths: &[(String, String, Vec<String>)],
) -> Vec<(String, PathBuf)> {
    let mut ordered: Vec<(String, PathBuf)> = Vec::new();
    while !left.is_empty() {
        let is_ready = |(name, _): &(String, PathBuf)| {
            uses(name, paths)
                .all(|used| !left.iter().any(|(other, _)| other == used && other != name))
        };
        let next = left.iter().position(is_ready).unwrap_or(0);
        ordered.push(left.remove(next));
    }
    ordered
}

fn uses<'a>(
    name: &'a str,
    paths: &'a [(String, String, Vec<String>)],
) -> impl Iterator<Item = &'a str> {
    paths
        .iter()
        .filter(move |(from, ..)| from == name)
        .map(|(.., path)| &*path[0])
}

fn description(manifest: &Path) -> String {
    let text = fs::read_to_string(manifest).unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    let package = table
        .get("package")
        .and_then(|package| package.get("description"));
    package
        .and_then(|text| text.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// Every arrow between files: from, to, and the names that are used.
pub fn file_arrows(root: &Path) -> Vec<(String, String, String)> {
    let tree = read(root, &packages(root));
    let arrows = arrows(&tree).into_iter().map(|((from, to), names)| {
        let names: Vec<String> = names.into_iter().collect();
        (
            tree.files[from].clone(),
            tree.files[to].clone(),
            names.join(", "),
        )
    });
    arrows.collect()
}

/// For each crate, the files that name something of another crate, and the paths that they write.
pub fn crate_paths(root: &Path) -> Vec<(String, String, Vec<String>)> {
    let packages = packages(root);
    let tree = read(root, &packages);
    let mut found = Vec::new();
    for (file, path) in paths_to_crates(&tree) {
        let file = &tree.files[file];
        let owner = packages
            .iter()
            .find(|(_, folder)| Path::new(file).starts_with(folder));
        if let Some((name, _)) = owner
            && *name != path[0]
        {
            found.push((name.clone(), file.clone(), path));
        }
    }
    found
}

/// Circles of files that use each other, the largest first.
pub fn circles(root: &Path) -> Vec<Vec<String>> {
    let tree = read(root, &packages(root));
    let found = find(tree.files.len(), arrows(&tree).into_keys());
    let named = found.into_iter().map(|circle| {
        let files = circle.into_iter().map(|file| tree.files[file].clone());
        files.collect()
    });
    named.collect()
}

/// Circles of files as text, each with the names that tie it.
pub fn print_circles(root: &Path) -> String {
    let arrows = file_arrows(root);
    let mut text = String::new();
    for circle in circles(root) {
        text += &format!("circle of {} files\n", circle.len());
        for (from, to, names) in &arrows {
            if circle.contains(from) && circle.contains(to) {
                text += &format!("  {from} -> {to}: {names}\n");
            }
        }
    }
    text
}

/// The arrows from and to the files below `place`.
pub fn arrows_of(root: &Path, place: &str) -> String {
    let arrows = file_arrows(root).into_iter();
    let near = arrows.filter(|(from, to, _)| from.starts_with(place) || to.starts_with(place));
    near.map(|(from, to, names)| format!("{from} -> {to}: {names}\n"))
        .collect()
}
