//! Tokens to the lossless tree, by recursive descent: a function a production.
//!
//! The parser never fails and never loses a token. What it cannot use goes into an `Error` node.
//! One place gives one message: after a complaint nothing more is said until a token was accepted
//! and the statement or its line has ended, unless what is wrong was mended there and then.
//!
//! # Invariants
//! - Every loop over tokens consumes one in each round or ends.
//! - Nesting is bounded ([`DEPTH_MAX`], [`HEIGHT_MAX`], [`OPEN_ELSE_IFS_MAX`]); nobody who walks
//!   the tree on a stack of [`crate::STACK_BYTES`] can run out of it.

mod annotation;
mod clause;
mod composite;
mod event;
mod expr;
mod function;
mod invocation;
mod literal;
mod logic;
mod lookahead;
mod marker;
mod predicate;
mod recover;
mod stmt;
mod types;
mod unit;

use rowan::GreenNode;

use crate::lexer::{self, Token};
use crate::step_count::count_steps;
use crate::{Diagnostic, FileId, Span, SyntaxKind};
use event::ParseEvent;
pub(crate) use expr::binding_level;
use lookahead::Lookahead;
use marker::CompletedNode;

/// How deep blocks, expressions and types may nest.
const DEPTH_MAX: u32 = 256;
/// How high a tree of operators may grow: `a + b + c + ...` grows by one with each operator.
/// Programs that were generated have sums of thousands of terms.
const HEIGHT_MAX: u32 = 8192;
/// How many `else if` may be open at once: each stands in the `else` of the one before.
const OPEN_ELSE_IFS_MAX: u32 = 4096;

/// So many findings of one file are shown.
const FINDINGS_MAX: usize = 100;

/// What is to be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParseGoal {
    /// A source file.
    Unit,
    /// A type alone.
    Type,
    /// An expression alone.
    Expr,
    /// The prototype of a native function.
    Prototype,
}

/// Parses a text: the tree, and what is wrong in the order of places.
pub(crate) fn parse(file: FileId, text: &str, entry: ParseGoal) -> (GreenNode, Vec<Diagnostic>) {
    let (raw, lexical) = lexer::tokens(file, text);
    let mut parser = Parser::new(file, text, &raw);
    match entry {
        ParseGoal::Unit => unit::unit(&mut parser),
        ParseGoal::Type => parser.parse_whole_text(SyntaxKind::Unit, |p| {
            types::type_expr(p);
        }),
        ParseGoal::Expr => parser.parse_whole_text(SyntaxKind::Unit, |p| {
            expr::expr(p);
        }),
        ParseGoal::Prototype => parser.parse_whole_text(SyntaxKind::Prototype, function::prototype),
    }
    let diagnostics = parser.diagnostics(&raw, lexical);
    (event::build(text, &raw, parser.events), diagnostics)
}

