//! Config and annotations of operators, as far as they have been checked.

use std::sync::Arc;

use graph::ConfigEntry;
use syntax::Span;
use tuple::Value;

/// Config and annotations from outside; inner ones come over outer ones.
#[derive(Debug, Default)]
pub(crate) struct InheritedClauses {
    /// Config entries.
    pub config: Vec<LocatedConfigEntry>,
    /// Annotations.
    pub annotations: Vec<CheckedAnnotation>,
}

/// A checked annotation: its name, and its keys with constant values. Names of ports and
/// attributes, and bare words, are strings.
pub(crate) type CheckedAnnotation = (Arc<str>, Vec<(Arc<str>, Value)>);

/// A config entry, and its name in the program.
#[derive(Clone, Debug)]
pub(crate) struct LocatedConfigEntry {
    /// What the graph keeps.
    pub entry: ConfigEntry,
    /// Where its name stands.
    pub span: Span,
}

impl std::ops::Deref for LocatedConfigEntry {
    type Target = ConfigEntry;

    fn deref(&self) -> &ConfigEntry {
        &self.entry
    }
}
