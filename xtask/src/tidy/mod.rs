//! The style as a test: what no compiler or lint checks.
//!
//! One file a rule; each takes the tree and returns its findings as `path:line: what is wrong`.

mod arrows;
mod dependencies;
mod files;
mod functions;
mod sources;
mod unsafe_rooms;

use std::path::Path;

pub use sources::{Source, rust_sources};

/// Every finding of every rule, sorted; empty when the tree is tidy.
pub fn check(root: &Path) -> Vec<String> {
    let sources = rust_sources(root);
    let mut findings = Vec::new();
    findings.extend(arrows::check(root));
    findings.extend(dependencies::check(root));
    findings.extend(sources.iter().flat_map(files::check));
    findings.extend(sources.iter().flat_map(functions::check));
    findings.extend(sources.iter().flat_map(unsafe_rooms::check));
    findings.sort();
    findings
}
