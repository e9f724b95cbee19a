//! `thalweg.text`: functions on text that the standard toolkit lacks. A program names them in a
//! `use`.

mod find_all;
mod iso8601;

use eval::NativeFn;

use super::entry::{NativeEval, native};

/// All lists of the namespace.
pub(super) const LISTS: &[&[NativeFn]] = &[find_all::FUNCTIONS, iso8601::FUNCTIONS];

/// An entry of the namespace.
const fn text(prototype: &'static str, doc: &'static str, eval: NativeEval) -> NativeFn {
    native("thalweg.text", prototype, doc, eval)
}
