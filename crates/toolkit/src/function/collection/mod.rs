//! `spl.collection`: lists, sets, maps and blobs.
//!
//! Names that end in M change their first argument in place; the others give a changed copy. What
//! does not fit into a bounded list, set or map is left out.

mod edit;
mod order;
mod search;
mod set_map;
mod slice;

use eval::NativeFn;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    set_map::FUNCTIONS,
    edit::FUNCTIONS,
    search::FUNCTIONS,
    order::FUNCTIONS,
    slice::FUNCTIONS,
];
