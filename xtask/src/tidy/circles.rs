//! Circles of files that use each other: small ones within a folder at most.

use std::collections::BTreeSet;
use std::path::Path;

use crate::map;

/// Files of a circle.
const FILES_MAX: usize = 6;

/// Findings: circles that are too large or lead through several folders.
pub fn check(root: &Path) -> Vec<String> {
    let circles = map::circles(root).into_iter();
    let wrong = circles.filter_map(|files| {
        let folders: BTreeSet<&str> = files.iter().map(|file| folder(file)).collect();
        let fault = match (files.len() > FILES_MAX, folders.len() > 1) {
            (true, _) => format!("{} files", files.len()),
            (_, true) => format!("{} folders", folders.len()),
            _ => return None,
        };
        Some(format!(
            "{}: a circle of {fault} (`cargo xtask circles` says what ties it): {}",
            files[0],
            files[1..].join(", ")
        ))
    });
    wrong.collect()
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}
