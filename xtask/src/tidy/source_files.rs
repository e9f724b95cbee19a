//! The Rust files of the tree.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file of the tree.
pub struct TidySource {
    /// Relative to the root, with `/`.
    pub path: String,
    /// The text of the file.
    pub text: String,
}

/// Every `.rs` file outside build output, sorted by path.
pub fn rust_sources(root: &Path) -> Vec<TidySource> {
    let mut paths = Vec::new();
    collect_paths(root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| TidySource {
        path: path
            .strip_prefix(root)
            .expect("below the root")
            .to_string_lossy()
            .into_owned(),
        text: fs::read_to_string(&path).unwrap_or_default(),
    };
    paths.into_iter().map(read).collect()
}

fn collect_paths(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect_paths(&path, paths);
        } else if name.ends_with(".rs") {
            paths.push(path);
        }
    }
}