/// The state of a parse: significant tokens, how many were taken, and what was noted.
struct Parser<'t> {
    file: FileId,
    text: &'t str,
    /// Without trivia.
    tokens: Vec<Token>,
    /// Where characters stand that no token begins with.
    unknown_characters: Vec<u32>,
    /// Where closing braces may be that strings without end and comments of other languages have
    /// swallowed.
    swallowed_braces: Vec<u32>,
    lookahead: Lookahead,
    pos: usize,
    events: Vec<ParseEvent>,
    diagnostics: Vec<Diagnostic>,
    /// Heights of the nodes that are open, the innermost last.
    heights: Vec<u32>,
    depth: u32,
    /// How many `else if` are open, of whatever chain.
    open_else_ifs: u32,
    /// The position of the last complaint: there is none further while it stays, nor up to
    /// `suppressed_until`.
    reported_at: Option<usize>,
    /// Where what was complained about ends: what else is wrong before follows from it.
    suppressed_until: usize,
    /// The last complaint, if it was kept.
    last_report: Option<usize>,
    /// How many complaints there were, kept or not.
    report_count: usize,
    /// It was said of this statement, or of what is left of a broken one, that it nests too deeply.
    is_too_deep: bool,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str, raw: &[Token]) -> Parser<'t> {
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
    fn parse_whole_text(&mut self, kind: SyntaxKind, parse: impl FnOnce(&mut Self)) {
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
    fn diagnostics(&mut self, raw: &[Token], lexical: Vec<Diagnostic>) -> Vec<Diagnostic> {
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
        if let Some(next) = all.get(FINDINGS_MAX) {
            let message = "there are more errors; they are shown when these are mended";
            let last = Diagnostic::error("too-many-errors", next.span, message);
            all.truncate(FINDINGS_MAX);
            all.push(last);
        }
        all
    }

    // Looking.

    fn current(&self) -> SyntaxKind {
        self.nth(0)
    }

    fn nth(&self, ahead: usize) -> SyntaxKind {
        self.kind_at(self.pos + ahead)
    }

    fn kind_at(&self, index: usize) -> SyntaxKind {
        count_steps(1);
        self.tokens.get(index).map_or(SyntaxKind::Eof, |t| t.kind)
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    fn at_any(&self, kinds: &[SyntaxKind]) -> bool {
        kinds.contains(&self.current())
    }

    fn at_end(&self) -> bool {
        self.pos >= self.tokens.len()
    }

    fn token_text(&self, index: usize) -> &'t str {
        match self.tokens.get(index) {
            Some(token) => &self.text[token.start as usize..token.end as usize],
            None => "",
        }
    }

    /// Two tokens with nothing between them.
    fn is_joined(&self, index: usize) -> bool {
        match (self.tokens.get(index), self.tokens.get(index + 1)) {
            (Some(first), Some(second)) => first.end == second.start,
            _ => false,
        }
    }

    // Taking.

    fn bump(&mut self) {
        self.bump_as(self.current(), 1);
    }

    /// Takes `count` tokens as one of `kind`.
    fn bump_as(&mut self, kind: SyntaxKind, count: u8) {
        if self.at_end() {
            return;
        }
        self.events.push(ParseEvent::Token { kind, count });
        self.pos += count as usize;
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let is_here = self.at(kind);
        if is_here {
            self.bump();
        }
        is_here
    }

    /// Takes the token, or says that it is missing; `place` is such as "after the parameter".
    fn expect(&mut self, kind: SyntaxKind, place: &str) -> bool {
        let is_here = self.eat(kind);
        if !is_here {
            self.error_missing(format!("expected `{}` {place}", kind.text()));
        }
        is_here
    }

    // Places.

    /// A strange character stands before this token; it was reported.
    fn is_after_unknown(&self) -> bool {
        let before = self.previous_end().start;
        let here = self.span(self.pos).start;
        let next = self.unknown_characters.partition_point(|&at| at < before);
        self.unknown_characters
            .get(next)
            .is_some_and(|&at| at < here)
    }

    fn span(&self, index: usize) -> Span {
        match self.tokens.get(index) {
            Some(token) => Span::new(self.file, token.start, token.end),
            None => {
                let end = self.text.len() as u32;
                Span::new(self.file, end, end)
            }
        }
    }

    /// Where something is missing: right after the token before.
    fn previous_end(&self) -> Span {
        let end = match self.pos {
            0 => 0,
            pos => self.tokens[pos - 1].end,
        };
        Span::new(self.file, end, end)
    }

    /// The token begins a line.
    fn is_on_new_line(&self, index: usize) -> bool {
        self.lookahead
            .begins_line
            .get(index)
            .copied()
            .unwrap_or(true)
    }

    /// The place to show for a complaint about this token: the token, or the end of the line before
    /// if something is missing there.
    fn report_span(&self) -> Span {
        match self.is_missed_before() {
            true => self.previous_end(),
            false => self.span(self.pos),
        }
    }

    /// What is missing was to stand on the line before. Behind a `;` or a brace nothing is missing:
    /// the token that begins the line is what is wrong.
    fn is_missed_before(&self) -> bool {
        let Some(before) = self.pos.checked_sub(1) else {
            return false;
        };
        let is_whole = matches!(self.kind_at(before), SyntaxKind::Semi | SyntaxKind::LBrace)
            && !self.at_any(&[SyntaxKind::RBrace, SyntaxKind::Eof]);
        self.is_on_new_line(self.pos) && !is_whole
    }
}
