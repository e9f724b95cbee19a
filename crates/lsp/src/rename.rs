//! Rename of what a program declares, in all files of the program.
//!
//! A rename must not change what the program means. So the compiler checks the program again with
//! the new name, before anything is offered to the client: the findings have to be the same, and
//! every name has to mean the declaration that it meant before. That refuses what no search for
//! names can: a name that is taken, a declaration that would hide another, attributes that are
//! forwarded because their names are equal, names in texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use compiler::{Loader, NameDeclaration, NameIndex, NameMeaning};
use engine::Analysis;
use lsp_types::{
    DocumentChanges, OneOf, OptionalVersionedTextDocumentIdentifier, Position,
    PrepareRenameResponse, TextDocumentEdit, TextEdit, WorkspaceEdit,
};
use syntax::{DeclarationKind, FileId, Severity, Span, SyntaxKind};
use tuple::Type;

use crate::analysed_document::{AnalysedDocument, MAIN_FILE, analysis_of};
use crate::file_uri;
use crate::open_documents::{OpenDocument, OpenDocuments};

/// Places of a name in one file with what to write there, in order.
type FileEdits = BTreeMap<Span, String>;

/// The range of the name that a rename at this position would change.
///
/// # Errors
/// A sentence: why it cannot be renamed.
pub fn prepare(
    analysed: &AnalysedDocument,
    position: Position,
) -> Result<PrepareRenameResponse, String> {
    let (_, span) = declared_at(analysed, position)?;
    Ok(PrepareRenameResponse::RangeWithPlaceholder {
        range: analysed.range(span),
        placeholder: analysed.source(span).to_owned(),
    })
}

/// The edits that give the name at a position another name.
///
/// # Errors
/// A sentence: why it cannot be renamed.
pub fn rename(
    analysed: &AnalysedDocument,
    position: Position,
    new_name: &str,
    open: &OpenDocuments,
) -> Result<WorkspaceEdit, String> {
    let (declared, _) = declared_at(analysed, position)?;
    let new_name = checked_name(analysed, declared, new_name)?;
    let edits = edits(analysed, declared, &new_name)?;
    check_other_programs(analysed, declared, open)?;
    check_meaning(analysed, &edits, open, &new_name)?;
    workspace_edit(analysed, &edits, open)
}

/// The declaration of the name at a position, and the place of the name.
fn declared_at(analysed: &AnalysedDocument, position: Position) -> Result<(Span, Span), String> {
    let name = analysed
        .name_at(position)
        .ok_or("there is no name here whose declaration is known")?;
    match name.meaning {
        NameMeaning::Declared(declared) if analysed.uri(declared.file).is_some() => {
            Ok((declared, name.span))
        }
        _ => {
            let written = analysed.source(name.span);
            Err(format!("`{written}` belongs to the library"))
        }
    }
}

/// The new name as declarations write it.
fn checked_name(
    analysed: &AnalysedDocument,
    declared: Span,
    new_name: &str,
) -> Result<String, String> {
    let is_formal = analysed.source(declared).starts_with('$');
    let name = match (is_formal, new_name.strip_prefix('$')) {
        (true, None) => format!("${new_name}"),
        _ => new_name.to_owned(),
    };
    let (tokens, _) = syntax::tokens(MAIN_FILE, &name);
    match &tokens[..] {
        [one] if one.kind == SyntaxKind::Ident && name.starts_with('$') == is_formal => Ok(name),
        [one] if one.kind.is_keyword() => Err(format!("`{name}` is a reserved word")),
        _ => Err(format!("`{new_name}` is not a name")),
    }
}

/// All places of a name with what to write there.
fn edits(analysed: &AnalysedDocument, declared: Span, new_name: &str) -> Result<FileEdits, String> {
    let names = &analysed.analysis.names;
    let mut edits = FileEdits::new();
    edits.insert(declared, new_name.to_owned());
    for use_ in names.uses_of(declared) {
        let written = analysed.source(use_.span);
        if use_.is_ambiguous {
            return Err(format!(
                "`{written}` means several declarations, one in each invocation of its composite"
            ));
        }
        // Invocations write the parameters of composites without the `$`.
        let text = match written.starts_with('$') {
            true => new_name,
            false => new_name.trim_start_matches('$'),
        };
        edits.insert(use_.span, text.to_owned());
    }
    Ok(edits)
}

