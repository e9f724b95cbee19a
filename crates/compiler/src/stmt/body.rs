//! Typing of whole bodies: of logic clauses and of functions.

use graph::{Body, ExprKind, LocalId, PortIndex, Stmt};
use syntax::Diagnostic;
use syntax::ast;

use crate::expr::{Typer, replace_inputs};

impl<'w> Typer<'_, 'w> {
    /// The body of a logic clause. `None` if something is wrong with it, which was reported here or
    /// at the declaration of a poisoned name.
    pub fn clause(mut self, stmt: &'w ast::Stmt) -> Option<Body> {
        let errors = self.session.diagnostics.error_count();
        let mut stmts = Vec::new();
        self.in_block(|typer| match &stmt.kind {
            ast::StmtKind::Block(block) => typer.statements(&block.stmts, &mut stmts),
            _ => typer.statement(stmt, &mut stmts),
        });
        self.warn_unused();
        let sound = self.session.diagnostics.error_count() == errors;
        sound.then(|| self.finish(stmts))
    }

    /// The body of these statements, with the copies of the input tuples that they change.
    pub(crate) fn finish(mut self, mut stmts: Vec<Stmt>) -> Body {
        if self.copies.iter().any(Option::is_some) {
            replace_inputs(&mut stmts, &self.copies, &self.locals);
            let copies = std::mem::take(&mut self.copies);
            let first = (0..)
                .map(PortIndex)
                .zip(&copies)
                .filter_map(|(port, id)| Some(self.copy_input(port, (*id)?)));
            stmts = first.collect::<Vec<_>>().into_iter().chain(stmts).collect();
        }
        Body {
            locals: self.locals,
            stmts,
        }
    }

    fn copy_input(&self, port: PortIndex, id: LocalId) -> Stmt {
        let ty = self.locals[id.0 as usize].ty.clone();
        let pos = self.session.pos(self.usages[id.0 as usize].span);
        let kind = ExprKind::Input { port, history: 0 };
        Stmt::Let(id, Some(graph::Expr { kind, ty, pos }))
    }

    /// Warns of variables that are never read.
    pub(crate) fn warn_unused(&self) {
        for var in self
            .usages
            .iter()
            .filter(|var| var.is_declared && !var.is_used)
        {
            let message = format!("variable `{}` is never used", var.name);
            let warning = Diagnostic::warning("unused-variable", var.span, message);
            self.session.diagnostics.add_if_right(warning);
        }
    }
}
