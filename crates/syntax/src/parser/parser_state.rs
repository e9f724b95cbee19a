//! The state of a parse: tokens, position, events, findings; looking at tokens and taking them.

use std::collections::HashSet;

use super::event::ParseEvent;
use super::lookahead::Lookahead;
use crate::broken::Recovery;
use crate::lexer::Token;
use crate::step_count::count_steps;
use crate::{Diagnostic, FileId, Severity, Span, SyntaxKind};

/// How deep blocks, expressions and types may nest.
pub(super) const DEPTH_MAX: u32 = 256;
/// How high a tree of operators may grow: `a + b + c + ...` grows by one with each operator.
/// Programs that were generated have sums of thousands of terms.
pub(super) const HEIGHT_MAX: u32 = 8192;
/// How many `else if` may be open at once: each stands in the `else` of the one before.
pub(super) const OPEN_ELSE_IFS_MAX: u32 = 4096;

/// Largest number of syntax errors of one file that are shown: more would hide the first ones.
const ERRORS_MAX: usize = 100;

/// The state of a parse: significant tokens, how many were taken, and what was noted.
pub(super) struct Parser<'t> {
    pub(super) file: FileId,
    pub(super) text: &'t str,
    /// Tokens without white space and comments.
    pub(super) tokens: Vec<Token>,
    /// Offsets of characters that no token begins with.
    pub(super) unknown_characters: Vec<u32>,
    /// Offsets of tokens that may have swallowed closing braces: strings without end, and comments
    /// of other languages.
    pub(super) swallowed_braces: Vec<u32>,
    pub(super) lookahead: Lookahead,
    pub(super) pos: usize,
    pub(super) events: Vec<ParseEvent>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) recovery: Recovery,
    /// Reserved words that were declared as names, which was reported: their uses are none.
    pub(super) reserved_names: HashSet<SyntaxKind>,
    /// Heights of the nodes that are open, the innermost last.
    pub(super) heights: Vec<u32>,
    pub(super) depth: u32,
    /// How many `else if` are open, of whatever chain.
    pub(super) open_else_ifs: u32,
    /// The position of the last complaint: there is none further while it stays, nor up to
    /// `suppressed_until`.
    pub(super) reported_at: Option<usize>,
    /// Index of the token up to which further findings are dropped, for they follow from the last
    /// one.
    pub(super) suppressed_until: usize,
    /// The last complaint, if it was kept.
    pub(super) last_report: Option<usize>,
    /// How many complaints there were, kept or not.
    pub(super) report_count: usize,
    /// Whether the nesting of this statement, or of the rest of a broken one, was reported as too
    /// deep.
    pub(super) is_too_deep: bool,
}

/// Cuts findings at the first error that is too many, and says so there. Warnings alone are all
/// kept: a program that has only those is right.
pub(super) fn cut_errors(findings: &mut Vec<Diagnostic>) {
    let all = findings.iter().enumerate();
    let mut errors = all.filter(|(_, finding)| finding.severity == Severity::Error);
    if let Some((at, next)) = errors.nth(ERRORS_MAX) {
        let message = "there are more errors; they are shown when these are mended";
        let last = Diagnostic::error("too-many-errors", next.span, message);
        findings.truncate(at);
        findings.push(last);
    }
}

