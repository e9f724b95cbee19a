//! Poison: names and places of a program that are broken already, so that nothing further is
//! reported about them.
//!
//! The syntax tree of each file says what the parser could not read ([`syntax::BrokenParts`]).
//! A use of a poisoned name gives `None` and is counted as an error without a finding, and what is
//! typed with it gives `None` too; findings at a poisoned place are only counted
//! ([`crate::Diagnostics`]). What is held back is reported once the cause is mended, if it still
//! holds.

use std::collections::HashSet;

use syntax::ast::Composite;
use syntax::{BrokenParts, DeclarationKind, Diagnostic, Span};

/// The broken parts of all files, and the names that are defined twice.
#[derive(Debug, Default)]
pub(crate) struct Poison {
    /// Broken parts of the files that have some.
    broken: Vec<BrokenParts>,
    /// Names of several definitions, of which all but the first are left out.
    duplicates: HashSet<Box<str>>,
}

impl Poison {
    /// Poison of files with these broken parts, in which these names are defined several times.
    pub(crate) fn new<'p>(
        files: impl Iterator<Item = &'p BrokenParts>,
        duplicates: HashSet<Box<str>>,
    ) -> Poison {
        Poison {
            broken: files.filter(|parts| !parts.is_empty()).cloned().collect(),
            duplicates,
        }
    }

    /// Whether the declaration of a name may be broken, if there is none in the tree.
    pub(crate) fn has_name(&self, kind: DeclarationKind, name: &str) -> bool {
        let is_duplicate = matches!(
            kind,
            DeclarationKind::Composite | DeclarationKind::Function | DeclarationKind::Type
        ) && self.duplicates.contains(name);
        let mut broken = self.broken.iter();
        is_duplicate || broken.any(|parts| parts.is_unnamed(kind) || parts.has_name(name))
    }

    /// Whether a finding is about a place that the parser has misread.
    pub(crate) fn holds(&self, finding: &Diagnostic) -> bool {
        let labels = finding.labels.iter().map(|label| label.span);
        let mut broken = self.broken.iter();
        broken.any(|parts| {
            parts.holds(finding.span) || labels.clone().any(|label| parts.meets(label))
        })
    }

    /// Whether something is broken within a node, so that parts of it may be missing.
    pub(crate) fn is_within(&self, node: Span) -> bool {
        self.broken.iter().any(|parts| parts.begins_within(node))
    }

    /// Whether the ports or parameters of a composite may be incomplete.
    pub(crate) fn is_in_head(&self, composite: &Composite) -> bool {
        let body = composite.graph.first().map(|invocation| invocation.span);
        let end = body.map_or(composite.span.end, |body| body.start);
        self.is_within(Span {
            end,
            ..composite.name.span
        })
    }
}
