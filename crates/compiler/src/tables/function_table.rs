//! Functions that the compilation has met: signatures of the library's, ids and bodies of the
//! user's.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use graph::{Function, NativeId, OperatorModel};
use syntax::ast;

use super::output_functions::OutputFunctions;
use super::signature::{Signature, UserFunctionId};
use super::user_function::UserFunction;

/// Signatures and bodies of functions, with the ids that the program gives them.
#[derive(Debug, Default)]
pub(crate) struct FunctionTable<'w> {
    /// Signatures of library functions, parsed when first asked for.
    pub(crate) natives: RefCell<HashMap<NativeId, Option<Rc<Signature>>>>,
    pub(crate) intrinsics: RefCell<HashMap<&'static str, Vec<Rc<Signature>>>>,
    pub(crate) outputs: RefCell<HashMap<*const OperatorModel, Option<Rc<OutputFunctions>>>>,
    pub(crate) users: RefCell<Vec<Rc<UserFunction<'w>>>>,
    pub(crate) by_ast: RefCell<HashMap<*const ast::Function, UserFunctionId>>,
    /// User functions that something refers to, by their ids in the program.
    pub(crate) emitted: RefCell<Vec<Rc<UserFunction<'w>>>>,
    /// Typed bodies, by the same ids.
    pub(crate) typed: RefCell<Vec<Function>>,
    pub(crate) is_typing: Cell<bool>,
    /// Number of emitted functions that the program needs; later ones are only checked.
    pub(crate) needed_count: Cell<Option<usize>>,
}
