//! Tables over all tokens of a text, from which each question about what follows is answered at
//! once.
//!
//! A parser that searches the tokens ahead for each token that it passes over takes time that grows
//! with the square of the text, and broken programs make it do that. So what is far away (the
//! partner of a bracket, the end of a dotted name or of a broken statement) is worked out once,
//! from the last token to the first; the tables that only broken programs need, when they are
//! needed first.
//!
//! # Invariants
//! - No predicate of the parser loops over tokens, except over those that the parser then consumes.

use std::cell::OnceCell;

use crate::SyntaxKind::*;
use crate::lexer::Token;
use crate::step_count::count_steps;

/// Entry of a table that means: there is no such token.
pub(super) const NO_TOKEN: u32 = u32::MAX;
/// Entry of the table of partners for a closing bracket that closes nothing.
pub(super) const STRAY_BRACKET: u32 = NO_TOKEN - 1;

/// Tables on the surroundings of each token.
pub(super) struct Lookahead {
    /// Index of the closing bracket, for each opening one.
    pub(super) partners: Vec<u32>,
    /// Whether the token begins a line.
    pub(super) begins_line: Vec<bool>,
    /// How many blanks begin the token's line.
    pub(super) indentations: Vec<u32>,
    /// Index after the last part of `name.name.name`, for each name.
    pub(super) dotted_ends: Vec<u32>,
    /// Index of the `>` that closes it, for each `<` within a type.
    pub(super) angles: Vec<u32>,
    /// The last `}` that closes nothing.
    pub(super) last_stray_brace: Option<usize>,
    /// Ends of broken statements, see [`super::parser_state::Parser::broken_end`].
    pub(super) statement_ends: OnceCell<Vec<u32>>,
    /// Ends of elements, see [`super::parser_state::Parser::next_element`].
    pub(super) element_ends: OnceCell<Vec<u32>>,
    /// Closing angles, see [`super::parser_state::Parser::closing_angle`].
    pub(super) closing_angles: OnceCell<Vec<u32>>,
    /// Ends of annotations, see [`super::parser_state::Parser::after_annotations`].
    pub(super) annotation_ends: OnceCell<Vec<u32>>,
    /// First tokens of the next lines, see [`super::parser_state::Parser::next_line`].
    pub(super) next_lines: OnceCell<Vec<u32>>,
    /// Ends of heads of definitions, see [`super::parser_state::Parser::head_end`].
    pub(super) head_ends: OnceCell<Vec<u32>>,
}

impl Lookahead {
    /// Reads all tokens (without trivia) of a text.
    pub(super) fn new(tokens: &[Token], text: &str) -> Lookahead {
        let (begins_line, indentations) = line_starts(tokens, text);
        let partners = partners(tokens, &begins_line);
        let is_stray_brace =
            |&at: &usize| partners[at] == STRAY_BRACKET && tokens[at].kind == RBrace;
        Lookahead {
            dotted_ends: dotted_ends(tokens),
            angles: angles(tokens, &partners),
            last_stray_brace: (0..tokens.len()).rev().find(is_stray_brace),
            partners,
            begins_line,
            indentations,
            statement_ends: OnceCell::new(),
            element_ends: OnceCell::new(),
            closing_angles: OnceCell::new(),
            annotation_ends: OnceCell::new(),
            next_lines: OnceCell::new(),
            head_ends: OnceCell::new(),
        }
    }
}

/// A table of what is known of each token from what is known of those behind it, which `entry` is
/// handed. It has an entry for the end of the text, too.
pub(super) fn backward_table(len: usize, mut entry: impl FnMut(usize, &[u32]) -> u32) -> Vec<u32> {
    let mut table = vec![NO_TOKEN; len + 1];
    count_steps(len);
    for at in (0..=len).rev() {
        table[at] = entry(at, &table);
    }
    table
}

/// Which tokens begin a line, and how many blanks begin the line of each.
fn line_starts(tokens: &[Token], text: &str) -> (Vec<bool>, Vec<u32>) {
    let mut begins_line = Vec::with_capacity(tokens.len());
    let mut indentations = Vec::with_capacity(tokens.len());
    let mut read = 0;
    let mut gap = 0;
    let mut indentation = blanks(text, 0);
    for (index, token) in tokens.iter().enumerate() {
        let start = token.start as usize;
        if let Some(line_end) = text[read..start].rfind('\n') {
            indentation = blanks(text, read + line_end + 1);
        }
        begins_line.push(index == 0 || text[gap..start].contains('\n'));
        indentations.push(indentation);
        read = start;
        gap = token.end as usize;
    }
    (begins_line, indentations)
}

