//! Actuals of parameters as they are written: expressions or a type.

use syntax::Span;
use syntax::ast::{Actual, Expr};

/// The expressions that are passed; `None` if a type is passed.
pub(crate) fn exprs(actual: &Actual) -> Option<&[Expr]> {
    match actual {
        Actual::Exprs(list) => Some(list),
        Actual::Type(_) => None,
    }
}

/// The one expression that is passed.
pub(crate) fn single(actual: &Actual) -> Option<&Expr> {
    match exprs(actual)? {
        [one] => Some(one),
        _ => None,
    }
}

/// The place of an actual; `None` if there is nothing in it.
pub(crate) fn actual_span(actual: &Actual) -> Option<Span> {
    match actual {
        Actual::Type(ty) => Some(ty.span),
        Actual::Exprs(list) => Some(list.first()?.span.to(list.last()?.span)),
    }
}
