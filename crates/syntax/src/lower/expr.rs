//! Expressions.

use std::sync::Arc;

use super::AstLowering;
use crate::ast::{BinaryOp, Expr, ExprKind, Ident, Number, PostfixOp, PrefixOp};
use crate::lexer;
use crate::node_view::{SyntaxElementView, SyntaxNodeView, SyntaxTokenView};
use crate::{SyntaxKind, SyntaxKind::*};

impl<'a> AstLowering<'a> {
    /// An expression; `Error` for what is none.
    pub(super) fn expr(&mut self, node: SyntaxNodeView<'a>) -> Expr {
        Expr {
            kind: self.expr_kind(node).unwrap_or(ExprKind::Error),
            span: self.span(node),
        }
    }

    fn expr_kind(&mut self, node: SyntaxNodeView<'a>) -> Option<ExprKind> {
        Some(match node.kind() {
            QName => ExprKind::Name(self.qualified_name(node)),
            Literal => literal(node.tokens().next()?)?,
            ListExpr => ExprKind::List(self.exprs(node)),
            SetExpr => ExprKind::Set(self.exprs(node)),
            MapExpr => ExprKind::Map(self.map_entries(node)),
            TupleExpr => ExprKind::Tuple(self.tuple_entries(node)),
            CallExpr => {
                let args = self.exprs(node.first_of_kind(ArgList)?);
                ExprKind::Call(self.operand(node, 0)?, args)
            }
            FieldExpr => ExprKind::Field(self.operand(node, 0)?, self.name(node)?),
            IndexExpr => ExprKind::Index(self.operand(node, 0)?, self.operand(node, 1)?),
            SliceExpr => self.slice(node)?,
            PrefixExpr => {
                let op = prefix_op(node.tokens().next()?.kind)?;
                ExprKind::Prefix(op, self.operand_or_error(node, 0))
            }
            PostfixExpr => {
                let op = postfix_op(node.tokens().next()?.kind)?;
                ExprKind::Postfix(op, self.operand(node, 0)?)
            }
            BinaryExpr => {
                let op = node.tokens().next()?;
                let span = op.span(self.file);
                let left = self.operand(node, 0)?;
                let right = self.operand_or_error(node, 1);
                ExprKind::Binary(binary_op(op.kind)?, span, left, right)
            }
            AssignExpr => {
                let op = node.tokens().next()?;
                let span = op.span(self.file);
                let left = self.operand(node, 0)?;
                let right = self.operand_or_error(node, 1);
                ExprKind::Assign(assigned_op(op.kind), span, left, right)
            }
            ConditionalExpr => ExprKind::Conditional(
                self.operand(node, 0)?,
                self.operand_or_error(node, 1),
                self.operand_or_error(node, 2),
            ),
            CastExpr => {
                let ty = self.child_type(node)?;
                ExprKind::Cast(ty, self.operand_or_error(node, 1))
            }
            ParenExpr => ExprKind::Paren(self.operand_or_error(node, 0)),
            _ => return None,
        })
    }

    fn exprs(&mut self, node: SyntaxNodeView<'a>) -> Vec<Expr> {
        node.nodes().map(|child| self.expr(child)).collect()
    }

    fn operand(&mut self, node: SyntaxNodeView<'a>, index: usize) -> Option<Box<Expr>> {
        let child = node.nodes().nth(index)?;
        Some(Box::new(self.expr(child)))
    }

    fn operand_or_error(&mut self, node: SyntaxNodeView<'a>, index: usize) -> Box<Expr> {
        self.operand(node, index).unwrap_or_else(|| {
            let end = node.end();
            Box::new(Expr {
                kind: ExprKind::Error,
                span: crate::Span::new(self.file, end, end),
            })
        })
    }

    fn map_entries(&mut self, node: SyntaxNodeView<'a>) -> Vec<(Expr, Expr)> {
        let mut entries = Vec::new();
        for entry in node.nodes_of_kind(MapEntry) {
            if let Some(key) = self.operand(entry, 0) {
                entries.push((*key, *self.operand_or_error(entry, 1)));
            }
        }
        entries
    }

    fn tuple_entries(&mut self, node: SyntaxNodeView<'a>) -> Vec<(Ident, Expr)> {
        let mut entries = Vec::new();
        for entry in node.nodes_of_kind(TupleEntry) {
            if let Some(name) = self.name(entry) {
                entries.push((name, *self.operand_or_error(entry, 1)));
            }
        }
        entries
    }