impl<'t> Parser<'t> {
    pub(super) fn new(file: FileId, text: &'t str, raw: &[Token]) -> Parser<'t> {
        let tokens: Vec<Token> = raw
            .iter()
            .filter(|t| !t.kind.is_trivia())
            .copied()
            .collect();
        Parser {
            file,
            text,
            events: Vec::with_capacity(tokens.len() * 3),
            unknown_characters: raw
                .iter()
                .filter(|t| t.kind == SyntaxKind::Unknown)
                .map(|t| t.start)
                .collect(),
            swallowed_braces: raw
                .iter()
                .filter(|t| t.is_broken || t.kind == SyntaxKind::Unknown)
                .filter(|t| text[t.start as usize..t.end as usize].contains('}'))
                .map(|t| t.start)
                .collect(),
            lookahead: Lookahead::new(&tokens, text),
            tokens,
            pos: 0,
            diagnostics: Vec::new(),
            recovery: Recovery::default(),
            reserved_names: HashSet::new(),
            heights: vec![0],
            depth: 0,
            open_else_ifs: 0,
            reported_at: None,
            suppressed_until: 0,
            last_report: None,
            report_count: 0,
            is_too_deep: false,
        }
    }

    /// Parses one thing that must be the whole text.
    pub(super) fn parse_whole_text(&mut self, kind: SyntaxKind, parse: impl FnOnce(&mut Self)) {
        let whole = self.start();
        parse(self);
        if !self.at_end() {
            let message = format!("expected the end, found {}", self.found_here());
            self.error_here("unexpected-token", message);
            let rest = self.start();
            while !self.at_end() {
                self.bump();
            }
            self.finish(rest, SyntaxKind::Error);
        }
        self.finish(whole, kind);
    }

    /// All that is wrong, by place. A comment that swallowed the rest of the file hides what was
    /// missed at the end.
    pub(super) fn diagnostics(
        &mut self,
        raw: &[Token],
        lexical: Vec<Diagnostic>,
    ) -> Vec<Diagnostic> {
        let mut all = std::mem::take(&mut self.diagnostics);
        let swallowed = raw
            .last()
            .is_some_and(|t| t.kind == SyntaxKind::BlockComment && t.is_broken);
        if swallowed {
            let end = self.tokens.last().map_or(0, |t| t.end);
            all.retain(|d| d.span.start < end);
        }
        all.extend(lexical);
        all.sort_by_key(|d| d.span.start);
        all
    }

    // Looking.

    pub(super) fn current(&self) -> SyntaxKind {
        self.nth(0)
    }

    pub(super) fn nth(&self, ahead: usize) -> SyntaxKind {
        self.kind_at(self.pos + ahead)
    }

    pub(super) fn kind_at(&self, index: usize) -> SyntaxKind {
        count_steps(1);
        self.tokens.get(index).map_or(SyntaxKind::Eof, |t| t.kind)
    }

    pub(super) fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    pub(super) fn at_any(&self, kinds: &[SyntaxKind]) -> bool {
        kinds.contains(&self.current())
    }

    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.tokens.len()
    }

    pub(super) fn token_text(&self, index: usize) -> &'t str {
        match self.tokens.get(index) {
            Some(token) => &self.text[token.start as usize..token.end as usize],
            None => "",
        }
    }

    /// Two tokens with nothing between them.
    pub(super) fn is_joined(&self, index: usize) -> bool {
        match (self.tokens.get(index), self.tokens.get(index + 1)) {
            (Some(first), Some(second)) => first.end == second.start,
            _ => false,
        }
    }

    // Taking.

    pub(super) fn bump(&mut self) {
        self.bump_as(self.current(), 1);
    }

    /// Takes `count` tokens as one of `kind`.
    pub(super) fn bump_as(&mut self, kind: SyntaxKind, count: u8) {
        if self.at_end() {
            return;
        }
        self.events.push(ParseEvent::Token { kind, count });
        self.pos += count as usize;
    }

    pub(super) fn eat(&mut self, kind: SyntaxKind) -> bool {
        let is_here = self.at(kind);
        if is_here {
            self.bump();
        }
        is_here
    }

    /// Takes the token, or says that it is missing; `place` is such as "after the parameter".
    pub(super) fn expect(&mut self, kind: SyntaxKind, place: &str) -> bool {
        let is_here = self.eat(kind);
        if !is_here {
            self.error_missing(format!("expected `{}` {place}", kind.text()));
        }
        is_here
    }

    // Places.

    /// A strange character stands before this token; it was reported.
    pub(super) fn is_after_unknown(&self) -> bool {
        let before = self.previous_end().start;
        let here = self.span(self.pos).start;
        let next = self.unknown_characters.partition_point(|&at| at < before);
        self.unknown_characters
            .get(next)
            .is_some_and(|&at| at < here)
    }

    pub(super) fn span(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some(token) => Span::new(self.file, token.start, token.end),
            None => {
                let end = self.text.len() as u32;
                Span::new(self.file, end, end)
            }
        }
    }

    /// Place of something that is missing: right after the token before.
    pub(super) fn previous_end(&self) -> Span {
        let end = match self.pos {
            0 => 0,
            pos => self.tokens[pos - 1].end,
        };
        Span::new(self.file, end, end)
    }

    /// The token begins a line.
    pub(super) fn is_on_new_line(&self, index: usize) -> bool {
        self.lookahead
            .begins_line
            .get(index)
            .copied()
            .unwrap_or(true)
    }

    /// The place to show for a complaint about this token: the token, or the end of the line before
    /// if something is missing there.
    pub(super) fn report_span(&self) -> Span {
        match self.is_missed_before() {
            true => self.previous_end(),
            false => self.span(self.pos),
        }
    }

    /// Whether the missing token should have stood on the line before. Behind a `;` or a brace
    /// nothing is missing: the token that begins the line is the fault.
    pub(super) fn is_missed_before(&self) -> bool {
        let Some(before) = self.pos.checked_sub(1) else {
            return false;
        };
        let is_whole = matches!(self.kind_at(before), SyntaxKind::Semi | SyntaxKind::LBrace)
            && !self.at_any(&[SyntaxKind::RBrace, SyntaxKind::Eof]);
        self.is_on_new_line(self.pos) && !is_whole
    }
}
