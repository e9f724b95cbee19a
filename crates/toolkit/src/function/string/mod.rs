//! `spl.string`: rstring functions count bytes, ustring functions count code points.

pub mod encoding;
mod literal;
mod pattern;
mod search;
mod tokenize;
mod transform;

use eval::NativeFn;
pub(super) use pattern::{text_value, verify_pattern};

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    transform::FUNCTIONS,
    search::FUNCTIONS,
    tokenize::FUNCTIONS,
    literal::FUNCTIONS,
    pattern::FUNCTIONS,
    encoding::FUNCTIONS,
];
