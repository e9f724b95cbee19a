//! Checked config and annotations that operators inherit from the composites around them.

use std::sync::Arc;

use graph::ConfigEntry;
use syntax::Span;
use tuple::Value;

/// Config and annotations from outside; inner ones come over outer ones.
#[derive(Debug, Default)]
pub(crate) struct InheritedClauses {
    /// Config entries in force, each kind once but for `placement`.
    pub config: Vec<LocatedConfigEntry>,
    /// Annotations that operators inherit: `@threading` and `@catch`.
    pub annotations: Vec<CheckedAnnotation>,
}

/// A checked annotation: its name, and its keys with constant values. Names of ports and
/// attributes, and bare words, are strings.
pub(crate) type CheckedAnnotation = (Arc<str>, Vec<(Arc<str>, Value)>);

/// A config entry, and its name in the program.
#[derive(Clone, Debug)]
pub(crate) struct LocatedConfigEntry {
    /// Entry as the graph keeps it.
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
