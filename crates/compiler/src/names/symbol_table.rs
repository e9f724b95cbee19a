//! Symbol table: the loaded units, the library's functions and operators, indexed by namespace.
//!
//! The table is built once and never changes; typing borrows from it. Its index finds a definition
//! by namespace and name, and knows for each unit which namespaces it sees.

use std::rc::Rc;

use eval::NativeFn;
use graph::{NativeId, OperatorModel};
use syntax::{Diagnostic, FileId, SourceMap};

use super::misplaced::MisplacedDefinition;
use super::namespace_index::NamespaceIndex;
use super::regrouped_exprs::RegroupedExprs;
use super::suggest::Suggestions;
use super::unit::{LoadedUnit, UnitId};
use crate::poison::Poison;

/// The program and the library, indexed.
#[derive(Debug)]
pub struct SymbolTable {
    sources: SourceMap,
    units: Vec<LoadedUnit>,
    natives: &'static [NativeFn],
    models: &'static [&'static OperatorModel],
    pub(super) index: NamespaceIndex,
    /// Comparisons of unknown names with those that there are.
    pub(crate) suggestions: Suggestions,
    pub(crate) regrouped_exprs: RegroupedExprs,
    /// Definitions that were not found since they lie in the wrong folder.
    pub(crate) misplaced: Vec<MisplacedDefinition>,
    /// Names and places that are broken.
    pub(crate) poison: Rc<Poison>,
}

impl SymbolTable {
    /// Indexes units, library functions and operator models, and says what is wrong with the names
    /// they define: duplicates, unknown namespaces, useless `use`s. The prelude
    /// ([`crate::prelude`]) must be among the units.
    pub fn new(
        sources: SourceMap,
        units: Vec<LoadedUnit>,
        natives: &'static [NativeFn],
        models: &'static [&'static OperatorModel],
    ) -> (SymbolTable, Vec<Diagnostic>) {
        let (index, diagnostics) = NamespaceIndex::build(&units, natives, models);
        let twice = diagnostics
            .iter()
            .filter(|found| found.code == "duplicate-definition");
        let twice = twice.map(|found| sources.text(found.span).into());
        let poison = Rc::new(Poison::new(
            units.iter().map(|unit| &unit.unit.broken),
            twice.collect(),
        ));
        let symbols = SymbolTable {
            sources,
            units,
            natives,
            models,
            index,
            suggestions: Suggestions::default(),
            regrouped_exprs: RegroupedExprs::default(),
            misplaced: Vec::new(),
            poison,
        };
        (symbols, diagnostics)
    }

    /// Adds to the report of an unknown name that a file in the wrong folder defines it, if one
    /// does.
    pub(crate) fn explain_misplaced(&self, finding: Diagnostic, name: &str) -> Diagnostic {
        match self.misplaced.iter().find(|one| *one.name == *name) {
            Some(misplaced) => misplaced.explain(finding),
            None => finding,
        }
    }

    /// Replaces the text of a file that no unit was parsed from, and drops what was cached of the
    /// text before.
    pub(crate) fn replace_text(&mut self, file: FileId, text: &str) {
        self.sources.replace(file, text);
        self.suggestions = Suggestions::default();
        self.regrouped_exprs = RegroupedExprs::default();
    }

    /// The texts of all units.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The texts, when nothing else is needed any more.
    pub fn into_sources(self) -> SourceMap {
        self.sources
    }

    /// All units, in order of loading.
    pub fn units(&self) -> impl Iterator<Item = (UnitId, &LoadedUnit)> {
        self.units
            .iter()
            .enumerate()
            .map(|(at, unit)| (UnitId(at as u32), unit))
    }

    /// The unit with this number.
    pub fn unit(&self, id: UnitId) -> &LoadedUnit {
        &self.units[id.0 as usize]
    }

    /// The absolute path of the application: the toolkit that the main file belongs to.
    pub fn application_dir(&self) -> &str {
        self.units.first().map_or("", |unit| &unit.toolkit_dir)
    }

    /// The unit of a file.
    pub fn unit_of(&self, file: FileId) -> Option<&LoadedUnit> {
        self.units.iter().find(|unit| unit.file == file)
    }

    /// The library function with this number.
    pub fn native(&self, id: NativeId) -> &'static NativeFn {
        &self.natives[id.0 as usize]
    }

    /// All library functions, by id.
    pub fn natives(&self) -> &'static [NativeFn] {
        self.natives
    }

    /// The models of all primitive operators.
    pub fn models(&self) -> &'static [&'static OperatorModel] {
        self.models
    }
}