/// Whether no program beside this one uses the name: open documents and files of the folder of the
/// declaration, which may need the file of the declaration without being needed by it.
fn check_other_programs(
    analysed: &AnalysedDocument,
    declared: Span,
    open: &OpenDocuments,
) -> Result<(), String> {
    let names = &analysed.analysis.names;
    if !names.declaration(declared).is_some_and(is_seen_outside) {
        return Ok(());
    }
    let sources = analysed.analysis.findings.sources();
    let declared_in = sources.file(declared.file).path.clone();
    let name = analysed.source(declared).trim_start_matches('$').to_owned();
    let texts = open.texts();
    let is_other = |path: &PathBuf| sources.files().all(|(_, file)| file.path != *path);
    let folder = declared_in.parent().map(|folder| texts.list(folder));
    let paths: BTreeSet<PathBuf> = open
        .iter()
        .map(|document| document.path.clone())
        .chain(folder.unwrap_or_default())
        .filter(is_other)
        .collect();
    for path in paths.into_iter().take(OTHER_PROGRAMS_MAX) {
        let Some(uri) = file_uri::uri_of(&path) else {
            continue;
        };
        let text = texts.read(&path).unwrap_or_default().text;
        if !text.contains(&name) {
            continue;
        }
        let other = OpenDocument::new(uri, 0, text);
        let found = analysis_of(&other, &texts, &analysed.settings);
        if found.is_ok_and(|found| has_use(&found, &declared_in, declared)) {
            let path = path.display();
            return Err(format!(
                "`{name}` is used in {path}, which this file does not need; rename it there"
            ));
        }
    }
    Ok(())
}

/// Programs at most that a rename looks into besides its own: each costs an analysis.
const OTHER_PROGRAMS_MAX: usize = 200;

/// Whether other files can name what is declared: not variables and streams.
fn is_seen_outside(declaration: &NameDeclaration) -> bool {
    match declaration.kind {
        DeclarationKind::Stream => false,
        // Enumerators are the only variables that can be seen.
        DeclarationKind::Variable => match &declaration.ty {
            Some(Type::Enum(ty)) => ty.names.contains(&declaration.name),
            _ => false,
        },
        _ => true,
    }
}

/// Whether a program uses the name that is declared at a place of this file.
fn has_use(program: &Analysis, file: &Path, declared: Span) -> bool {
    let sources = program.findings.sources();
    let mut uses = program.names.uses().iter();
    uses.any(|use_| match use_.meaning {
        NameMeaning::Declared(span) => {
            (span.start, span.end) == (declared.start, declared.end)
                && sources.file(span.file).path == file
        }
        _ => false,
    })
}

/// Whether the program means the same with the edits.
fn check_meaning(
    analysed: &AnalysedDocument,
    edits: &FileEdits,
    open: &OpenDocuments,
    new_name: &str,
) -> Result<(), String> {
    let mut texts = open.texts();
    for file in files(edits) {
        let path = &analysed.analysis.findings.sources().file(file).path;
        texts.insert(path, edited(analysed, file, edits).into());
    }
    let after = analysis_of(&analysed.document, &texts, &analysed.settings)
        .map_err(|error| error.to_string())?;
    if let Some(message) = new_error(&analysed.analysis, &after) {
        return Err(format!("`{new_name}` cannot be used here: {message}"));
    }
    let moved = moved_meanings(&analysed.analysis.names, edits);
    let found = meanings(&after.names);
    match moved == found {
        true => Ok(()),
        false => Err(format!(
            "with the name `{new_name}` a name of the program would mean something else"
        )),
    }
}

