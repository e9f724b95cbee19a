//! Findings of the compiler as diagnostics of the protocol.

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString,
    PublishDiagnosticsParams,
};
use syntax::{DiagnosticLabel, Severity};

use crate::analysed_document::{AnalysedDocument, MAIN_FILE};

/// The diagnostics of a document. A finding in another file of the program, such as a toolkit's, is
/// shown at the beginning of the document with its place as related information.
pub fn published(analysed: &AnalysedDocument) -> PublishDiagnosticsParams {
    let findings = analysed.analysis.findings.diagnostics();
    let diagnostics = findings.iter().map(|finding| diagnostic(analysed, finding));
    PublishDiagnosticsParams {
        uri: analysed.document.uri.clone(),
        diagnostics: diagnostics.collect(),
        version: Some(analysed.document.version),
    }
}

fn diagnostic(analysed: &AnalysedDocument, finding: &syntax::Diagnostic) -> Diagnostic {
    let mut related: Vec<_> = finding
        .labels
        .iter()
        .filter_map(|label| related_place(analysed, label))
        .collect();
    let is_elsewhere = finding.span.file != MAIN_FILE;
    if is_elsewhere {
        let label = DiagnosticLabel {
            span: finding.span,
            text: "the place in the other file".to_owned(),
        };
        related.extend(related_place(analysed, &label));
    }
    let mut message = finding.message.clone();
    for help in &finding.help {
        message += &format!("\nhelp: {help}");
    }
    let range = match is_elsewhere {
        true => analysed.document.text.range(0, 0, analysed.settings.unit),
        false => analysed.range(finding.span),
    };
    Diagnostic {
        range,
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(finding.code.to_owned())),
        source: Some("thalweg".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

fn related_place(
    analysed: &AnalysedDocument,
    label: &DiagnosticLabel,
) -> Option<DiagnosticRelatedInformation> {
    Some(DiagnosticRelatedInformation {
        location: analysed.location(label.span)?,
        message: label.text.clone(),
    })
}