    fn slice(&mut self, node: SyntaxNodeView<'a>) -> Option<ExprKind> {
        let mut parts = Vec::new();
        let mut lower = None;
        for element in node.elements() {
            match element {
                SyntaxElementView::Node(child) => parts.push(self.expr(child)),
                SyntaxElementView::Token(leaf) if leaf.kind == Colon && parts.len() > 1 => {
                    lower = parts.pop().map(Box::new);
                }
                SyntaxElementView::Token(_) => {}
            }
        }
        let upper = match parts.len() {
            0 | 1 => None,
            _ => parts.pop().map(Box::new),
        };
        Some(ExprKind::Slice(Box::new(parts.pop()?), lower, upper))
    }
}

fn literal(leaf: SyntaxTokenView) -> Option<ExprKind> {
    Some(match leaf.kind {
        SyntaxKind::Number => ExprKind::Number(number(leaf.text)),
        StringToken => lexer::decode_string(leaf.text),
        TrueKw => ExprKind::Boolean(true),
        FalseKw => ExprKind::Boolean(false),
        NullKw => ExprKind::Null,
        _ => return None,
    })
}

fn number(text: &str) -> Number {
    let parts = lexer::split_number(text);
    let (kind, width) = lexer::decode_suffix(parts.suffix).unwrap_or((None, None));
    Number {
        digits: Arc::from(parts.digits),
        is_hex: parts.is_hex,
        is_float: parts.is_float,
        kind,
        width,
    }
}

fn prefix_op(kind: SyntaxKind) -> Option<PrefixOp> {
    Some(match kind {
        Bang => PrefixOp::Not,
        Minus => PrefixOp::Negate,
        Tilde => PrefixOp::Complement,
        PlusPlus => PrefixOp::Increment,
        MinusMinus => PrefixOp::Decrement,
        _ => return None,
    })
}

fn postfix_op(kind: SyntaxKind) -> Option<PostfixOp> {
    Some(match kind {
        PlusPlus => PostfixOp::Increment,
        MinusMinus => PostfixOp::Decrement,
        Bang => PostfixOp::Unwrap,
        QuestionQuestion => PostfixOp::IsPresent,
        _ => return None,
    })
}

fn assigned_op(kind: SyntaxKind) -> Option<BinaryOp> {
    Some(match kind {
        PlusEq => BinaryOp::Add,
        MinusEq => BinaryOp::Sub,
        StarEq => BinaryOp::Mul,
        SlashEq => BinaryOp::Div,
        PercentEq => BinaryOp::Rem,
        ShlEq => BinaryOp::Shl,
        ShrEq => BinaryOp::Shr,
        AmpEq => BinaryOp::BitAnd,
        CaretEq => BinaryOp::BitXor,
        PipeEq => BinaryOp::BitOr,
        _ => return None,
    })
}

fn binary_op(kind: SyntaxKind) -> Option<BinaryOp> {
    Some(match kind {
        Plus => BinaryOp::Add,
        Minus => BinaryOp::Sub,
        Star => BinaryOp::Mul,
        Slash => BinaryOp::Div,
        Percent => BinaryOp::Rem,
        Shl => BinaryOp::Shl,
        Shr => BinaryOp::Shr,
        Lt => BinaryOp::Lt,
        LtEq => BinaryOp::Le,
        Gt => BinaryOp::Gt,
        GtEq => BinaryOp::Ge,
        EqEq => BinaryOp::Eq,
        BangEq => BinaryOp::Ne,
        Amp => BinaryOp::BitAnd,
        Caret => BinaryOp::BitXor,
        Pipe => BinaryOp::BitOr,
        AmpAmp => BinaryOp::And,
        PipePipe => BinaryOp::Or,
        InKw => BinaryOp::In,
        QuestionColon => BinaryOp::OrElse,
        _ => return dotted_op(kind),
    })
}

fn dotted_op(kind: SyntaxKind) -> Option<BinaryOp> {
    Some(match kind {
        DotPlus => BinaryOp::DotAdd,
        DotMinus => BinaryOp::DotSub,
        DotStar => BinaryOp::DotMul,
        DotSlash => BinaryOp::DotDiv,
        DotPercent => BinaryOp::DotRem,
        DotShl => BinaryOp::DotShl,
        DotShr => BinaryOp::DotShr,
        DotLt => BinaryOp::DotLt,
        DotLtEq => BinaryOp::DotLe,
        DotGt => BinaryOp::DotGt,
        DotGtEq => BinaryOp::DotGe,
        DotEqEq => BinaryOp::DotEq,
        DotBangEq => BinaryOp::DotNe,
        DotAmp => BinaryOp::DotBitAnd,
        DotCaret => BinaryOp::DotBitXor,
        DotPipe => BinaryOp::DotBitOr,
        _ => return None,
    })
}
