//! Clauses: their order, and the entries they share (`name : values;`).

use super::{expr, types};
use crate::SyntaxKind::*;
use crate::parser::parser_state::Parser;
use crate::{Diagnostic, Severity, Span, SyntaxKind};

/// Clauses of a body in the order the language wants, and those that have come.
pub(in crate::parser) struct ClauseOrder {
    order: &'static [SyntaxKind],
    /// Severity of a clause that is out of order.
    severity: Severity,
    present_clauses: Vec<(SyntaxKind, Span)>,
}

impl ClauseOrder {
    /// The order of a composite, which is a rule.
    pub(in crate::parser) fn strict(order: &'static [SyntaxKind]) -> ClauseOrder {
        ClauseOrder::new(order, Severity::Error)
    }

    /// The order of an invocation, which is a custom: its clauses mean the same in any order.
    pub(in crate::parser) fn conventional(order: &'static [SyntaxKind]) -> ClauseOrder {
        ClauseOrder::new(order, Severity::Warning)
    }

    fn new(order: &'static [SyntaxKind], severity: Severity) -> ClauseOrder {
        ClauseOrder {
            order,
            severity,
            present_clauses: Vec::new(),
        }
    }

    /// Whether there was a clause of that keyword.
    pub(in crate::parser) fn has(&self, kind: SyntaxKind) -> bool {
        self.present_clauses.iter().any(|&(seen, _)| seen == kind)
    }

    /// Whether the last clause stands too late, which was reported.
    pub(in crate::parser) fn is_late(&self) -> bool {
        let rank = |&(kind, _): &(SyntaxKind, Span)| self.order.iter().position(|&k| k == kind);
        let last = self.present_clauses.last().map(rank);
        self.present_clauses
            .iter()
            .any(|seen| Some(rank(seen)) > last)
    }

    /// Checks the clause whose keyword is here against those before it.
    pub(in crate::parser) fn check_clause(&mut self, p: &mut Parser) {
        let kind = p.current();
        let span = p.span(p.pos);
        let word = kind.text();
        if let Some(&(_, first)) = self.present_clauses.iter().find(|(seen, _)| *seen == kind) {
            // The word twice in a row: that the first has no entries was said.
            if p.reported_at == Some(p.pos) {
                return;
            }
            let message = format!("a second `{word}` clause");
            p.report_remark(
                Diagnostic::error("duplicate-clause", span, message)
                    .label(first, format!("the first `{word}` clause"))
                    .help("put all entries into one clause"),
            );
            return;
        }
        let rank = |kind| self.order.iter().position(|&k| k == kind);
        let later = self
            .present_clauses
            .iter()
            .find(|(seen, _)| rank(*seen) > rank(kind));
        if let Some(&(after, place)) = later {
            let must = match self.severity {
                Severity::Error => "must come",
                Severity::Warning => "usually comes",
            };
            let message = format!("the `{word}` clause {must} before `{}`", after.text());
            let finding = Diagnostic {
                severity: self.severity,
                ..Diagnostic::error("clause-order", span, message)
            };
            let words: Vec<_> = self
                .order
                .iter()
                .map(|k| format!("`{}`", k.text()))
                .collect();
            p.report_remark(
                finding
                    .label(place, format!("the `{}` clause", after.text()))
                    .help(format!("the order is {}", words.join(", "))),
            );
        }
        self.present_clauses.push((kind, span));
    }
}

impl Parser<'_> {
    /// The entries of a clause, up to what ends it. After a broken entry its remains are passed
    /// over in silence.
    pub(in crate::parser) fn entries(
        &mut self,
        what: &str,
        begins: impl Fn(&Parser) -> bool,
        mut entry: impl FnMut(&mut Parser),
    ) {
        let mut failed = false;
        let mut count = 0;
        while !self.is_clause_end() {
            let before = (self.pos, self.report_count);
            let mut is_stray = false;
            if begins(self) {
                entry(self);
            } else if count > 0 && self.is_misspelt_clause() {
                return;
            } else {
                match self.at(Semi) {
                    true => self.error_at_token("unexpected-token", "no `;` is needed here"),
                    false if !failed => self.error_unexpected(what),
                    false => {}
                }
                // Of several things that are no entries only the first is shown.
                is_stray = !self.at(Semi);
                self.skip_to_entry(&begins);
            }
            failed = is_stray || (self.report_count != before.1 && !self.is_at_boundary());
            count += 1;
            if self.pos == before.0 {
                self.skip_token();
            }
        }
        if count == 0 {
            self.error_unexpected(what);
        }
    }

    fn skip_to_entry(&mut self, begins: &impl Fn(&Parser) -> bool) {
        let broken = self.start();
        let is_stray = self.at(Semi);
        self.skip_one();
        while !is_stray && !self.is_clause_end() && !begins(self) {
            let ends = self.at(Semi);
            self.skip_one();
            if ends {
                break;
            }
        }
        self.finish(broken, Error);
    }

    /// Whether the next token can stand in no entry, so that the clause is over.
    pub(in crate::parser) fn is_clause_end(&self) -> bool {
        let is_annotation_or_head = self.begins_invocation(self.pos);
        self.at_any(&[RBrace, Eof])
            || self.begins_clause(self.pos)
            || self.begins_item(self.pos)
            || is_annotation_or_head
    }

    /// `parm file : ...`: a name that resembles a clause's keyword before what begins an entry.
    pub(in crate::parser) fn is_misspelt_clause(&self) -> bool {
        const CLAUSES: &[SyntaxKind] = &[ParamKw, OutputKw, WindowKw, ConfigKw, LogicKw, GraphKw];
        self.is_on_new_line(self.pos)
            && !matches!(self.nth(1), Colon | Eq)
            && self.similar_keyword(self.pos, CLAUSES).is_some()
    }
}

/// A name and a colon, or at least a name: an entry of most clauses.
pub(in crate::parser) fn begins_entry(p: &Parser) -> bool {
    match p.current() {
        Ident => !p.is_misspelt_clause(),
        kind => kind.is_keyword() && p.nth(1) == Colon,
    }
}

/// `name : e, e;` of a `config` clause.
pub(in crate::parser) fn config_entry(p: &mut Parser) {
    let node = p.start();
    let name = p.start();
    p.lenient_name("the name of a configuration");
    p.finish(name, Name);
    if colon(p, "after the configuration's name") {
        expr::expr_list(p);
    }
    p.semicolon("the configuration");
    p.finish(node, ConfigEntry);
}

/// The `:` of an entry; without it there must be a value here to go on with.
pub(in crate::parser) fn colon(p: &mut Parser, place: &str) -> bool {
    if p.eat(Colon) {
        return true;
    }
    let span = p.previous_end();
    let message = format!("expected `:` {place}");
    p.report(Diagnostic::error("expected-token", span, message));
    if p.at(Eq) {
        p.add_help("a value is given by `:`, as in `name : value;`");
        p.bump();
        return true;
    }
    !p.is_on_new_line(p.pos) && !p.at_any(&[Semi, RBrace, Eof])
}

/// Parses the value of a parameter: a type, or expressions; says whether it was a type. A bare name
/// is an expression.
pub(in crate::parser) fn actual(p: &mut Parser) -> bool {
    let is_type = p.current().is_type_keyword() && !p.is_reserved_name(p.pos);
    if is_type {
        types::type_expr(p);
    } else {
        expr::expr_list(p);
    }
    is_type
}

pub(in crate::parser) fn entry_name(p: &mut Parser, what: &str) {
    let name = p.start();
    p.name(what);
    p.finish(name, Name);
}
