//! Outline of a document: its composites, functions and types, and what they declare.

use lsp_types::{DocumentSymbol, SymbolKind};
use syntax::ast::{Composite, Function, Ident, Item, TypeDef};
use syntax::{FileId, Span};

use crate::document_text::ColumnUnit;
use crate::open_documents::OpenDocument;

/// The symbols of a document, in their order. A document that is not SPL alone has none.
pub fn outline(document: &OpenDocument, unit: ColumnUnit) -> Vec<DocumentSymbol> {
    if !document.is_spl() {
        return Vec::new();
    }
    let outline = Outline { document, unit };
    let parsed = syntax::parse(FileId::default(), document.text.text());
    let items = parsed.unit.items.iter().map(|item| match item {
        Item::Composite(composite) => outline.composite(composite),
        Item::Function(function) => outline.function(function),
        Item::Type(definition) => outline.type_definition(definition),
    });
    items.collect()
}

/// Maker of symbols for one document.
struct Outline<'d> {
    document: &'d OpenDocument,
    unit: ColumnUnit,
}

impl Outline<'_> {
    fn composite(&self, composite: &Composite) -> DocumentSymbol {
        let formals = composite
            .params
            .iter()
            .map(|formal| self.symbol(&formal.name, SymbolKind::CONSTANT, formal.span, Vec::new()));
        let types = composite.types.iter().map(|ty| self.type_definition(ty));
        let invocations = composite.graph.iter().filter_map(|invocation| {
            let first = invocation.outputs.first().map(|port| &port.name);
            let name = invocation.alias.as_ref().or(first)?;
            let mut symbol = self.symbol(name, SymbolKind::EVENT, invocation.span, Vec::new());
            symbol.detail = Some(invocation.operator.name.text.to_string());
            let others = invocation.outputs.iter().map(|port| &port.name);
            let others = others.filter(|other| other.span != name.span);
            let others =
                others.map(|other| self.symbol(other, SymbolKind::EVENT, other.span, Vec::new()));
            symbol.children = Some(others.collect());
            Some(symbol)
        });
        let parts = formals.chain(types).chain(invocations).collect();
        self.symbol(&composite.name, SymbolKind::CLASS, composite.span, parts)
    }

    fn function(&self, function: &Function) -> DocumentSymbol {
        self.symbol(
            &function.name,
            SymbolKind::FUNCTION,
            function.span,
            Vec::new(),
        )
    }

    fn type_definition(&self, definition: &TypeDef) -> DocumentSymbol {
        self.symbol(
            &definition.name,
            SymbolKind::STRUCT,
            definition.span,
            Vec::new(),
        )
    }

    #[expect(deprecated, reason = "the field without a successor has to be set")]
    fn symbol(
        &self,
        name: &Ident,
        kind: SymbolKind,
        whole: Span,
        children: Vec<DocumentSymbol>,
    ) -> DocumentSymbol {
        let text = &self.document.text;
        // The protocol wants the name within the whole, which broken text need not give.
        let (start, end) = (
            whole.start.min(name.span.start),
            whole.end.max(name.span.end),
        );
        DocumentSymbol {
            name: name.text.to_string(),
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range: text.range(start, end, self.unit),
            selection_range: text.range(name.span.start, name.span.end, self.unit),
            children: Some(children),
        }
    }
}
