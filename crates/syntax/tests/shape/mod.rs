//! A syntax tree as text without its places: equal texts are equal programs.

use std::fmt::Debug;

/// Text of a tree in the form of `Debug`, with every span left out.
pub fn shape(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { file: FileId(") {
        let (before, span) = rest.split_at(at);
        out.push_str(before);
        out.push('@');
        let end = span.find(" }").map_or(span.len(), |end| end + 2);
        rest = &span[end..];
    }
    out.push_str(rest);
    out
}
