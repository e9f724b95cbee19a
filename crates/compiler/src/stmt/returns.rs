//! Whether a body ends with a return on all paths, by its form alone: the last statement is a
//! return, a block that ends with one, or an `if` with an `else` whose branches both end with one.

use syntax::ast::{Block, Stmt, StmtKind};

/// Whether a block ends with a return on all paths.
pub(crate) fn always_returns(block: &Block) -> bool {
    block.stmts.last().is_some_and(ends)
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
