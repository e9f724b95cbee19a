//! Findings that follow from broken syntax, and are held back.
//!
//! The parser skips broken syntax, so that later stages miss names, parameters and assignments that
//! the user has written. There is an error in any case. A finding that is held back here is
//! reported once the syntax is mended, if it still holds.

use std::collections::{HashMap, HashSet};

use syntax::ast::Invocation;
use syntax::{Diagnostic, Severity, SourceMap, Span};

use crate::main_composite;
use crate::names::SymbolTable;

/// Places of broken syntax, with the findings that they explain.
pub(crate) struct BrokenSyntax {
    /// Each error of the syntax.
    errors: Vec<(&'static str, Span)>,
    /// Names on the lines of these errors, with one such line each.
    names: HashMap<String, Vec<Span>>,
    /// The kinds of names that are looked for in vain because a definition has lost its name.
    unnamed_codes: Vec<&'static str>,
    /// Invocations that are broken somewhere.
    invocations: Vec<Span>,
    /// Names that are defined twice: the second definition is left out.
    duplicates: HashSet<String>,
}

/// The rules behind whose findings the rest of a line may have been misread.
const MISREAD_LINE_CODES: &[&str] = &[
    "expected-token",
    "unexpected-token",
    "unexpected-character",
    "unmatched-bracket",
    "unterminated-comment",
    "unterminated-string",
];

/// Further rules behind whose findings a name may be missing that stands on the line.
const MISSED_NAME_CODES: &[&str] = &[
    "dollar-name",
    "duplicate-ports",
    "formal-name",
    "misplaced-modifier",
    "missing-semicolon",
    "mixed-tuple",
    "nested-composite",
    "nested-function",
    "reserved-word",
];

/// Rules about names that nothing defines, or whose definition is broken.
const NAME_CODES: &[&str] = &[
    "missing-stream",
    "no-overload",
    "not-a-value",
    "unknown-attribute",
    "unknown-formal",
    "unknown-function",
    "unknown-name",
    "unknown-operator",
    "unknown-param",
    "unknown-port",
    "unknown-stream",
    "unknown-type",
    "wrong-argument-count",
];

/// Rules about invocations in which something is missing.
const MISSING_PART_CODES: &[&str] = &[
    "missing-param",
    "missing-window",
    "operator-rule",
    "port-count",
    "unassigned-attribute",
];

/// Words of the parser's message for a definition without a name, with the rules about the names
/// that are unknown in consequence.
const LOST_NAME_CODES: &[(&str, &[&str])] = &[
    ("the name of a stream", &["unknown-stream", "unknown-port"]),
    ("the name of a port", &["unknown-stream", "unknown-port"]),
    ("the name of a composite", &["unknown-operator"]),
    ("the name of a type", &["unknown-type"]),
    ("the name of a variable", &["unknown-name"]),
    ("a parameter's name", &["unknown-formal", "unknown-param"]),
];

impl BrokenSyntax {
    /// Collects the errors of the parser and the definitions that occur twice.
    pub(crate) fn new(
        diagnostics: &[Diagnostic],
        definitions: &[Diagnostic],
        symbols: &SymbolTable,
    ) -> BrokenSyntax {
        let duplicates = definitions
            .iter()
            .filter(|found| found.code == "duplicate-definition")
            .map(|found| symbols.sources().text(found.span).to_owned());
        let errors: Vec<_> = diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .collect();
        let places: Vec<_> = errors.iter().map(|d| (d.code, d.span)).collect();
        let lost = |error: &&Diagnostic| {
            let found = LOST_NAME_CODES
                .iter()
                .find(|(name, _)| error.message.contains(name));
            found.map_or(&[][..], |(_, codes)| codes)
        };
        BrokenSyntax {
            names: names(&places, symbols.sources()),
            unnamed_codes: errors.iter().flat_map(lost).copied().collect(),
            invocations: invocations(&places, symbols),
            duplicates: duplicates.collect(),
            errors: places,
        }
    }

    /// Whether a finding follows from what is broken.
    pub(crate) fn explains(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        let is_own = self.errors.contains(&(finding.code, finding.span));
        let follows = !is_own
            && !self.errors.is_empty()
            && (self.explains_place(finding, sources)
                || self.explains_name(finding, sources)
                || self.explains_part(finding, sources)
                || self.explains_end(finding)
                || self.explains_main(finding));
        follows || self.explains_kind(finding, sources)
    }

    /// Whether the name belongs to two definitions, of which the second was left out.
    fn explains_kind(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        let name = words(sources.text(finding.span)).last().unwrap_or("");
        matches!(
            finding.code,
            "unknown-function" | "unknown-operator" | "unknown-type"
        ) && self.duplicates.contains(name)
    }

