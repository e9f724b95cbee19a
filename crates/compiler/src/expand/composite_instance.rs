//! One composite instance: what it is given from outside.

use std::rc::Rc;
use std::sync::Arc;

use syntax::Span;
use syntax::ast::{Composite, Param};

use crate::instance::{InheritedClauses, InputFeed, OutputStream};
use crate::names::{Scope, UnitId};

/// A composite that is to be expanded.
pub(crate) struct CompositeInstance<'w> {
    /// The unit that defines it.
    pub unit: UnitId,
    /// The definition.
    pub composite: &'w Composite,
    /// Its path, "" for the main composite.
    pub path: Arc<str>,
    /// Who invokes it; `None` for the main composite and for a check.
    pub invocation: Option<CompositeInvocation<'w>>,
    /// What feeds its input ports, one for each.
    pub inputs: Vec<InputFeed>,
    /// The streams that it gives, one for each output port.
    pub outputs: Vec<OutputStream>,
    /// Config and annotations from outside.
    pub inherited: Rc<InheritedClauses>,
}

/// The invocation of a composite.
pub(crate) struct CompositeInvocation<'w> {
    /// The scope around it.
    pub scope: Scope<'w>,
    /// Its param clause.
    pub params: &'w [Param],
    /// Its head.
    pub head: Span,
    /// The word that names the composite.
    pub operator: Span,
}

impl<'w> CompositeInstance<'w> {
    /// A main composite.
    pub fn main(unit: UnitId, composite: &'w Composite) -> CompositeInstance<'w> {
        CompositeInstance {
            unit,
            composite,
            path: "".into(),
            invocation: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            inherited: Rc::default(),
        }
    }
}
