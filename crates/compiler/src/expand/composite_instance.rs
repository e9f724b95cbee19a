//! A composite that is to be expanded: its definition, its invocation, and the streams at its
//! ports.

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
    /// Definition of the composite, in the syntax tree.
    pub composite: &'w Composite,
    /// Instance path, "" for the main composite.
    pub path: Arc<str>,
    /// Invocation of the composite; `None` for the main composite and for a check.
    pub invocation: Option<CompositeInvocation<'w>>,
    /// Streams that feed the input ports, one feed for each port.
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
    /// Param clause of the invocation.
    pub params: &'w [Param],
    /// Place of the whole invocation.
    pub span: Span,
    /// Head of the invocation: outputs, name and inputs.
    pub head: Span,
    /// The word that names the composite.
    pub operator: Span,
}

impl<'w> CompositeInstance<'w> {
    /// An instance that nothing invokes, without ports.
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
