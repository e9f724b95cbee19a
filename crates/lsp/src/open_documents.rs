//! Documents that the client has open, with their texts as they were typed last.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use engine::OpenTexts;
use lsp_types::{TextDocumentContentChangeEvent, Uri};

use crate::document_text::{ColumnUnit, DocumentText};
use crate::file_uri;

/// One version of an open document.
#[derive(Clone, Debug)]
pub struct OpenDocument {
    /// URI by which the client names the document.
    pub uri: Uri,
    /// Path of its file.
    pub path: PathBuf,
    /// Version that the client gave this text.
    pub version: i32,
    /// The text with its lines.
    pub text: Arc<DocumentText>,
}

impl OpenDocument {
    /// A document as it is opened.
    pub fn new(uri: Uri, version: i32, text: String) -> OpenDocument {
        OpenDocument {
            path: file_uri::path_of(&uri),
            uri,
            version,
            text: Arc::new(DocumentText::new(text)),
        }
    }

    /// The document after changes, which apply one after the other.
    pub fn changed(
        &self,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        unit: ColumnUnit,
    ) -> OpenDocument {
        let mut text = Arc::clone(&self.text);
        for change in changes {
            text = Arc::new(match change.range {
                Some(range) => text.replaced(range, &change.text, unit),
                None => DocumentText::new(change.text),
            });
        }
        OpenDocument {
            version,
            text,
            ..self.clone()
        }
    }

    /// Whether the document is SPL alone: one of mixed mode has Perl in it, and is not looked into.
    pub fn is_spl(&self) -> bool {
        !engine::is_mixed(&self.path)
    }
}

/// All open documents, by their URIs.
#[derive(Clone, Debug, Default)]
pub struct OpenDocuments {
    documents: BTreeMap<String, OpenDocument>,
}

impl OpenDocuments {
    /// The document of a URI.
    pub fn get(&self, uri: &str) -> Option<&OpenDocument> {
        self.documents.get(uri)
    }

    /// Opens a document, or puts another version in its place.
    pub fn insert(&mut self, document: OpenDocument) {
        let key = document.uri.as_str().to_owned();
        self.documents.insert(key, document);
    }

    /// Closes the document of a URI.
    pub fn remove(&mut self, uri: &str) -> Option<OpenDocument> {
        self.documents.remove(uri)
    }

    /// Every open document, by URI.
    pub fn iter(&self) -> impl Iterator<Item = &OpenDocument> {
        self.documents.values()
    }

    /// The texts of all documents, for the compiler.
    pub fn texts(&self) -> OpenTexts {
        let mut texts = OpenTexts::default();
        for document in self.documents.values() {
            texts.insert(&document.path, Arc::clone(document.text.text()));
        }
        texts
    }
}
