//! Replaces input tuples that a body changes by their local copies, in typed statements.

use graph::{Expr, ExprKind, LocalId, LocalVar, PortIndex, Stmt};

/// Replaces the current tuple of each port that has a copy, and its attributes, by the copy.
pub(crate) fn replace_inputs(stmts: &mut [Stmt], copies: &[Option<LocalId>], locals: &[LocalVar]) {
    each_expr(stmts, &mut |expr| replace(expr, copies, locals));
}

fn replace(expr: &mut Expr, copies: &[Option<LocalId>], locals: &[LocalVar]) {
    let copy = |port: PortIndex| copies.get(port.index()).copied().flatten();
    match expr.kind {
        ExprKind::Input { port, history: 0 } => {
            if let Some(id) = copy(port) {
                expr.kind = ExprKind::Local(id);
            }
        }
        ExprKind::Attribute {
            port,
            history: 0,
            index,
        } => {
            if let Some(id) = copy(port) {
                let ty = locals[id.0 as usize].ty.clone();
                let base = Expr {
                    kind: ExprKind::Local(id),
                    ty,
                    pos: expr.pos,
                };
                expr.kind = ExprKind::Field(Box::new(base), index);
            }
        }
        _ => expr.for_each_child(&mut |part| replace(part, copies, locals)),
    }
}

/// Calls `visit` with the outermost expressions of statements.
fn each_expr(stmts: &mut [Stmt], visit: &mut dyn FnMut(&mut Expr)) {
    for stmt in stmts {
        match stmt {
            Stmt::Let(_, e) | Stmt::Return(e) => e.iter_mut().for_each(&mut *visit),
            Stmt::Expr(e) => visit(e),
            Stmt::If(c, a, b) => {
                visit(c);
                each_expr(a, visit);
                each_expr(b, visit);
            }
            Stmt::While(c, body) => {
                visit(c);
                each_expr(body, visit);
            }
            Stmt::For(_, c, body) => {
                visit(c);
                each_expr(body, visit);
            }
            Stmt::Clause(body) => each_expr(body, visit),
            Stmt::Submit { port, tuple, .. } => {
                visit(port);
                visit(tuple);
            }
            Stmt::SubmitPunct { port, mark, .. } => {
                visit(port);
                visit(mark);
            }
            _ => {}
        }
    }
}