fn blanks(text: &str, line: usize) -> u32 {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
    text[line..].bytes().take_while(is_blank).count() as u32
}

/// Finds the closing bracket of each opening one. A `}` also ends brackets left open inside its
/// braces, unless the text behind it shows that it stands within an expression.
fn partners(tokens: &[Token], begins_line: &[bool]) -> Vec<u32> {
    let mut partners = vec![NO_TOKEN; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    // Where in `open` the braces are.
    let mut braces: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let opener = match token.kind {
            LBrace => {
                braces.push(open.len());
                open.push(index);
                continue;
            }
            LParen | LBracket => {
                open.push(index);
                continue;
            }
            RParen => LParen,
            RBracket => LBracket,
            RBrace => LBrace,
            _ => continue,
        };
        let found = match opener {
            LBrace => braces.last().copied().filter(|&found| {
                found + 1 == open.len() || !is_within(tokens, begins_line, open[found], index)
            }),
            _ => open
                .len()
                .checked_sub(1)
                .filter(|&last| tokens[open[last]].kind == opener),
        };
        if let Some(found) = found {
            partners[open[found]] = index as u32;
            open.truncate(found);
            if opener == LBrace {
                braces.pop();
            }
        } else {
            partners[index] = STRAY_BRACKET;
        }
    }
    partners
}

/// The `}` at `close` cannot close the block that begins at `open`: an expression goes on behind
/// it.
fn is_within(tokens: &[Token], begins_line: &[bool], open: usize, close: usize) -> bool {
    let has_line_end = |at: usize| begins_line.get(at + 1) == Some(&true);
    let follows = tokens.get(close + 1).map_or(Eof, |token| token.kind);
    let goes_on = matches!(follows, Comma | RParen | RBracket | StringToken | Number)
        || (follows == Semi && !has_line_end(close));
    let is_block = open.checked_sub(1).is_some_and(|before| {
        !matches!(tokens[before].kind, Colon | LParen | LBracket | Comma | Eq)
    }) || has_line_end(open);
    goes_on && is_block && close > 0 && !has_line_end(close - 1)
}

fn dotted_ends(tokens: &[Token]) -> Vec<u32> {
    let kind = |at: usize| tokens.get(at).map_or(Eof, |token| token.kind);
    backward_table(tokens.len(), |at, ends| match kind(at) {
        Ident if kind(at + 1) == Dot && kind(at + 2) == Ident => ends[at + 2],
        Ident => at as u32 + 1,
        _ => NO_TOKEN,
    })
}

/// Finds for each `<` the `>` that closes it, if both belong to one type. Brackets are passed over;
/// a token that no type holds ends the search.
fn angles(tokens: &[Token], partners: &[u32]) -> Vec<u32> {
    let jump = |at: usize| match partners[at] {
        NO_TOKEN | STRAY_BRACKET => None,
        close => Some(close as usize + 1),
    };
    let found = unmatched_angles(tokens, |at| match tokens[at].kind {
        Semi | LBrace | RBrace | LParen => None,
        LBracket => jump(at),
        _ => Some(at + 1),
    });
    backward_table(tokens.len(), |at, _| match tokens.get(at) {
        Some(token) if token.kind == Lt => found[at + 1],
        _ => NO_TOKEN,
    })
}

/// Finds for each token the first `>` from there on that closes an angle which was open before;
/// `next` says where the search goes on behind a token, if it does.
pub(super) fn unmatched_angles(
    tokens: &[Token],
    next: impl Fn(usize) -> Option<usize>,
) -> Vec<u32> {
    backward_table(tokens.len(), |at, found| {
        let Some(token) = tokens.get(at) else {
            return NO_TOKEN;
        };
        let behind = |at: usize| next(at).map_or(NO_TOKEN, |next| found[next]);
        match token.kind {
            Gt if next(at).is_some() => at as u32,
            // What closes this one is passed over.
            Lt => match behind(at) {
                NO_TOKEN => NO_TOKEN,
                close => behind(close as usize),
            },
            _ => behind(at),
        }
    })
}
