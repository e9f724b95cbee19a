//! Imports in three groups with a blank line between: the standard library; other crates, and
//! modules by their bare name; paths from `crate`, `self` or `super`. That is rustfmt's
//! `group_imports = "StdExternalCrate"`, which only its nightly releases have.

use super::TidySource;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ImportGroup {
    Std,
    OtherCrate,
    ThisCrate,
}

/// Findings on the imports at the head of one file; what is handed on (`pub use`) stands free.
pub fn check(source: &TidySource) -> Vec<String> {
    let mut findings = Vec::new();
    let mut before: Option<ImportGroup> = None;
    let mut is_apart = true;
    let mut is_open = false;
    for (at, line) in source.text.lines().enumerate() {
        if is_open {
            is_open = !line.ends_with(';');
        } else if let Some(path) = line.strip_prefix("use ") {
            let group = group(path);
            let fault = match before {
                Some(before) if before > group => Some("out of the order std, other crates, own"),
                Some(before) if before != group && !is_apart => {
                    Some("without a blank line between")
                }
                Some(before) if before == group && is_apart => Some("of one group parted"),
                _ => None,
            };
            findings
                .extend(fault.map(|fault| format!("{}:{}: imports {fault}", source.path, at + 1)));
            (before, is_apart, is_open) = (Some(group), false, !line.ends_with(';'));
        } else if line.is_empty() {
            is_apart = true;
        } else if !is_head(line) {
            // What follows the head of the file (test modules, say) has imports of its own.
            break;
        }
    }
    findings
}

/// Whether a line may stand between imports: comments, attributes, modules, names handed on.
fn is_head(line: &str) -> bool {
    let starts = ["//", "#", "mod ", "pub mod ", "pub(crate) mod ", "extern "];
    starts.iter().any(|start| line.starts_with(start))
}

fn group(path: &str) -> ImportGroup {
    let first = path
        .split([':', ';', '{', ' '])
        .find(|part| !part.is_empty());
    let first = first.unwrap_or_default();
    match first {
        "std" | "core" | "alloc" => ImportGroup::Std,
        "crate" | "super" | "self" => ImportGroup::ThisCrate,
        _ => ImportGroup::OtherCrate,
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::TidySource;

    fn findings(text: &str) -> usize {
        let (path, text) = ("a.rs".to_owned(), text.to_owned());
        check(&TidySource { path, text }).len()
    }

    #[test]
    fn groups_are_apart_and_in_order() {
        assert_eq!(
            findings("use std::io;\n\nuse graph::Plan;\n\nuse crate::a;\nuse super::b;\n"),
            0
        );
        assert_eq!(findings("use std::io;\nuse graph::Plan;\n"), 1);
        assert_eq!(findings("use crate::a;\n\nuse std::io;\n"), 1);
        assert_eq!(findings("use std::{\n    io,\n};\n\nuse std::fs;\n"), 1);
    }
}
