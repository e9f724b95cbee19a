//! Whether a body ends with a return on all paths, by its form alone: the last statement is a
//! return, a block that ends with one, or an `if` with an `else` whose branches both end with one.

use syntax::ast::{Block, Stmt, StmtKind};

/// Whether a block ends with a return on all paths.
pub(crate) fn always_returns(block: &Block) -> bool {
    // Nothing follows from an empty statement behind a return, which has a warning of its own.
    let is_empty = |stmt: &&Stmt| matches!(&stmt.kind, StmtKind::Block(b) if b.stmts.is_empty());
    let mut from_end = block.stmts.iter().rev();
    from_end.find(|stmt| !is_empty(stmt)).is_some_and(ends)
}

fn ends(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(block) => always_returns(block),
        StmtKind::If(_, a, Some(b)) => ends(a) && ends(b),
        // Broken source has its own report.
        StmtKind::Error => true,
        _ => false,
    }
}
