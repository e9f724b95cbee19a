//! Navigation: from a name to its declaration and to its uses.

use std::collections::BTreeSet;

use compiler::NameMeaning;
use lsp_types::{Location, Position};

use crate::analysed_document::AnalysedDocument;

/// The declaration of the name at a position; `None` if it is none of the program's own.
pub fn definition(analysed: &AnalysedDocument, position: Position) -> Option<Location> {
    match analysed.name_at(position)?.meaning {
        NameMeaning::Declared(span) => analysed.location(span),
        _ => None,
    }
}

/// The uses of the name at a position in the files of the program, by file and place.
pub fn references(
    analysed: &AnalysedDocument,
    position: Position,
    with_declaration: bool,
) -> Vec<Location> {
    let Some(name) = analysed.name_at(position) else {
        return Vec::new();
    };
    let names = &analysed.analysis.names;
    let uses = names.uses().iter();
    let uses = uses.filter(|use_| use_.meaning == name.meaning);
    let mut spans: BTreeSet<_> = uses.map(|use_| use_.span).collect();
    if let NameMeaning::Declared(span) = name.meaning {
        spans.remove(&span);
        spans.extend(with_declaration.then_some(span));
    }
    let locations = spans.into_iter().filter_map(|span| analysed.location(span));
    locations.collect()
}
