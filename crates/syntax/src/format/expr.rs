//! How expressions are laid out.

use super::layout::LayoutCommand::*;
use super::node::Formatter;
use crate::SyntaxKind::{self, *};
use crate::node_view::{SyntaxElementView, SyntaxNodeView};
use crate::parser::binding_level;

impl<'a> Formatter<'a> {
    pub(super) fn expr(&mut self, node: SyntaxNodeView<'a>) {
        match node.kind() {
            BinaryExpr => {
                self.push(Open);
                self.push(Indent);
                self.chain(node);
                self.push(Dedent);
                self.push(Close);
            }
            ConditionalExpr => self.conditional(node),
            AssignExpr => self.spaced_parts(node),
            CastExpr => self.cast(node),
            _ => self.unspaced_expr(node),
        }
    }

    /// Operators of one level that follow each other are broken all or none.
    fn chain(&mut self, node: SyntaxNodeView<'a>) {
        let level = operator_level(node);
        let mut is_left = true;
        self.parts(node, |this, element| {
            match element {
                SyntaxElementView::Token(_) => this.push(Line),
                SyntaxElementView::Node(left) if is_left => {
                    let same = left.kind() == BinaryExpr && self::operator_level(left) == level;
                    match same {
                        true => this.chain(left),
                        false => this.node(left),
                    }
                    is_left = false;
                    return;
                }
                SyntaxElementView::Node(_) => this.push(Space),
            }
            this.element(element);
        });
    }

    fn conditional(&mut self, node: SyntaxNodeView<'a>) {
        self.push(Open);
        self.push(Indent);
        // Of this conditional, not of one that it is a part of: that one has put its blank.
        let mut after_sign = false;
        self.parts(node, |this, element| {
            let is_sign = matches!(element, SyntaxElementView::Token(_));
            if is_sign {
                this.push(Line);
            } else if after_sign {
                this.push(Space);
            }
            after_sign = is_sign;
            this.element(element);
        });
        self.push(Dedent);
        self.push(Close);
    }

    fn cast(&mut self, node: SyntaxNodeView<'a>) {
        let mut closed = false;
        self.parts(node, |this, element| {
            if closed {
                this.push(Space);
            }
            closed = element.kind() == RParen;
            this.element(element);
        });
    }

    /// Parts without blanks, but where two tokens would become another: `- -x`, `1 .a`.
    fn unspaced_expr(&mut self, node: SyntaxNodeView<'a>) {
        let mut is_first = true;
        self.parts(node, |this, element| {
            // Left of a chain of thousands of subscripts there are as many to its first token.
            if !is_first && node.kind() != PostfixExpr && would_merge(this.previous(), element) {
                this.push(Space);
            }
            is_first = false;
            this.element(element);
        });
    }
}

/// The level of the operator of a binary expression.
fn operator_level(node: SyntaxNodeView) -> Option<u8> {
    node.tokens()
        .next()
        .and_then(|leaf| binding_level(leaf.kind))
}

/// The token before and the first one of the element would become another one.
fn would_merge(previous: Option<SyntaxKind>, element: SyntaxElementView) -> bool {
    match previous {
        Some(Minus | MinusMinus) => matches!(first_token(element), Some(Minus | MinusMinus)),
        Some(Number) => first_token(element) == Some(Dot),
        _ => false,
    }
}

fn first_token(element: SyntaxElementView) -> Option<SyntaxKind> {
    match element {
        SyntaxElementView::Token(leaf) => Some(leaf.kind),
        SyntaxElementView::Node(node) => {
            let mut elements = node.elements().filter(|e| !(*e).kind().is_trivia());
            elements.next().and_then(first_token)
        }
    }
}
