//! Items for what the library has: operators, their parameters and functions, native functions.

use std::sync::LazyLock;

use compiler::names::IMPLICIT_USES;
use graph::OperatorModel;
use lsp_types::{CompletionItem, CompletionItemKind};
use serde_json::json;

use super::candidates::Candidates;
use crate::library_docs::{completion_doc, function_name};

/// A native function as an item, with its namespace.
struct FunctionItem {
    namespace: &'static str,
    item: CompletionItem,
}

/// Every name of a native function once in its namespace.
static FUNCTION_ITEMS: LazyLock<Vec<FunctionItem>> = LazyLock::new(|| {
    let mut items: Vec<FunctionItem> = Vec::new();
    let callable = toolkit::functions().iter();
    for native in callable.filter(|native| native.unsupported.is_none()) {
        let name = function_name(native.prototype);
        let is_known =
            |known: &FunctionItem| known.namespace == native.namespace && known.item.label == name;
        if items.iter().rev().take(64).any(is_known) {
            continue;
        }
        items.push(FunctionItem {
            namespace: native.namespace,
            item: CompletionItem {
                detail: Some(native.prototype.to_owned()),
                ..item(native.namespace, name, CompletionItemKind::FUNCTION)
            },
        });
    }
    items
});

/// An item whose description [`resolve`] finds.
fn item(namespace: &str, name: &str, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem {
        label: name.to_owned(),
        kind: Some(kind),
        data: Some(json!({ "namespace": namespace, "name": name })),
        ..CompletionItem::default()
    }
}

/// Adds the description to an item of the library; other items stay as they are.
pub fn resolve(mut item: CompletionItem) -> CompletionItem {
    let part = |key: &str| item.data.as_ref()?.get(key)?.as_str();
    if let (Some(namespace), Some(name)) = (part("namespace"), part("name")) {
        item.documentation = completion_doc(namespace, name);
    }
    item
}

fn models() -> impl Iterator<Item = &'static OperatorModel> {
    toolkit::operators().iter().map(|entry| entry.model)
}

/// Whether the document sees the names of a namespace: every file does, or it names the namespace.
fn sees(candidates: &Candidates<'_>, namespace: &str) -> bool {
    IMPLICIT_USES.contains(&namespace) || candidates.text.contains(namespace)
}

/// Adds all operators that can be invoked, with the first sentence of their descriptions.
pub fn add_operators(candidates: &mut Candidates<'_>) {
    for model in models().filter(|model| model.unsupported.is_none()) {
        let sentence = model.doc.split_inclusive(". ").next().unwrap_or_default();
        let detail = format!("{}: {}", model.namespace, sentence.trim());
        let is_seen = sees(candidates, model.namespace);
        candidates.add(CompletionItem {
            detail: Some(detail),
            insert_text: (!is_seen).then(|| format!("{}::{}", model.namespace, model.name)),
            ..item(model.namespace, model.name, CompletionItemKind::CLASS)
        });
    }
}

/// Adds the parameters of an operator that the invocation has not yet.
pub fn add_parameters(candidates: &mut Candidates<'_>, operator: &str) {
    for model in models().filter(|model| model.name == operator) {
        for param in model.params {
            let needed = match param.mandatory {
                true => " (needed)",
                false => "",
            };
            candidates.add(CompletionItem {
                label: param.name.to_owned(),
                kind: Some(CompletionItemKind::PROPERTY),
                detail: Some(format!("{}{needed}", param.ty)),
                documentation: Some(lsp_types::Documentation::String(param.doc.to_owned())),
                insert_text: Some(format!("{} : ", param.name)),
                ..CompletionItem::default()
            });
        }
    }
}

/// Adds the words that a parameter takes, if it takes words.
pub fn add_literals(candidates: &mut Candidates<'_>, parameter: &str) {
    let operator = candidates.context.operator.as_deref().unwrap_or_default();
    for model in models().filter(|model| model.name == operator) {
        let param = model.params.iter().find(|param| param.name == parameter);
        let Some(param) = param else { continue };
        for (_, words) in model.enums.iter().filter(|(name, _)| *name == param.ty) {
            for word in *words {
                candidates.add_name(word, CompletionItemKind::ENUM_MEMBER, param.ty);
            }
        }
    }
}

/// Adds the output functions of the operator that is invoked.
pub fn add_output_functions(candidates: &mut Candidates<'_>) {
    let operator = candidates.context.operator.as_deref().unwrap_or_default();
    for model in models().filter(|model| model.name == operator) {
        for prototype in model.output_functions {
            let name = function_name(prototype);
            candidates.add_name(name, CompletionItemKind::FUNCTION, prototype);
        }
    }
}

/// Adds the native functions that the document sees: those of the namespaces that every file uses,
/// and of those that it names.
pub fn add_functions(candidates: &mut Candidates<'_>) {
    for function in FUNCTION_ITEMS.iter() {
        if sees(candidates, function.namespace) {
            candidates.add(function.item.clone());
        }
    }
}

/// Adds the namespaces of the library.
pub fn add_namespaces(candidates: &mut Candidates<'_>) {
    let of_functions = toolkit::functions().iter().map(|native| native.namespace);
    for namespace in models().map(|model| model.namespace).chain(of_functions) {
        candidates.add_name(namespace, CompletionItemKind::MODULE, "");
    }
}
