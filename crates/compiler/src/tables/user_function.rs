//! A user function that something refers to.

use std::cell::Cell;
use std::rc::Rc;

use graph::FunctionId;
use syntax::ast;

use super::signature::Signature;
use crate::names::UnitId;

/// A function that the program defines.
#[derive(Debug)]
pub(crate) struct UserFunction<'w> {
    pub unit: UnitId,
    pub ast: &'w ast::Function,
    /// `None`: something about it is broken, which was reported.
    pub signature: Option<Rc<Signature>>,
    /// Id in the program; `None` until something refers to the function.
    pub emitted: Cell<Option<FunctionId>>,
}

impl<'w> UserFunction<'w> {
    pub fn new(
        unit: UnitId,
        ast: &'w ast::Function,
        signature: Option<Rc<Signature>>,
    ) -> UserFunction<'w> {
        UserFunction {
            unit,
            ast,
            signature,
            emitted: Cell::new(None),
        }
    }
}
