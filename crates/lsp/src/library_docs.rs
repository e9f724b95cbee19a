//! Descriptions of the library's operators and functions, as `thalweg doc` prints them.

use lsp_types::{Documentation, MarkupContent, MarkupKind};

/// A text in Markdown.
pub fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}

/// SPL in Markdown, with a text below.
pub fn spl_and_text(spl: &str, text: &str) -> String {
    let mut value = format!("```spl\n{}\n```\n", spl.trim());
    if !text.trim().is_empty() {
        value += &format!("\n{}\n", text.trim());
    }
    value
}

/// The description of a name of the library, in Markdown; `None` if it has none.
pub fn library_doc(namespace: &str, name: &str) -> Option<String> {
    let text = engine::doc(&format!("{namespace}::{name}")).ok()?;
    Some(format!("```text\n{}\n```\n", text.trim_end()))
}

/// [`library_doc`] as a completion has it.
pub fn completion_doc(namespace: &str, name: &str) -> Option<Documentation> {
    let doc = library_doc(namespace, name)?;
    Some(Documentation::MarkupContent(markdown(doc)))
}

/// The name of a function in its prototype: `sqrt` of `<numeric T> T sqrt(T f)`.
pub fn function_name(prototype: &str) -> &str {
    let before = prototype.split('(').next().unwrap_or_default();
    let word = before.trim_end().rsplit([' ', '>']).next();
    word.unwrap_or_default()
}
