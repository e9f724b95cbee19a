//! A document with what the compiler found in it: the state that answers to questions come from.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use compiler::{NameDeclaration, NameMeaning, NameUse};
use engine::{Analysis, CompileRequest, Error, OpenTexts, analyse};
use lsp_types::{Location, Position, Uri};
use syntax::{FileId, Span};

use crate::client_settings::ClientSettings;
use crate::document_text::DocumentText;
use crate::file_uri;
use crate::open_documents::{OpenDocument, OpenDocuments};

/// The file of the document among those of its analysis: main files are read first.
pub const MAIN_FILE: FileId = FileId(0);

/// One version of a document and its analysis.
#[derive(Debug)]
pub struct AnalysedDocument {
    /// The document that was analysed.
    pub document: OpenDocument,
    /// Findings of the compiler, and names.
    pub analysis: Analysis,
    /// Settings of the client.
    pub settings: Arc<ClientSettings>,
    /// URIs of the open documents by their paths: the client wants its own spelling.
    uris: BTreeMap<PathBuf, Uri>,
    /// Lines of the files that places were asked for in.
    texts: HashMap<FileId, OnceLock<DocumentText>>,
}

/// The name at a position: its place, and the declaration that it means, if one is known.
#[derive(Clone, Copy, Debug)]
pub struct NameAtPosition<'a> {
    /// Place of the name.
    pub span: Span,
    /// Meaning of the name.
    pub meaning: NameMeaning,
    /// The use, unless the place is that of a declaration alone.
    pub use_: Option<&'a NameUse>,
    /// The declaration, if it is in a file of the program.
    pub declaration: Option<&'a NameDeclaration>,
}

impl AnalysedDocument {
    /// Has the compiler check a document.
    ///
    /// # Errors
    /// [`Error::System`] if there is no thread with a deep stack for it.
    pub fn new(
        document: &OpenDocument,
        open: &OpenDocuments,
        settings: &Arc<ClientSettings>,
    ) -> Result<AnalysedDocument, Error> {
        let analysis = analysis_of(document, &open.texts(), settings)?;
        let files = analysis.findings.sources().files();
        let texts = files.map(|(id, _)| (id, OnceLock::new())).collect();
        let uris = open.iter().map(|one| (one.path.clone(), one.uri.clone()));
        Ok(AnalysedDocument {
            document: document.clone(),
            analysis,
            settings: Arc::clone(settings),
            uris: uris.collect(),
            texts,
        })
    }

    /// The byte offset of a position in the document.
    pub fn offset(&self, position: Position) -> u32 {
        self.document.text.offset(position, self.settings.unit)
    }

    /// The text of a file with its lines.
    pub fn text_of(&self, file: FileId) -> &DocumentText {
        if file == MAIN_FILE {
            return &self.document.text;
        }
        let sources = self.analysis.findings.sources();
        let text = || DocumentText::new(Arc::clone(&sources.file(file).text));
        match self.texts.get(&file) {
            Some(known) => known.get_or_init(text),
            None => &self.document.text,
        }
    }

    /// The range of a span in its file.
    pub fn range(&self, span: Span) -> lsp_types::Range {
        let text = self.text_of(span.file);
        text.range(span.start, span.end, self.settings.unit)
    }

    /// The location of a span; `None` if its file is one of the compiler's own.
    pub fn location(&self, span: Span) -> Option<Location> {
        Some(Location::new(self.uri(span.file)?, self.range(span)))
    }

    /// The URI of a file; `None` if it is one of the compiler's own.
    pub fn uri(&self, file: FileId) -> Option<Uri> {
        if file == MAIN_FILE {
            return Some(self.document.uri.clone());
        }
        let path = &self.analysis.findings.sources().file(file).path;
        let known = self.uris.get(path).cloned();
        known.or_else(|| {
            let path = std::fs::canonicalize(path).ok()?;
            let open = self.uris.get(&path).cloned();
            open.or_else(|| file_uri::uri_of(&path))
        })
    }

    /// The name at a position of the document.
    pub fn name_at(&self, position: Position) -> Option<NameAtPosition<'_>> {
        let offset = self.offset(position);
        let names = &self.analysis.names;
        if let Some(declaration) = names.declaration_at(MAIN_FILE, offset) {
            return Some(NameAtPosition {
                span: declaration.span,
                meaning: NameMeaning::Declared(declaration.span),
                use_: names.use_at(MAIN_FILE, offset),
                declaration: Some(declaration),
            });
        }
        let use_ = names.use_at(MAIN_FILE, offset)?;
        let declaration = match use_.meaning {
            NameMeaning::Declared(span) => names.declaration(span),
            _ => None,
        };
        Some(NameAtPosition {
            span: use_.span,
            meaning: use_.meaning,
            use_: Some(use_),
            declaration,
        })
    }

    /// The source text of a span.
    pub fn source(&self, span: Span) -> &str {
        self.analysis.findings.sources().text(span)
    }
}

/// Analyses a document with these texts in place of files.
///
/// # Errors
/// [`Error::System`] if there is no thread with a deep stack for it, [`Error::Read`] if the
/// document is not among the texts and has no file.
pub fn analysis_of(
    document: &OpenDocument,
    texts: &OpenTexts,
    settings: &ClientSettings,
) -> Result<Analysis, Error> {
    if !document.is_spl() {
        return Ok(Analysis::default());
    }
    let request = CompileRequest {
        file: document.path.clone(),
        toolkit_path: settings.toolkit_path.clone(),
        ..CompileRequest::default()
    };
    engine::with_deep_stack(|| analyse(&request, texts))?
}
