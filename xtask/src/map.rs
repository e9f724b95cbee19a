//! What the code looks like from above: packages, the arrows between crates and files, circles.

use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::{arrows, circles as find, paths_to_crates, read};

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
    packages.sort();
    packages
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
    let arrows = file_arrows(root).into_iter();
    let near = arrows.filter(|(from, to, _)| from.starts_with(place) || to.starts_with(place));
    near.map(|(from, to, names)| format!("{from} -> {to}: {names}\n"))
        .collect()
}