    /// Whether a finding lies where the syntax is broken, later on a line that the parser had to
    /// skip, or earlier in the same statement.
    fn explains_place(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        let at = finding.span;
        let shown = || finding.labels.iter().map(|label| label.span).chain([at]);
        let overlaps = |broken: &Span| {
            shown().any(|at| {
                broken.file == at.file && broken.start <= at.end && at.start <= broken.end
            })
        };
        let misread = |code: &str, broken: Span| {
            MISREAD_LINE_CODES.contains(&code)
                && on_one_line(broken, at, sources)
                && (broken.start < at.start || in_one_statement(at, broken, sources))
        };
        let explains = |&(code, broken): &(&'static str, Span)| {
            broken.file == at.file && (overlaps(&broken) || misread(code, broken))
        };
        self.errors.iter().any(explains)
    }

    /// The name that is unknown stands in what is broken, or a definition there has lost its name.
    fn explains_name(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        if !NAME_CODES.contains(&finding.code) {
            return false;
        }
        let name = words(sources.text(finding.span)).last().unwrap_or("");
        let elsewhere = |&line: &Span| !on_one_line(line, finding.span, sources);
        let is_there = self.names.get(name);
        self.unnamed_codes.contains(&finding.code)
            || is_there.is_some_and(|lines| lines.iter().any(elsewhere))
    }

    /// A function with a broken statement, which may be the one that returns, does not return.
    fn explains_end(&self, finding: &Diagnostic) -> bool {
        let end = finding.labels.iter().map(|label| label.span.end).max();
        let holds = |&(_, broken): &(&str, Span)| {
            broken.file == finding.span.file
                && finding.span.start <= broken.start
                && end.is_some_and(|end| broken.start <= end)
        };
        finding.code == "missing-return" && self.errors.iter().any(holds)
    }

    /// A composite without operators may have some that are broken.
    fn explains_main(&self, finding: &Diagnostic) -> bool {
        let follows = |&(_, broken): &(&str, Span)| {
            broken.file == finding.span.file && finding.span.start <= broken.start
        };
        let is_empty = finding.labels.is_empty();
        finding.code == "not-a-main" && is_empty && self.errors.iter().any(follows)
    }

    /// Something is missing in an invocation that is broken, or that is of a composite whose head
    /// is.
    fn explains_part(&self, finding: &Diagnostic, sources: &SourceMap) -> bool {
        let at = finding.span;
        let holds = |invocation: &Span| {
            invocation.file == at.file && invocation.start <= at.start && at.end <= invocation.end
        };
        let is_broken = |place: Span| {
            let mut places = self.errors.iter();
            places.any(|&(_, broken)| on_one_line(broken, place, sources))
        };
        let mut defined = finding.labels.iter().map(|label| label.span);
        MISSING_PART_CODES.contains(&finding.code)
            && (self.invocations.iter().any(holds) || defined.any(is_broken))
    }
}

/// Nothing that ends a statement stands between one place and a later one.
fn in_one_statement(first: Span, second: Span, sources: &SourceMap) -> bool {
    let between = sources.text(Span::new(first.file, first.start, second.start));
    !between.contains([';', '{', '}'])
}

fn on_one_line(a: Span, b: Span, sources: &SourceMap) -> bool {
    a.file == b.file && sources.line_of(a) == sources.line_of(b)
}

/// The names on the lines of errors behind which something may be missing.
fn names(places: &[(&'static str, Span)], sources: &SourceMap) -> HashMap<String, Vec<Span>> {
    let mut names: HashMap<String, Vec<Span>> = HashMap::new();
    for &(code, span) in places {
        if MISREAD_LINE_CODES.contains(&code) || MISSED_NAME_CODES.contains(&code) {
            let line = sources.file(span.file).line(sources.line_of(span));
            for word in words(line) {
                // A parameter is given by its name without `$`.
                for name in [Some(word), word.strip_prefix('$')].into_iter().flatten() {
                    names.entry(name.to_owned()).or_default().push(span);
                }
            }
        }
    }
    names
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    text.split(move |c| !is_part(c)).filter(|w| !w.is_empty())
}

/// The invocations that hold one of the places.
fn invocations(places: &[(&'static str, Span)], symbols: &SymbolTable) -> Vec<Span> {
    if places.is_empty() {
        return Vec::new();
    }
    let graphs = symbols
        .units()
        .flat_map(|(_, unit)| main_composite::composites(&unit.unit))
        .flat_map(|composite| &composite.graph);
    let is_broken = |invocation: &&Invocation| {
        let whole = invocation.span;
        places.iter().any(|(_, span)| {
            span.file == whole.file && whole.start <= span.start && span.start <= whole.end
        })
    };
    graphs.filter(is_broken).map(|i| i.span).collect()
}
