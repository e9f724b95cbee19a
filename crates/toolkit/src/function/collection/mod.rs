//! `spl.collection`: lists, sets, maps and blobs.
//!
//! Names that end in M change their first argument in place; the others give a changed copy. What
//! does not fit into a bounded list, set or map is left out.

mod edit;
mod keyed;
mod order;
mod search;
mod sequence;

use graph::NativeFn;

use super::Eval;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    keyed::FUNCTIONS,
    edit::FUNCTIONS,
    search::FUNCTIONS,
    order::FUNCTIONS,
    sequence::FUNCTIONS,
];

const fn collection(prototype: &'static str, doc: &'static str, eval: Eval) -> NativeFn {
    super::native("spl.collection", prototype, doc, eval)
}
