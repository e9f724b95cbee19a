//! Where things end: what the tables of [`super::lookahead`] say about the tokens ahead.

use super::lookahead::{NO_TOKEN, backward_table, unmatched_angles};
use super::parser_state::Parser;
use crate::SyntaxKind;
use crate::SyntaxKind::*;

impl Parser<'_> {
    /// Latest end of the broken statement or entry: its `;`, a brace, or the end of its line.
    pub(super) fn broken_end(&self) -> usize {
        let ends = self.lookahead.statement_ends.get_or_init(|| {
            backward_table(self.tokens.len(), |at, ends| {
                match self.is_end(at) || self.is_on_new_line(at) {
                    true => at as u32,
                    false => ends[at + 1],
                }
            })
        });
        match self.is_end(self.pos) {
            true => self.pos,
            false => ends[self.pos + 1] as usize,
        }
    }

    fn is_end(&self, index: usize) -> bool {
        matches!(self.kind_at(index), Semi | LBrace | RBrace | Eof)
    }

    /// The comma before the next element of a list, or what closes the list.
    pub(super) fn next_element(&self, close: SyntaxKind) -> Option<usize> {
        let ends = self.lookahead.element_ends.get_or_init(|| {
            backward_table(self.tokens.len(), |at, ends| match self.ends_element(at) {
                true => at as u32,
                false => ends[self.after_group(at).unwrap_or(at + 1)],
            })
        });
        let end = ends[self.pos.min(self.tokens.len())] as usize;
        (self.kind_at(end) == Comma || self.kind_at(end) == close).then_some(end)
    }

    fn ends_element(&self, index: usize) -> bool {
        let kind = self.kind_at(index);
        let gives_up = matches!(kind, Semi | RBrace | RParen | RBracket | Eof)
            || self.begins_clause(index)
            || self.begins_item(index);
        kind == Comma || (gives_up && !self.is_stray(index))
    }

    /// Index of the `>` on this line that closes the angle that is open here.
    pub(super) fn closing_angle(&self) -> Option<usize> {
        let found = self.lookahead.closing_angles.get_or_init(|| {
            let tokens = &self.tokens;
            let is_stop = |at: usize| {
                let kind = tokens.get(at).map_or(Eof, |token| token.kind);
                let is_foreign = matches!(
                    kind,
                    StreamKw | LBrace | RBrace | LParen | RParen | Eq | Eof
                );
                is_foreign || self.is_on_new_line(at)
            };
            unmatched_angles(tokens, |at| (!is_stop(at)).then_some(at + 1))
        });
        match found.get(self.pos) {
            Some(&NO_TOKEN) | None => None,
            Some(&close) => Some(close as usize),
        }
    }

    /// Past the annotations that begin at `index`.
    pub(super) fn after_annotations(&self, index: usize) -> usize {
        let ends = self.lookahead.annotation_ends.get_or_init(|| {
            let len = self.tokens.len();
            backward_table(len, |at, ends| match self.after_annotation(at) {
                Some(next) if next <= len && self.kind_at(next) == At => ends[next],
                Some(next) => next as u32,
                None => at as u32,
            })
        });
        ends.get(index).map_or(index, |&end| end as usize)
    }

    /// Past the annotation at `index`, if one is there.
    fn after_annotation(&self, index: usize) -> Option<usize> {
        if self.kind_at(index) != At {
            return None;
        }
        let at = index + 2;
        let has_arguments = self.kind_at(at) == LParen && !self.begins_invocation(at);
        Some(match has_arguments {
            true => self.after_group(at).unwrap_or(at + 1),
            false => at,
        })
    }

    /// The first token from `index` on that begins a line.
    pub(super) fn next_line(&self, index: usize) -> usize {
        let lines = self.lookahead.next_lines.get_or_init(|| {
            backward_table(self.tokens.len(), |at, lines| {
                match self.is_on_new_line(at) {
                    true => at as u32,
                    false => lines[at + 1],
                }
            })
        });
        lines[index.min(self.tokens.len())] as usize
    }

    /// End of the head of the definition that begins at `index`: a brace or a `;`.
    pub(super) fn head_end(&self, index: usize) -> usize {
        let ends = self.lookahead.head_ends.get_or_init(|| {
            backward_table(self.tokens.len(), |at, ends| match self.is_end(at) {
                true => at as u32,
                false => ends[at + 1],
            })
        });
        ends[index.min(self.tokens.len())] as usize
    }
}
