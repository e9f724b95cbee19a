//! The files of a program, parsed.

use std::path::Path;

use syntax::{Diagnostic, SourceMap, ast};

use crate::names::{LoadedUnit, MisplacedDefinition};
use crate::prelude;

/// Result of loading: the parsed files of a program, and what is wrong with their syntax.
#[derive(Debug, Default)]
pub(crate) struct LoadedProgram {
    /// All files that were read.
    pub sources: SourceMap,
    /// The files that belong to the program, the main files first.
    pub units: Vec<LoadedUnit>,
    /// Errors in the syntax of the units.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings on the code that generated texts of the units.
    pub generation: Vec<Diagnostic>,
    /// Definitions that were looked for, in files of another namespace.
    pub misplaced: Vec<MisplacedDefinition>,
    /// Whether a main file could not be generated, from which all other findings follow.
    pub is_not_generated: bool,
    /// Whether files of mixed mode were left out.
    pub has_more: bool,
    /// Findings on files of toolkits that could not be generated.
    pub failed: Vec<Diagnostic>,
}

impl LoadedProgram {
    /// Adds the types that every program has, but for those of a namespace that the program's own
    /// files define.
    pub fn add_prelude(&mut self) {
        for part in prelude::UNITS {
            let file = self.sources.add(Path::new(part.path), part.source);
            let parsed = syntax::parse(file, part.source);
            debug_assert!(!parsed.has_errors(), "the prelude is correct");
            let name = namespace(&parsed.unit);
            let mut units = self.units.iter();
            if part.is_replaced && units.any(|unit| namespace(&unit.unit) == name) {
                continue;
            }
            self.units.push(LoadedUnit {
                file,
                unit: parsed.unit,
                path: "".into(),
                toolkit_dir: "".into(),
                is_checked: false,
            });
        }
    }
}

/// The namespace of a unit as text, empty for the default one.
pub(super) fn namespace(unit: &ast::Unit) -> &str {
    unit.namespace.as_ref().map_or("", |n| &*n.text)
}
