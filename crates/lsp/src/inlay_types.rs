//! Inlay types: the attributes of streams that are declared by a type's name.

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip, Range};
use syntax::{DeclarationKind, Span};
use tuple::{TupleType, Type};

use crate::analysed_document::{AnalysedDocument, MAIN_FILE};

/// Characters of a label at most: longer ones end with an ellipsis, and the whole is the tooltip.
const LABEL_CHARACTERS_MAX: usize = 60;

/// The types in a range of the document, behind the names of the streams.
pub fn inlay_types(analysed: &AnalysedDocument, range: Range) -> Vec<InlayHint> {
    let places = analysed.offset(range.start)..=analysed.offset(range.end);
    let declarations = analysed.analysis.names.declarations().iter();
    let streams = declarations.filter(|found| {
        found.kind == DeclarationKind::Stream
            && found.span.file == MAIN_FILE
            && places.contains(&found.span.end)
    });
    let hints = streams.filter_map(|stream| {
        let Some(Type::Tuple(schema)) = &stream.ty else {
            return None;
        };
        let is_written = schema
            .attributes
            .iter()
            .all(|attribute| analysed.source(stream.head).contains(&*attribute.name));
        (!is_written).then(|| hint(analysed, stream.span, schema))
    });
    hints.collect()
}

fn hint(analysed: &AnalysedDocument, name: Span, schema: &TupleType) -> InlayHint {
    let whole = format!(": {schema}");
    let is_long = whole.chars().count() > LABEL_CHARACTERS_MAX;
    let mut label = whole.clone();
    if is_long {
        label = whole.chars().take(LABEL_CHARACTERS_MAX - 1).collect();
        label.push('…');
    }
    InlayHint {
        position: analysed.range(name).end,
        label: InlayHintLabel::String(label),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: is_long.then_some(InlayHintTooltip::String(whole)),
        padding_left: Some(false),
        padding_right: Some(true),
        data: None,
    }
}
