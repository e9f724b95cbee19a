//! Complaining, and finding a place from which to go on.

use super::marker::CompletedNode;
use super::parser_state::{DEPTH_MAX, Parser};
use crate::SyntaxKind::*;
use crate::{DeclarationKind, Diagnostic, Span, SyntaxKind, spelling};

/// An opening brace and what it opened: for the message when its partner is missing.
#[derive(Clone, Copy)]
pub(super) struct OpenBrace {
    /// Place of the brace.
    pub(super) span: Span,
    /// Construct that the brace opens, such as "composite"; empty for a broken head.
    pub(super) what: &'static str,
}

impl Parser<'_> {
    /// Says something unless something was already said of this place.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let is_kept = self.is_kept();
        self.reported_at = Some(self.pos);
        self.report_count += 1;
        if is_kept {
            let is_before_line =
                self.is_on_new_line(self.pos) && diagnostic.span == self.previous_end();
            self.suppressed_until = match is_before_line {
                true => self.pos,
                false => self.broken_end(),
            };
        }
        self.last_report = is_kept.then_some(self.diagnostics.len());
        if is_kept {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether a finding here is kept: it is no consequence of an earlier one.
    fn is_kept(&self) -> bool {
        let after_broken = self.pos > 0 && self.tokens[self.pos - 1].is_broken;
        let is_repeated = self
            .reported_at
            .is_some_and(|at| at == self.pos || self.pos < self.suppressed_until);
        !is_repeated && !after_broken && !self.is_after_unknown()
    }

    /// Adds help to what was reported last, if that was kept.
    pub(super) fn add_help(&mut self, help: impl Into<String>) {
        if let Some(at) = self.last_report {
            self.diagnostics[at].help.push(help.into());
        }
    }

    /// Says something that is no syntax error proper: the structure is clear, nothing is skipped.
    pub(super) fn report_remark(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn error_here(&mut self, code: &'static str, message: impl Into<String>) {
        let span = self.report_span();
        self.report(Diagnostic::error(code, span, message));
    }

    /// `error_expected X, found Y` at the token that came instead.
    pub(super) fn error_expected(&mut self, what: &str) {
        let message = match self.is_missed_before() {
            true => format!("expected {what}"),
            false => format!("expected {what}, found {}", self.found_here()),
        };
        self.error_here("expected-token", message);
    }

    /// `error_expected X, found Y` where an entry should begin: Y itself is shown, also on a new
    /// line.
    pub(super) fn error_unexpected(&mut self, what: &str) {
        if self.at_any(&[RBrace, Eof]) {
            self.error_missing(format!("expected {what}"));
        } else {
            let message = format!("expected {what}, found {}", self.found_here());
            self.error_at_token("unexpected-token", message);
        }
    }

    /// The token here as a message shows it.
    pub(super) fn found_here(&self) -> String {
        let text = self.token_text(self.pos);
        match self.current() {
            Ident | Number if text.len() <= 30 => format!("`{text}`"),
            kind => kind.describe(),
        }
    }

    /// Something is missing after the token before.
    pub(super) fn error_missing(&mut self, message: impl Into<String>) {
        let span = self.previous_end();
        self.report(Diagnostic::error("expected-token", span, message));
    }

    /// The token here is what is wrong.
    pub(super) fn error_at_token(&mut self, code: &'static str, message: impl Into<String>) {
        let span = self.span(self.pos);
        self.report(Diagnostic::error(code, span, message));
    }

    /// The last entry or statement ended where the next one can begin, whatever was wrong in it.
    pub(super) fn is_at_boundary(&self) -> bool {
        match self.pos.checked_sub(1).and_then(|at| self.tokens.get(at)) {
            Some(token) => matches!(token.kind, Semi | RBrace),
            None => true,
        }
    }

    /// Takes the `;` that ends something, or says that it is missing and goes on behind it.
    pub(super) fn semicolon(&mut self, after: &str) {
        if self.eat(Semi) {
            return;
        }
        if self.is_stray(self.pos) {
            self.stray_closers();
            return;
        }
        let span = self.previous_end();
        let message = format!("expected `;` after {after}");
        self.report(Diagnostic::error("missing-semicolon", span, message));
        let is_next_entry = self.at(Ident) && self.nth(1) == Colon;
        if !is_next_entry {
            self.skip_line();
        } else if self.last_report.is_some() {
            self.recovery.mended.insert(span);
        }
    }

    /// Brackets where something was to end that close nothing, and what follows them on the line.
    fn stray_closers(&mut self) {
        let bracket = self.current().text();
        let message = format!("this `{bracket}` closes nothing");
        self.error_at_token("unmatched-bracket", message);
        let broken = self.start();
        while self.is_stray(self.pos) && !self.is_on_new_line(self.pos) {
            self.bump();
            self.skip(|p| p.is_on_new_line(p.pos));
        }
        self.finish(broken, Error);
        self.eat(Semi);
    }

    /// Takes the closing brace, or says that it is missing and shows where it was opened.
    pub(super) fn close_brace(&mut self, opening: OpenBrace) {
        if self.eat(RBrace) {
            return;
        }
        let end = self.span(self.pos).start;
        let next = self
            .swallowed_braces
            .partition_point(|&at| at <= opening.span.start);
        if self.swallowed_braces.get(next).is_some_and(|&at| at <= end) {
            self.report_count += 1;
            return;
        }
        let what = opening.what;
        let message = format!("missing `}}` to close this {what}");
        let diagnostic = Diagnostic::error("missing-brace", self.previous_end(), message)
            .label(opening.span, format!("the {what} is opened here"));
        let suspect = self
            .is_kept()
            .then(|| self.misplaced_brace(opening))
            .flatten();
        self.report(match suspect {
            Some(place) => diagnostic.label(place, "perhaps the block that begins here lacks it"),
            None => diagnostic,
        });
    }

    /// A brace inside the unclosed one whose partner stands further left than the line that opened
    /// it: that partner was probably meant for a brace further out.
    fn misplaced_brace(&self, opening: OpenBrace) -> Option<Span> {
        let first = self
            .tokens
            .partition_point(|t| t.start <= opening.span.start);
        (first..self.pos)
            .filter(|&at| self.kind_at(at) == LBrace)
            .find(|&at| match self.after_group(at) {
                Some(after) if self.is_on_new_line(after - 1) => {
                    self.indentation(after - 1) < self.indentation(at)
                }
                _ => false,
            })
            .map(|at| self.span(at))
    }

    /// How many blanks begin the line of a token.
    pub(super) fn indentation(&self, index: usize) -> usize {
        self.lookahead
            .indentations
            .get(index)
            .map_or(0, |&n| n as usize)
    }

    /// Takes the `{` that opens something. `None` if it is missing; that was said then.
    pub(super) fn open_brace(&mut self, what: &'static str, place: &str) -> Option<OpenBrace> {
        let span = self.span(self.pos);
        if self.expect(LBrace, place) {
            return Some(OpenBrace { span, what });
        }
        None
    }

    /// Passes over what is left of a broken entry: to a `;`, which is taken, or to the end of the
    /// line, a closing brace, or a word that begins a clause or an item. Brackets are passed over
    /// whole.
    pub(super) fn skip_line(&mut self) {
        self.skip(|p| p.is_on_new_line(p.pos));
        self.eat(Semi);
    }

    /// Like [`Parser::skip_line`] over any number of lines.
    pub(super) fn skip_entry(&mut self) {
        self.skip(|_| false);
        self.eat(Semi);
    }

    /// Passes over tokens into an `Error` node, up to a `;`, an unmatched closing bracket, a word
    /// that begins a clause or an item, or where `stop` says so.
    pub(super) fn skip(&mut self, stop: impl Fn(&Self) -> bool) {
        if self.is_at_stop() || stop(self) {
            return;
        }
        let broken = self.start();
        while !self.is_at_stop() && !stop(self) {
            self.skip_one();
        }
        self.finish(broken, Error);
    }

    fn is_at_stop(&self) -> bool {
        self.at_end()
            || self.at_any(&[Semi, RBrace, RParen, RBracket])
            || self.begins_clause(self.pos)
            || self.begins_item(self.pos)
    }

    /// Takes a token, or everything between brackets if it opens some that are closed.
    pub(super) fn skip_one(&mut self) {
        let end = match self.current() {
            LParen | LBrace | LBracket => self.after_group(self.pos),
            _ => None,
        };
        let end = end.unwrap_or(self.pos + 1);
        while self.pos < end {
            self.bump();
        }
    }

    /// Passes over what is left of the group that was opened at `open`, if it is closed, and takes
    /// the closing bracket.
    pub(super) fn skip_to_close(&mut self, open: usize) {
        let Some(end) = self.after_group(open).filter(|&end| end > self.pos) else {
            return;
        };
        let broken = self.start();
        while self.pos + 1 < end {
            self.bump();
        }
        self.finish(broken, Error);
        self.bump();
    }

    /// Takes the token as an `Error` node.
    pub(super) fn skip_token(&mut self) -> CompletedNode {
        let broken = self.start();
        self.skip_one();
        self.finish(broken, Error)
    }

    /// Runs a production one level deeper. Past the limit the source is passed over instead.
    pub(super) fn nested<R>(&mut self, parse: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        if self.depth >= DEPTH_MAX {
            self.too_deep();
            return None;
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Says that nesting went too far and passes over what would go further.
    pub(super) fn too_deep(&mut self) {
        let span = self.span(self.pos);
        let diagnostic = Diagnostic::error("too-deep", span, "this is nested too deeply")
            .help("take a part of it out into a variable, a type or a function");
        // What is left of the same nest goes too far too.
        match std::mem::replace(&mut self.is_too_deep, true) {
            false => self.report(diagnostic),
            true => self.report_count += 1,
        }
        self.skip(|p| p.at(Comma));
        self.reported_at = Some(self.pos);
    }

    // Names.

    /// A name. A reserved word in its place is named and taken for one.
    pub(super) fn name(&mut self, what: &str) -> bool {
        match self.current() {
            Ident => self.plain_name(),
            kind if self.reserved_names.contains(&kind) && !self.begins_clause(self.pos) => {
                self.bump_as(Ident, 1);
                true
            }
            kind if kind.is_keyword() && self.is_meant_as_name() => {
                let word = kind.text();
                let message = format!("`{word}` is a reserved word and cannot be {what}");
                let span = self.span(self.pos);
                let is_behind_name = self.pos > 0 && self.kind_at(self.pos - 1) == Ident;
                let help = match kind.is_type_keyword() && is_behind_name {
                    true => {
                        let name = self.token_text(self.pos - 1);
                        format!("the type stands before the name: `{word} {name}`")
                    }
                    false => format!("choose another name, such as `{word}_`"),
                };
                self.report(Diagnostic::error("reserved-word", span, message).help(help));
                self.suppressed_until = self.pos;
                self.bump_as(Ident, 1);
                true
            }
            _ => {
                self.error_expected(what);
                false
            }
        }
    }

    /// A name that is defined here. `$` begins only the names of a composite's parameters.
    pub(super) fn declared_name(&mut self, what: &str) -> bool {
        let at = self.pos;
        let word = self.current();
        self.reserved_names.remove(&word);
        let is_name = self.name(what);
        if is_name && word.is_keyword() {
            self.reserved_names.insert(word);
        }
        if is_name && self.token_text(at).starts_with('$') {
            let message = format!("`{}` cannot be {what}", self.token_text(at));
            let span = self.span(at);
            self.report_remark(
                Diagnostic::error("dollar-name", span, message)
                    .help("only the name of a composite's parameter begins with `$`"),
            );
        }
        is_name
    }

    /// A name that other places refer to. A declaration without it, or with a wrong one, is noted.
    pub(super) fn declaration_name(&mut self, kind: DeclarationKind, what: &str) {
        let before = self.report_count;
        if !self.declared_name(what) || self.report_count != before {
            self.recovery.unnamed.insert(kind);
        }
    }

    fn plain_name(&mut self) -> bool {
        self.bump();
        true
    }

    /// A name where reserved words do no harm: names of annotations, their keys, config kinds.
    pub(super) fn lenient_name(&mut self, what: &str) -> bool {
        if self.current().is_keyword() && self.is_meant_as_name() {
            self.bump_as(Ident, 1);
            return true;
        }
        self.name(what)
    }

    /// A reserved word is followed by what follows names.
    fn is_meant_as_name(&self) -> bool {
        matches!(
            self.nth(1),
            Eq | Comma | Semi | Colon | RParen | Gt | LBrace | LParen | RBrace | InKw | AsKw
        ) && !self.begins_clause(self.pos)
    }

    /// The name here is one of `words`, misspelt: says so and takes it for that word.
    pub(super) fn misspelt(&mut self, words: &[SyntaxKind]) -> Option<SyntaxKind> {
        let kind = self.similar_keyword(self.pos, words)?;
        let written = self.token_text(self.pos);
        let span = self.span(self.pos);
        let message = format!("`{written}` is no word of SPL here");
        self.report(
            Diagnostic::error("misspelt-keyword", span, message)
                .help(format!("did you mean `{}`?", kind.text())),
        );
        self.bump_as(kind, 1);
        self.reported_at = None;
        Some(kind)
    }

    /// The keyword among `words` that the name at `index` resembles.
    pub(super) fn similar_keyword(&self, index: usize, words: &[SyntaxKind]) -> Option<SyntaxKind> {
        if self.kind_at(index) != Ident {
            return None;
        }
        let written = self.token_text(index);
        words
            .iter()
            .copied()
            .find(|word| spelling::is_similar(written, word.text()))
    }
}
