//! Tokens and comments to layout commands.
//!
//! Between two tokens the node printers leave separators and brackets of groups. They are held
//! back until the next token is known together with the comments before it, because a comment
//! takes its place among them: behind the token before, if it stood on that token's line, or on
//! lines of its own.

use super::layout::LayoutCommand;
use crate::SyntaxKind;
use crate::node_view::SyntaxTokenView;

/// Collects layout commands for tokens and comments.
#[derive(Default)]
pub(super) struct Emitter<'a> {
    commands: Vec<LayoutCommand<'a>>,
    /// Since the last token.
    pending: Vec<LayoutCommand<'a>>,
    comments: Vec<PendingComment<'a>>,
    /// Line ends in the source since the last token or comment.
    newlines: usize,
    previous: Option<SyntaxKind>,
}

#[derive(Clone, Copy)]
struct PendingComment<'a> {
    text: &'a str,
    /// Line ends before it.
    newlines: usize,
}

impl PendingComment<'_> {
    fn is_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

impl<'a> Emitter<'a> {
    /// A separator, or a bracket of a group or of indentation.
    pub(super) fn push(&mut self, command: LayoutCommand<'a>) {
        self.pending.push(command);
    }

    /// The end of a line that keeps an empty line of the source.
    pub(super) fn newline(&mut self) {
        let blank = self.newlines > 1;
        self.pending.push(LayoutCommand::Newline { blank });
    }

    /// Whether an empty line stood before what comes next; comments not counted.
    pub(super) fn has_blank_line_before(&self) -> bool {
        self.newlines > 1 || self.comments.first().is_some_and(|c| c.newlines > 1)
    }

    /// The kind of the last token.
    pub(super) fn previous(&self) -> Option<SyntaxKind> {
        self.previous
    }

    /// White space or a comment.
    pub(super) fn trivia(&mut self, leaf: SyntaxTokenView<'a>) {
        match leaf.kind {
            SyntaxKind::LineComment | SyntaxKind::BlockComment => {
                self.comments.push(PendingComment {
                    text: leaf.text.trim_end(),
                    newlines: self.newlines,
                });
                self.newlines = 0;
            }
            _ => self.newlines += leaf.text.matches('\n').count(),
        }
    }

    /// A token, after all that was pushed and the comments since the last one.
    pub(super) fn token(&mut self, leaf: SyntaxTokenView<'a>) {
        self.flush();
        self.commands.push(LayoutCommand::Text(leaf.text));
        self.previous = Some(leaf.kind);
        self.newlines = 0;
    }

    /// The end of the file.
    pub(super) fn finish(mut self) -> Vec<LayoutCommand<'a>> {
        self.flush();
        self.commands
    }

    fn flush(&mut self) {
        let comments = std::mem::take(&mut self.comments);
        let mut pending = std::mem::take(&mut self.pending);
        if !comments.is_empty() {
            let same_line = match self.previous {
                None => 0,
                Some(_) => comments.iter().take_while(|c| c.newlines == 0).count(),
            };
            let (beside, own) = comments.split_at(same_line);
            self.comments_on_own_lines(&mut pending, own);
            let next_newlines = own.first().map_or(self.newlines, |c| c.newlines);
            self.comments_beside_token(&mut pending, beside, next_newlines > 0);
        }
        self.commands.append(&mut pending);
    }

    /// Comments on lines of their own: in place of the last separator, but inside an indentation
    /// that ends here.
    fn comments_on_own_lines(
        &self,
        pending: &mut Vec<LayoutCommand<'a>>,
        comments: &[PendingComment<'a>],
    ) {
        let Some(last) = comments.last() else {
            return;
        };
        let opened = matches!(
            self.previous,
            None | Some(SyntaxKind::LBrace | SyntaxKind::LParen | SyntaxKind::LBracket)
        );
        let first_blank = match pending.iter().rev().find(|c| c.is_separator()) {
            Some(LayoutCommand::Newline { blank }) => *blank && comments[0].newlines != 1,
            _ => false,
        };
        let mut block = Vec::new();
        for (index, comment) in comments.iter().enumerate() {
            let blank = match index {
                0 => !opened && (first_blank || comment.newlines > 1),
                _ => comment.newlines > 1,
            };
            block.push(LayoutCommand::Newline { blank });
            block.push(LayoutCommand::Comment(comment.text));
        }
        let next = match last.is_line() || self.newlines > 0 {
            true => LayoutCommand::Newline {
                blank: self.newlines > 1,
            },
            false => LayoutCommand::Space,
        };
        let dedent = pending.iter().position(|c| *c == LayoutCommand::Dedent);
        match dedent {
            Some(at) => {
                force_newline(pending, false);
                pending.splice(at..at, block);
            }
            None => {
                block.push(next);
                let place = last_separator(pending);
                let range = place.map_or(0..0, |at| at..at + 1);
                pending.splice(range, block);
            }
        }
    }

    /// Comments on the line of the token before.
    fn comments_beside_token(
        &self,
        pending: &mut Vec<LayoutCommand<'a>>,
        comments: &[PendingComment<'a>],
        newline_after: bool,
    ) {
        let Some(last) = comments.last() else {
            return;
        };
        if last.is_line() {
            force_newline(pending, true);
        }
        let is_closing =
            pending.contains(&LayoutCommand::Dedent) || pending.contains(&LayoutCommand::Close);
        let ends_line = pending
            .iter()
            .any(|c| matches!(c, LayoutCommand::Newline { .. }));
        let place = match newline_after || is_closing || ends_line {
            true => None,
            false => last_separator(pending),
        };
        let is_inside = pending.is_empty()
            && matches!(
                self.previous,
                Some(SyntaxKind::LParen | SyntaxKind::LBracket)
            );
        let mut block = Vec::new();
        for comment in comments {
            match place {
                None if is_inside => block.push(LayoutCommand::Comment(comment.text)),
                None => block.extend([LayoutCommand::Space, LayoutCommand::Comment(comment.text)]),
                Some(_) => {
                    block.extend([LayoutCommand::Comment(comment.text), LayoutCommand::Space])
                }
            }
        }
        let at = place.map_or(0, |at| at + 1);
        pending.splice(at..at, block);
    }
}

/// The last separator becomes the end of a line; there is one afterwards.
fn force_newline(pending: &mut Vec<LayoutCommand>, at_end: bool) {
    if pending
        .iter()
        .any(|c| matches!(c, LayoutCommand::Newline { .. }))
    {
        return;
    }
    let newline = LayoutCommand::Newline { blank: false };
    match last_separator(pending) {
        Some(at) => pending[at] = newline,
        None if at_end => pending.push(newline),
        None => pending.insert(0, newline),
    }
}

fn last_separator(pending: &[LayoutCommand]) -> Option<usize> {
    pending.iter().rposition(|c| c.is_separator())
}
