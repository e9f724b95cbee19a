//! Members behind a dot: attributes of streams and tuples, enumerators of composites.

use compiler::NameMeaning;
use lsp_types::CompletionItemKind;
use syntax::FileId;
use syntax::ast::{Item, TypeDefBody, TypeKind};
use tuple::Type;

use super::candidates::Candidates;
use crate::analysed_document::{AnalysedDocument, MAIN_FILE};

/// Adds the members of what the names before the dot mean.
pub fn add_members(
    candidates: &mut Candidates<'_>,
    last: Option<&AnalysedDocument>,
    names: &[String],
    offset: u32,
) {
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    let ports = &candidates.context.inputs;
    let ports = ports.iter().chain(&candidates.context.outputs);
    let port = ports
        .into_iter()
        .find(|port| port.names().any(|name| name == first));
    let schema = port.and_then(|port| candidates.schema(last, port));
    let value = match schema {
        Some(schema) => Some(Type::Tuple(schema)),
        None => last.and_then(|last| value_type(last, first, offset)),
    };
    if let Some(Type::Tuple(schema)) = value.and_then(|ty| attribute_type(ty, rest)) {
        return candidates.add_schema(&schema);
    }
    if rest.is_empty() {
        add_enumerators(candidates, first);
    }
}

/// The type of an attribute of an attribute.
fn attribute_type(mut ty: Type, names: &[String]) -> Option<Type> {
    for name in names {
        let (_, attribute) = ty.as_tuple()?.find(name)?;
        ty = attribute.ty.clone();
    }
    Some(ty)
}

/// The type of the value of a name: that of its nearest declaration or use before the cursor. The
/// places are those of the last analysis, which may lie behind a little.
fn value_type(last: &AnalysedDocument, name: &str, offset: u32) -> Option<Type> {
    let names = &last.analysis.names;
    let declared = names.declarations().iter();
    let declared = declared.filter(|found| found.span.file == MAIN_FILE && *found.name == *name);
    let declared = declared.filter_map(|found| Some((found.span.start, found.ty.clone()?)));
    let used = names.uses().iter();
    let used = used.filter(|use_| {
        use_.span.file == MAIN_FILE
            && matches!(use_.meaning, NameMeaning::Declared(_))
            && last.source(use_.span) == name
    });
    let used = used.filter_map(|use_| Some((use_.span.start, use_.ty.clone()?)));
    let nearest = declared
        .chain(used)
        .min_by_key(|(at, _)| (*at > offset, at.abs_diff(offset)));
    nearest.map(|(_, ty)| ty)
}

/// Adds the enumerators of the enum types of a composite, of the document or of the language.
fn add_enumerators(candidates: &mut Candidates<'_>, composite: &str) {
    let prelude = compiler::prelude::UNITS.iter().map(|unit| unit.source);
    let texts = std::iter::once(candidates.text).chain(prelude);
    for text in texts.filter(|text| text.contains(composite)) {
        let parsed = syntax::parse(FileId::default(), text);
        let composites = parsed.unit.items.iter().filter_map(|item| match item {
            Item::Composite(found) if *found.name.text == *composite => Some(found),
            _ => None,
        });
        for definition in composites.flat_map(|found| &found.types) {
            let name = &definition.name.text;
            candidates.add_name(name, CompletionItemKind::ENUM, "");
            if let TypeDefBody::Type(ty) = &definition.body
                && let TypeKind::Enum(enumerators) = &ty.kind
            {
                for enumerator in enumerators {
                    let detail = format!("{composite}.{name}");
                    let kind = CompletionItemKind::ENUM_MEMBER;
                    candidates.add_name(&enumerator.text, kind, &detail);
                }
            }
        }
    }
}
