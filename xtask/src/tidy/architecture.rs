//! The map in ARCHITECTURE.md is the one that the manifests and the code give.

use std::fs;
use std::path::Path;

use crate::map;

/// The lines before and behind the map.
const MARKS: [&str; 2] = ["<!-- cargo xtask map -->\n", "<!-- end of the map -->"];

/// A finding if the map is not there or another one.
pub fn check(root: &Path) -> Vec<String> {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    let behind = text.split_once(MARKS[0]).map(|(_, behind)| behind);
    let shown = behind.and_then(|behind| behind.split_once(MARKS[1]));
    let shown = shown.map(|(map, _)| map.trim());
    match shown == Some(map::print(root).trim()) {
        true => Vec::new(),
        false => vec![format!(
            "ARCHITECTURE.md: between `{}` and `{}` must stand what `cargo xtask map` prints",
            MARKS[0].trim(),
            MARKS[1]
        )],
    }
}
