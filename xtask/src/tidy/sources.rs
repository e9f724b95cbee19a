//! The Rust files of the tree.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct Source {
    /// Relative to the root, with `/`.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Every `.rs` file outside build output, sorted by path.
pub fn rust_sources(root: &Path) -> Vec<Source> {
    let mut paths = Vec::new();
    collect(root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| Source {
        path: path
            .strip_prefix(root)
            .expect("below the root")
            .to_string_lossy()
            .into_owned(),
        text: fs::read_to_string(&path).unwrap_or_default(),
    };
    paths.into_iter().map(read).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(&path, paths);
        } else if name.ends_with(".rs") {
            paths.push(path);
        }
    }
}
