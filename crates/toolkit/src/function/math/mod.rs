//! `spl.math`: functions of numbers and of lists of numbers.

mod aggregate;
mod constant;
mod power;
mod rounding;
mod trigonometry;

use eval::NativeFn;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    constant::FUNCTIONS,
    power::FUNCTIONS,
    trigonometry::FUNCTIONS,
    rounding::FUNCTIONS,
    aggregate::FUNCTIONS,
];
