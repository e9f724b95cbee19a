//! One entry of the lists of functions.

use crate::xquery::failure::QueryResult;
use crate::xquery::focus::Focus;
use crate::xquery::item::Sequence;

/// A function of XPath.
#[derive(Debug)]
pub(in crate::xquery) struct XPathFunction {
    /// Name in the namespace of functions, without a prefix.
    pub(super) name: &'static str,
    /// Least number of arguments.
    pub(super) arity_min: usize,
    /// Greatest number of arguments.
    pub(super) arity_max: usize,
    /// Evaluates a call where the focus is, on as many arguments as the arity allows.
    pub(in crate::xquery) eval: fn(&Focus, Vec<Sequence>) -> QueryResult<Sequence>,
}

/// An entry of a list.
pub(super) const fn function(
    name: &'static str,
    arity_min: usize,
    arity_max: usize,
    eval: fn(&Focus, Vec<Sequence>) -> QueryResult<Sequence>,
) -> XPathFunction {
    XPathFunction {
        name,
        arity_min,
        arity_max,
        eval,
    }
}
