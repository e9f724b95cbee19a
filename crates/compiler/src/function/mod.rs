//! Functions: prototypes, overload resolution, and the bodies of user functions.

use std::cell::RefCell;
use std::rc::Rc;

use graph::{Function, OperatorModel};

use crate::Session;
use crate::names::UnitId;

/// User functions that were referred to.
#[derive(Debug, Default)]
pub(crate) struct FunctionTable<'w> {
    _queue: RefCell<Vec<&'w ()>>,
}

/// The output functions of an operator model.
#[derive(Debug)]
pub struct OutputFunctions {
    /// Whether they may stand inside each other's arguments and inside expressions.
    pub nested: bool,
}

impl<'w> Session<'w> {
    /// The output functions of a model, parsed once; `None` if it has none.
    pub fn output_functions(&self, model: &'static OperatorModel) -> Option<Rc<OutputFunctions>> {
        todo!("{model:?}")
    }

    /// The functions that expressions refer to, typed, in the order of their ids; then checks (and
    /// drops) all other functions of units that are checked. Call it last.
    pub fn finish_functions(&self) -> Vec<Function> {
        todo!()
    }

    /// Checks the types of one unit, whoever uses them.
    pub fn check_unit(&self, unit: UnitId) {
        todo!("{unit:?}")
    }
}
