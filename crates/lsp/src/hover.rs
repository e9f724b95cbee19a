//! Hover: the meaning of the name under the pointer, with its type and description.

use compiler::{NameDeclaration, NameMeaning};
use lsp_types::{Hover, HoverContents, Position};
use syntax::DeclarationKind;
use tuple::Type;

use crate::analysed_document::{AnalysedDocument, NameAtPosition};
use crate::library_docs::{library_doc, markdown, spl_and_text};

/// The description of the name at a position.
pub fn hover(analysed: &AnalysedDocument, position: Position) -> Option<Hover> {
    let name = analysed.name_at(position)?;
    let text = match name.meaning {
        NameMeaning::Operator { namespace, name } => library_doc(namespace, name)?,
        NameMeaning::Native(id) => {
            let native = toolkit::functions().get(id.0 as usize)?;
            let place = format!("{}\n\nNamespace `{}`", native.doc, native.namespace);
            spl_and_text(native.prototype, &place)
        }
        NameMeaning::Parameter { operator, doc } => {
            let written = analysed.source(name.span);
            spl_and_text(written, &format!("Parameter of {operator}. {doc}"))
        }
        NameMeaning::Declared(_) => declared(analysed, &name)?,
    };
    Some(Hover {
        contents: HoverContents::Markup(markdown(text)),
        range: Some(analysed.range(name.span)),
    })
}

fn declared(analysed: &AnalysedDocument, name: &NameAtPosition<'_>) -> Option<String> {
    let used = name.use_.and_then(|use_| use_.ty.as_ref());
    let Some(declaration) = name.declaration else {
        return Some(spl_and_text(&used?.to_string(), ""));
    };
    let ty = declaration.ty.as_ref().or(used);
    let spl = declaration_text(analysed, declaration, ty);
    Some(spl_and_text(&spl, declaration.doc.as_deref().unwrap_or("")))
}

/// A declaration as SPL, with the types that the compiler found.
pub fn declaration_text(
    analysed: &AnalysedDocument,
    declaration: &NameDeclaration,
    ty: Option<&Type>,
) -> String {
    let name = &declaration.name;
    let head = analysed.source(declaration.head);
    match (declaration.kind, ty) {
        (DeclarationKind::Stream, Some(Type::Tuple(schema))) => {
            format!("stream<{schema}> {name}")
        }
        (DeclarationKind::Stream, _) => format!("stream {name}"),
        (DeclarationKind::Attribute | DeclarationKind::Variable, Some(ty)) => {
            format!("{ty} {name}")
        }
        (DeclarationKind::Type, Some(ty)) if !head.contains(&ty.to_string()) => {
            format!("{head}\n// {ty}")
        }
        (DeclarationKind::Composite, _) => composite_head(analysed, declaration),
        _ => head.trim().to_owned(),
    }
}

/// The head of a composite: from its name to its opening brace.
fn composite_head(analysed: &AnalysedDocument, declaration: &NameDeclaration) -> String {
    let rest = syntax::Span {
        start: declaration.span.start,
        ..declaration.head
    };
    let rest = analysed.source(rest);
    let head = rest.split('{').next().unwrap_or(rest);
    let words: Vec<&str> = head.split_whitespace().collect();
    format!("composite {}", words.join(" "))
}
