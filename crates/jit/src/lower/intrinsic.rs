//! Library functions that compiled code does itself.

use graph::{Arg, Expr, NativeFn};

use super::Lower;
use crate::value::Val;

impl Lower<'_, '_> {
    /// A call of a library function, if there is code for it.
    pub fn intrinsic(&mut self, e: &Expr, function: &NativeFn, args: &[Arg]) -> Option<Val> {
        let _ = (e, function, args);
        None
    }
}