/// The first error that a program has and had not.
fn new_error(before: &Analysis, after: &Analysis) -> Option<String> {
    let errors = |analysis: &Analysis| -> Vec<(&'static str, String)> {
        let findings = analysis.findings.diagnostics().iter();
        let errors = findings.filter(|finding| finding.severity == Severity::Error);
        errors
            .map(|error| (error.code, error.message.clone()))
            .collect()
    };
    let (before, after) = (errors(before), errors(after));
    if after.len() <= before.len() {
        return None;
    }
    let new = after.iter().find(|(code, message)| {
        !before
            .iter()
            .any(|(known, text)| known == code && text == message)
    });
    new.or(after.last()).map(|(_, message)| message.clone())
}

/// Names by place, each with the declaration that it means.
type Meanings = BTreeSet<(Span, Span)>;

fn meanings(names: &NameIndex) -> Meanings {
    let uses = names.uses().iter();
    let declared = uses.filter_map(|use_| match use_.meaning {
        NameMeaning::Declared(declared) => Some((use_.span, declared)),
        _ => None,
    });
    declared.collect()
}

/// The meanings of the names of a program, at the places that they have after the edits.
fn moved_meanings(names: &NameIndex, edits: &FileEdits) -> Meanings {
    let all = meanings(names).into_iter();
    let moved = all.map(|(name, declared)| (moved(name, edits), moved(declared, edits)));
    moved.collect()
}

/// A span at the place that it has after the edits.
fn moved(span: Span, edits: &FileEdits) -> Span {
    let growth = |end: u32| {
        let before = edits.range(Span::new(span.file, 0, 0)..Span::new(span.file, end, 0));
        let sum: i64 = before
            .map(|(place, text)| text.len() as i64 - i64::from(place.end - place.start))
            .sum();
        i64::from(end) + sum
    };
    let start = growth(span.start) as u32;
    let end = match edits.get(&span) {
        Some(text) => start + text.len() as u32,
        None => growth(span.end) as u32,
    };
    Span::new(span.file, start, end)
}

fn files(edits: &FileEdits) -> BTreeSet<FileId> {
    edits.keys().map(|span| span.file).collect()
}

/// The text of a file with the edits.
fn edited(analysed: &AnalysedDocument, file: FileId, edits: &FileEdits) -> String {
    let text = analysed.text_of(file).text();
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for (span, name) in edits.iter().filter(|(span, _)| span.file == file) {
        new += &text[at..span.start as usize];
        new += name;
        at = span.end as usize;
    }
    new + &text[at..]
}

fn workspace_edit(
    analysed: &AnalysedDocument,
    edits: &FileEdits,
    open: &OpenDocuments,
) -> Result<WorkspaceEdit, String> {
    let mut changes = Vec::new();
    for file in files(edits) {
        let uri = analysed
            .uri(file)
            .ok_or("a file of the program is part of the library")?;
        let of_file = edits.iter().filter(|(span, _)| span.file == file);
        let edits: Vec<_> = of_file
            .map(|(span, name)| TextEdit::new(analysed.range(*span), name.clone()))
            .collect();
        changes.push((uri, edits));
    }
    if !analysed.settings.takes_document_changes {
        return Ok(WorkspaceEdit {
            changes: Some(changes.into_iter().collect()),
            ..WorkspaceEdit::default()
        });
    }
    let changes = changes.into_iter().map(|(uri, edits)| TextDocumentEdit {
        edits: edits.into_iter().map(OneOf::Left).collect(),
        text_document: OptionalVersionedTextDocumentIdentifier {
            version: open.get(uri.as_str()).map(|document| document.version),
            uri,
        },
    });
    Ok(WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(changes.collect())),
        ..WorkspaceEdit::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_move_with_the_edits_before_them() {
        let span = |start, end| Span::new(MAIN_FILE, start, end);
        let edits = FileEdits::from([
            (span(2, 5), "longer".to_owned()),
            (span(10, 12), "x".to_owned()),
        ]);
        assert_eq!(moved(span(0, 2), &edits), span(0, 2));
        assert_eq!(moved(span(2, 5), &edits), span(2, 8));
        assert_eq!(moved(span(6, 8), &edits), span(9, 11));
        assert_eq!(moved(span(10, 12), &edits), span(13, 14));
        assert_eq!(moved(span(12, 14), &edits), span(14, 16));
        assert_eq!(moved(span(0, 14), &edits), span(0, 16));
    }
}
