//! Literals without a type of their own, such as `[]` and `null`.

use syntax::ast;

/// Whether an expression has no type of its own: `null`, `[]`, `{}`, or a literal of such.
pub(crate) fn needs_context(expr: &ast::Expr) -> bool {
    use ast::ExprKind as Kind;
    match &expr.kind {
        Kind::Null => true,
        Kind::List(list) | Kind::Set(list) => list.iter().all(needs_context),
        Kind::Map(entries) => {
            entries.iter().all(|(k, _)| needs_context(k))
                || entries.iter().all(|(_, v)| needs_context(v))
        }
        Kind::Tuple(list) => list.iter().any(|(_, e)| needs_context(e)),
        Kind::Conditional(_, a, b) => needs_context(a) && needs_context(b),
        Kind::Paren(inner) => needs_context(inner),
        _ => false,
    }
}
