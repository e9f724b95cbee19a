//! Types that the definitions of the program stand for, as far as they are resolved.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use syntax::ast::{Composite, TypeDef};
use tuple::Type;

use crate::names::{LazyResult, Scope};

/// Resolved type definitions of units, and scopes for static types of composites.
#[derive(Debug, Default)]
pub(crate) struct TypeDefinitions<'w> {
    /// Types of units, by their definitions.
    pub(crate) units: RefCell<HashMap<*const TypeDef, Rc<LazyResult<Type>>>>,
    /// The scopes in which static types of composites are resolved.
    pub(crate) statics: RefCell<HashMap<*const Composite, Scope<'w>>>,
}
