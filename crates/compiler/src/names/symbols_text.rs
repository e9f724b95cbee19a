//! The symbol table as text: what `dump --stage symbols` prints.

use std::fmt::Write;
use std::sync::Arc;

use syntax::Span;

use super::symbol_table::SymbolTable;

impl SymbolTable {
    /// Prints the definitions of all units, in the order in which they were loaded: kind, full name
    /// and place, one a line. Those of the library have no place, and `thalweg doc` lists them.
    ///
    /// ```text
    /// composite my.app::Main  my.app/Main.spl:3
    /// ```
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        for (span, kind, name) in self.definitions() {
            let _ = writeln!(out, "{kind} {name}  {}", self.place_text(span));
        }
        out
    }

    /// File and line at which a span begins: `Main.spl:3`.
    pub(crate) fn place_text(&self, span: Span) -> String {
        let path = self.sources().file(span.file).path.to_string_lossy();
        format!("{path}:{}", self.sources().position(span).line)
    }

    /// Definitions with their kinds and full names, by place.
    fn definitions(&self) -> Vec<(Span, &'static str, String)> {
        let mut all = Vec::new();
        for namespace in &self.index.namespaces {
            let mut enter = |kind, name: &Arc<str>, span| {
                let full = match &*namespace.name {
                    "" => name.to_string(),
                    namespace => format!("{namespace}::{name}"),
                };
                all.push((span, kind, full));
            };
            for (name, (_, composite)) in &namespace.composites {
                enter("composite", name, composite.name.span);
            }
            for (name, (_, def)) in &namespace.types {
                enter("type", name, def.name.span);
            }
            for (name, overloads) in &namespace.functions {
                for (_, function) in overloads {
                    enter("function", name, function.name.span);
                }
            }
            for (name, enumerator) in &namespace.enumerators {
                enter("enumerator", name, enumerator.span);
            }
        }
        all.sort_by(|a, b| {
            let place = |span: Span| (span.file.0, span.start);
            (place(a.0), &a.2).cmp(&(place(b.0), &b.2))
        });
        all
    }
}
