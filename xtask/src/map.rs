//! What the code looks like from above: crates, folders, circles.

use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::{arrows, circles as find, read};

/// Packages whose files are looked at: every crate, by the name that code has for it.
fn packages(root: &Path) -> Vec<(String, PathBuf)> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(root.join("crates"))
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name().to_string_lossy().into_owned();
        packages.push((name.clone(), PathBuf::from("crates").join(name)));
    }
    packages.sort();
    packages
}

/// Circles of files, each with the names that tie it.
pub fn circles(root: &Path) -> String {
    let tree = read(root, &packages(root));
    let arrows = arrows(&tree);
    let mut text = String::new();
    for circle in find(tree.files.len(), arrows.keys().copied()) {
        text += &format!("circle of {} files\n", circle.len());
        for (&(from, to), names) in &arrows {
            if circle.contains(&from) && circle.contains(&to) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                let (from, to) = (&tree.files[from], &tree.files[to]);
                text += &format!("  {from} -> {to}: {}\n", names.join(", "));
            }
        }
    }
    text
}

/// The arrows from and to the files below `place`.
pub fn arrows_of(root: &Path, place: &str) -> String {
    let tree = read(root, &packages(root));
    let mut text = String::new();
    for ((from, to), names) in arrows(&tree) {
        let (from, to) = (&tree.files[from], &tree.files[to]);
        if from.starts_with(place) || to.starts_with(place) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text += &format!("{from} -> {to}: {}\n", names.join(", "));
        }
    }
    text
}
