//! Completion: what may be written at the cursor.
//!
//! ```text
//!   text ──scan──> where the cursor is ──items──> names and words that fit there
//!                                         ▲
//!               streams, types, functions of the last analysis; models of the library
//! ```
//! A program is broken while a word of it is being written, so the place is found from the tokens
//! before the cursor alone: clauses begin with reserved words, which nothing else contains.
//! Streams, types and functions are those of the last analysis, which may be of an earlier version:
//! completion never waits for the compiler.

mod candidates;
mod cursor_place;
mod cursor_scan;
mod head_names;
mod library_items;
mod local_names;
mod members;
mod place_rules;

use lsp_types::{CompletionItem, CompletionResponse, Position};

use self::candidates::Candidates;
use crate::analysed_document::AnalysedDocument;
use crate::document_text::ColumnUnit;
use crate::open_documents::OpenDocument;

pub use cursor_place::CursorPlace;
pub use cursor_scan::scan;
pub use library_items::resolve;

/// The completions at a position of a document.
pub fn completions(
    document: &OpenDocument,
    last: Option<&AnalysedDocument>,
    position: Position,
    unit: ColumnUnit,
) -> CompletionResponse {
    let items = match document.is_spl() {
        true => items(document, last, position, unit),
        false => Vec::new(),
    };
    CompletionResponse::Array(items)
}

fn items(
    document: &OpenDocument,
    last: Option<&AnalysedDocument>,
    position: Position,
    unit: ColumnUnit,
) -> Vec<CompletionItem> {
    let text = document.text.text();
    let offset = document.text.offset(position, unit);
    let context = cursor_scan::scan(text, offset);
    let mut candidates = Candidates::new(&context, text);
    candidates.collect(last, offset);
    candidates.into_items()
}
