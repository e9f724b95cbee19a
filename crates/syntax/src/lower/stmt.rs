//! Statements.

use std::sync::Arc;

use super::AstLowering;
use super::types::is_type;
use crate::SyntaxKind::*;
use crate::ast::{Block, Expr, ExprKind, LocalDecl, Stmt, StmtKind};
use crate::node_view::SyntaxNodeView;

impl<'a> AstLowering<'a> {
    /// A statement; `Error` for what is none.
    pub(super) fn stmt(&mut self, node: SyntaxNodeView<'a>) -> Stmt {
        Stmt {
            kind: self.stmt_kind(node).unwrap_or(StmtKind::Error),
            span: self.span(node),
        }
    }

    pub(super) fn block(&mut self, node: SyntaxNodeView<'a>) -> Block {
        Block {
            stmts: node.nodes().map(|child| self.stmt(child)).collect(),
            span: self.span(node),
        }
    }

    fn stmt_kind(&mut self, node: SyntaxNodeView<'a>) -> Option<StmtKind> {
        let mut children = node.nodes();
        Some(match node.kind() {
            LocalStmt => StmtKind::Local(self.local(children.next()?)?),
            TypeStmt => StmtKind::Type(Arc::new(self.type_definition(children.next()?)?)),
            Block | EmptyStmt => StmtKind::Block(self.block(node)),
            ExprStmt => StmtKind::Expr(self.expr(children.next()?)),
            IfStmt => {
                let condition = self.expr(children.next()?);
                let then = Box::new(self.stmt(children.next()?));
                let other = children.next().map(|other| Box::new(self.stmt(other)));
                StmtKind::If(condition, then, other)
            }
            WhileStmt => {
                let condition = self.expr(children.next()?);
                StmtKind::While(condition, Box::new(self.stmt(children.next()?)))
            }
            ForStmt => self.for_loop(node)?,
            BreakStmt => StmtKind::Break,
            ContinueStmt => StmtKind::Continue,
            ReturnStmt => StmtKind::Return(children.next().map(|value| self.expr(value))),
            _ => return None,
        })
    }

    fn for_loop(&mut self, node: SyntaxNodeView<'a>) -> Option<StmtKind> {
        let mut rest = node
            .nodes()
            .filter(|c| !is_type(c.kind()) && c.kind() != Name);
        let ty = self.child_type(node)?;
        let name = self.name(node)?;
        let collection = self.expr(rest.next()?);
        let body = self.stmt(rest.next()?);
        Some(StmtKind::For(ty, name, collection, Box::new(body)))
    }

    pub(super) fn local(&mut self, node: SyntaxNodeView<'a>) -> Option<LocalDecl> {
        let vars = node.nodes_of_kind(LocalVar).filter_map(|var| {
            let name = self.name(var)?;
            Some((name, self.initializer(var)))
        });
        Some(LocalDecl {
            vars: vars.collect(),
            is_mutable: node.has_token(MutableKw),
            ty: self.child_type(node)?,
            span: self.span(node),
        })
    }

    /// The value after the `=`; an `Error` if it is missing.
    fn initializer(&mut self, var: SyntaxNodeView<'a>) -> Option<Expr> {
        let value = var.nodes().find(|child| child.kind() != Name);
        match value {
            Some(value) => Some(self.expr(value)),
            None => var.has_token(Eq).then(|| Expr {
                kind: ExprKind::Error,
                span: self.span(var),
            }),
        }
    }
}
