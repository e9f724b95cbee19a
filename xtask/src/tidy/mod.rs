//! The style as a test: what no compiler or lint checks.
//!
//! One file a rule; each takes the tree and returns its findings as `path:line: what is wrong`.

mod architecture;
mod circles;
mod comments;
mod crate_layers;
mod definitions;
mod dependencies;
mod files;
mod functions;
mod imports;
mod source_files;
pub mod tiers;
mod unsafe_paths;
mod words;

use std::path::Path;

pub use functions::{FUNCTION_LINES_MAX, function_lengths};
pub use source_files::{TidySource, rust_sources};

/// Every finding of every rule, sorted; empty when the tree is tidy.
pub fn check(root: &Path) -> Vec<String> {
    let sources = rust_sources(root);
    let mut findings = Vec::new();
    findings.extend(crate_layers::check(root));
    findings.extend(dependencies::check(root));
    findings.extend(sources.iter().flat_map(files::check));
    findings.extend(sources.iter().flat_map(functions::check));
    findings.extend(sources.iter().flat_map(unsafe_paths::check));
    findings.extend(tiers::check(root));
    findings.extend(circles::check(root));
    findings.extend(definitions::check(&sources));
    findings.extend(words::check(root, &sources));
    findings.extend(architecture::check(root));
    findings.extend(sources.iter().flat_map(imports::check));
    findings.extend(sources.iter().flat_map(comments::check));
    findings.sort();
    findings
}
