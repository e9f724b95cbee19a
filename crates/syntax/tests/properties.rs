//! Properties of every text: the tree keeps it, nothing panics, and the formatter changes white
//! space only.

mod programs_at_random;
mod shape;

use proptest::prelude::*;
use shape::shape;
use syntax::{FileId, SyntaxKind, Token};
use thalweg_syntax as syntax;

/// Words and signs of the language, and things it does not know.
const SOUP: &[&str] = &[
    "composite",
    "graph",
    "param",
    "type",
    "config",
    "logic",
    "window",
    "output",
    "input",
    "stream",
    "tuple",
    "list",
    "map",
    "set",
    "optional",
    "enum",
    "rstring",
    "int32",
    "public",
    "stateful",
    "namespace",
    "use",
    "static",
    "mutable",
    "if",
    "else",
    "while",
    "for",
    "in",
    "return",
    "break",
    "as",
    "onTuple",
    "onPunct",
    "onProcess",
    "state",
    "expression",
    "operator",
    "void",
    "null",
    "true",
    "a",
    "b",
    "Main",
    "$x",
    "1",
    "0x1F",
    "1.5e3",
    "007",
    "\"s\"",
    "'t'u",
    "\"open",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    ".",
    "=",
    "==",
    "+",
    "-",
    "++",
    "!",
    "??",
    "?:",
    "?",
    "@",
    ".+",
    ">>",
    ">=",
    "&&",
    "//c\n",
    "/*d*/",
    "/*",
    "#",
    "\0",
    "\u{FEFF}",
    "é",
    "\n",
];

/// Parses and checks what holds for every text.
fn check_any(text: &str) -> Result<(), TestCaseError> {
    let parsed = syntax::parse(FileId(0), text);
    prop_assert_eq!(parsed.tree.text().to_string(), text);
    for diagnostic in &parsed.diagnostics {
        let span = diagnostic.span;
        prop_assert!(span.start <= span.end && span.end as usize <= text.len());
        prop_assert!(text.get(span.start as usize..span.end as usize).is_some());
    }
    let mut sources = syntax::SourceMap::default();
    sources.add("any.spl".as_ref(), text);
    let shown = syntax::render(&parsed.diagnostics, &sources, false);
    prop_assert_eq!(shown.is_empty(), parsed.diagnostics.is_empty());
    match syntax::format(text) {
        Ok(once) => check_layout(text, &once),
        Err(found) => {
            prop_assert!(!found.is_empty());
            Ok(())
        }
    }
}

/// A layout says what the text says, keeps its comments, and is its own layout.
fn check_layout(text: &str, once: &str) -> Result<(), TestCaseError> {
    let twice = syntax::format(once);
    prop_assert_eq!(
        twice.as_deref(),
        Ok(once),
        "formatted twice, from:\n{}",
        text
    );
    let before = syntax::parse(FileId(0), text);
    let after = syntax::parse(FileId(0), once);
    prop_assert_eq!(shape(&before.unit), shape(&after.unit));
    prop_assert_eq!(tokens(text), tokens(once));
    Ok(())
}

/// Tokens and comments in order, comments without white space. Of white space nothing.
fn tokens(text: &str) -> Vec<(SyntaxKind, String)> {
    let (tokens, _) = syntax::tokens(FileId(0), text);
    let comment = [SyntaxKind::LineComment, SyntaxKind::BlockComment];
    let words = |Token {
                     kind, start, end, ..
                 }: &Token| {
        let text = &text[*start as usize..*end as usize];
        match comment.contains(kind) {
            true => (*kind, text.split_whitespace().collect()),
            false => (*kind, text.to_owned()),
        }
    };
    let seen = tokens.iter().filter(|t| t.kind != SyntaxKind::Whitespace);
    seen.map(words).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn any_text_has_a_tree(text in any::<String>()) {
        check_any(&text)?;
    }

    #[test]
    fn any_bytes_have_a_tree(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_any(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_soup_of_tokens_has_a_tree(
        words in prop::collection::vec(prop::sample::select(SOUP), 0..120),
        glue in prop::sample::select(vec![" ", "", "\n"]),
    ) {
        check_any(&words.join(glue))?;
    }

    #[test]
    fn a_program_with_a_piece_cut_out_has_a_tree(from in 0usize..2600, len in 0usize..60) {
        let text = include_str!("programs/everything.spl");
        let cut: String = text.chars().take(from).chain(text.chars().skip(from + len)).collect();
        check_any(&cut)?;
    }

    #[test]
    fn programs_parse_and_keep_their_meaning_in_the_layout(
        text in programs_at_random::program(),
    ) {
        let parsed = syntax::parse(FileId(0), &text);
        prop_assert!(parsed.diagnostics.is_empty(), "{:?} in\n{}", parsed.diagnostics, text);
        check_any(&text)?;
    }
}
