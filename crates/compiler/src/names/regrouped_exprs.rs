//! Expressions that are grouped anew because a name in them turns out to be a type.
//!
//! The trees of the units never change while they are typed; a tree that has to look different is
//! kept here, beside them, and lives as long.

use std::sync::OnceLock;

use syntax::ast::Expr;

/// Expressions in place of others. There are few: the list is searched from its beginning.
#[derive(Debug, Default)]
pub(crate) struct RegroupedExprs {
    first: OnceLock<Box<RegroupedExpr>>,
}

#[derive(Debug)]
struct RegroupedExpr {
    /// The address of the expression as it was parsed.
    original: usize,
    expr: Expr,
    next: RegroupedExprs,
}

impl RegroupedExprs {
    /// The regrouped form of an expression, made by `make` when it is first asked for.
    pub(crate) fn get(&self, of: &Expr, make: impl FnOnce() -> Expr) -> &Expr {
        let of = std::ptr::from_ref(of) as usize;
        let mut list = self;
        while let Some(entry) = list.first.get() {
            if entry.original == of {
                return &entry.expr;
            }
            list = &entry.next;
        }
        let entry = list.first.get_or_init(|| {
            let (expr, next) = (make(), RegroupedExprs::default());
            Box::new(RegroupedExpr {
                original: of,
                expr,
                next,
            })
        });
        &entry.expr
    }
}
