//! A loaded source file, and the namespaces that every unit sees without a `use`.

use std::sync::Arc;

use syntax::FileId;
use syntax::ast::Unit;

/// Namespaces that every unit uses without a `use ns::*;`. `spl.file` is not among them.
pub const IMPLICIT_USES: [&str; 11] = [
    "spl",
    "spl.adapter",
    "spl.collection",
    "spl.control",
    "spl.eventtime",
    "spl.math",
    "spl.relational",
    "spl.string",
    "spl.time",
    "spl.utility",
    "spl.XML",
];

/// A unit of [`super::SymbolTable::units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitId(pub u32);

/// A parsed file with what is known of where it came from.
#[derive(Clone, Debug)]
pub struct LoadedUnit {
    /// File in the source map that holds the text.
    pub file: FileId,
    /// Syntax tree of the file.
    pub unit: Unit,
    /// Absolute path of the file.
    pub path: Arc<str>,
    /// Absolute path of the root of its toolkit (the application's own counts as one).
    pub toolkit_dir: Arc<str>,
    /// Whether the user's program is in it: its functions are checked although nothing calls them.
    pub is_checked: bool,
}

impl LoadedUnit {
    /// The namespace, "" for the default one.
    pub fn namespace(&self) -> &str {
        self.unit.namespace.as_ref().map_or("", |n| &n.text)
    }
}
