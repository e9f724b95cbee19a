//! How statements are laid out.

use super::layout::LayoutCommand::*;
use super::node::Formatter;
use crate::SyntaxKind::*;
use crate::node_view::{SyntaxElementView, SyntaxNodeView};

impl<'a> Formatter<'a> {
    /// `mutable T a = 1, b;`, broken after commas.
    pub(super) fn declaration(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        let mut is_open = false;
        self.parts(node, |this, element| {
            match element.kind() {
                Semi => this.end_values(&mut is_open),
                Comma => {}
                LocalVar if is_open => this.push(Line),
                kind if !is_first => {
                    this.push(Space);
                    if kind == LocalVar {
                        this.push(Open);
                        this.push(Indent);
                        is_open = true;
                    }
                }
                _ => {}
            }
            is_first = false;
            this.element(element);
        });
    }

    /// `if`, `while` and `for`: a block follows on the line, any other statement below.
    pub(super) fn control(&mut self, node: SyntaxNodeView<'a>) {
        let mut closed = false;
        let mut after_else = false;
        let mut is_first = true;
        self.parts(node, |this, element| {
            let kind = element.kind();
            let is_body = closed && matches!(element, SyntaxElementView::Node(_));
            if is_body {
                this.body(element, after_else);
                return;
            }
            match kind {
                _ if is_first => {}
                ElseKw if this.previous() == Some(RBrace) => this.push(Space),
                ElseKw => this.newline_without_blank(),
                RParen => {}
                _ if this.previous() == Some(LParen) => {}
                _ => this.push(Space),
            }
            is_first = false;
            closed |= kind == RParen;
            after_else = kind == ElseKw;
            this.element(element);
        });
    }

    fn body(&mut self, element: SyntaxElementView<'a>, after_else: bool) {
        let stays = match element.kind() {
            Block | EmptyStmt => true,
            IfStmt => after_else,
            _ => false,
        };
        if stays {
            self.push(Space);
            self.element(element);
        } else {
            self.push(Indent);
            self.newline_without_blank();
            self.element(element);
            self.push(Dedent);
        }
    }
}
