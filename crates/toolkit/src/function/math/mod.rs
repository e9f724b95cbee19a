//! `spl.math`.

mod aggregate;
mod constant;
mod power;
mod rounding;
mod trigonometry;

use eval::NativeFn;

use super::NativeEval;

/// The lists of this namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[
    constant::FUNCTIONS,
    power::FUNCTIONS,
    trigonometry::FUNCTIONS,
    rounding::FUNCTIONS,
    aggregate::FUNCTIONS,
];

const fn math(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    super::native("spl.math", prototype, doc, eval)
}
