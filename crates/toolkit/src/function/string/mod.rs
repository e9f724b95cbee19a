//! `spl.string`: rstring functions count bytes, ustring functions count code points.

pub mod encoding;
mod literal;
mod pattern;
mod search;
mod shape;
mod tokenize;

use graph::NativeFn;

use super::Eval;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    shape::FUNCTIONS,
    search::FUNCTIONS,
    tokenize::FUNCTIONS,
    literal::FUNCTIONS,
    pattern::FUNCTIONS,
    encoding::FUNCTIONS,
];

const fn string(prototype: &'static str, doc: &'static str, eval: Eval) -> NativeFn {
    super::native("spl.string", prototype, doc, eval)
}
