//! Tokens and trees as text, for `dump` and for tests.

use std::fmt::Write;

use crate::{FileId, SyntaxElement, SyntaxNode, Token, lexer};

/// One line a token: its place, its kind and its text.
pub fn dump_tokens(text: &str) -> String {
    let (tokens, _) = lexer::tokens(FileId::default(), text);
    let mut out = String::new();
    for Token {
        kind, start, end, ..
    } in tokens
    {
        let text = &text[start as usize..end as usize];
        out.push_str(&format!("{start}..{end} {kind:?} {text:?}\n"));
    }
    out
}

/// Lines that stand deeper are indented so far and say how deep they are, or the blanks before the
/// lines of a sum of thousands of terms would be most of a dump.
const INDENTATIONS_MAX: usize = 64;

/// One line a node or token, indented by depth; white space is left out.
pub fn dump_tree(tree: &SyntaxNode) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for event in tree.preorder_with_tokens() {
        match event {
            rowan::WalkEvent::Enter(element) => {
                write_element(&mut out, &element, depth);
                depth += 1;
            }
            rowan::WalkEvent::Leave(_) => depth -= 1,
        }
    }
    out
}

fn write_element(out: &mut String, element: &SyntaxElement, depth: usize) {
    let range = element.text_range();
    let (start, end) = (u32::from(range.start()), u32::from(range.end()));
    let mut indent = " ".repeat(depth.min(INDENTATIONS_MAX) * 2);
    if depth > INDENTATIONS_MAX {
        indent.push_str(&format!("({depth}) "));
    }
    let written = match element {
        SyntaxElement::Node(node) => {
            writeln!(out, "{indent}{:?} {start}..{end}", node.kind())
        }
        SyntaxElement::Token(token) if token.kind() == crate::SyntaxKind::Whitespace => Ok(()),
        SyntaxElement::Token(token) => {
            let (kind, text) = (token.kind(), token.text());
            writeln!(out, "{indent}{kind:?} {start}..{end} {text:?}")
        }
    };
    debug_assert!(written.is_ok(), "writing to a string cannot fail");
}
