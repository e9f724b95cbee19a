//! Descriptions of words that are no names of the program: output functions of the operator around,
//! and functions of the language itself, such as `submit`.

use lsp_types::{Hover, HoverContents, Position};
use syntax::{FileId, SyntaxKind, Token};

use crate::completion::{CursorPlace, scan};
use crate::document_text::ColumnUnit;
use crate::library_docs::{function_name, markdown, spl_and_text};
use crate::open_documents::OpenDocument;

/// The description of the word at a position, if it is called as a function.
pub fn word_doc(document: &OpenDocument, position: Position, unit: ColumnUnit) -> Option<Hover> {
    let text = document.text.text();
    let offset = document.text.offset(position, unit);
    let (tokens, _) = syntax::tokens(FileId::default(), text);
    let at = tokens.partition_point(|token| token.end <= offset);
    let word = tokens
        .get(at)
        .filter(|word| word.kind == SyntaxKind::Ident)?;
    let mut behind = tokens[at + 1..].iter();
    let next = behind.find(|token| !token.kind.is_trivia())?;
    if next.kind != SyntaxKind::LParen {
        return None;
    }
    let value = called_doc(text, word)?;
    Some(Hover {
        contents: HoverContents::Markup(markdown(value)),
        range: Some(document.text.range(word.start, word.end, unit)),
    })
}

fn called_doc(text: &str, word: &Token) -> Option<String> {
    let name = text.get(word.start as usize..word.end as usize)?;
    let context = scan(text, word.end);
    let operator = context.operator.as_deref().unwrap_or_default();
    let models = toolkit::operators().iter().map(|entry| entry.model);
    let mut models = models.filter(|model| model.name == operator);
    let prototype = models.find_map(|model| {
        let mut prototypes = model.output_functions.iter();
        prototypes.find(|prototype| function_name(prototype) == name)
    });
    match context.place {
        CursorPlace::OutputValue => match prototype {
            Some(prototype) => {
                let place = format!("Output function of {operator}.");
                Some(spl_and_text(prototype, &place))
            }
            None => language_doc(name),
        },
        CursorPlace::Statement | CursorPlace::Expression | CursorPlace::ParameterValue(_) => {
            language_doc(name)
        }
        _ => None,
    }
}

/// The description of a function by its name alone.
fn language_doc(name: &str) -> Option<String> {
    let doc = engine::doc(name).ok()?;
    Some(format!("```text\n{}\n```\n", doc.trim_end()))
}
