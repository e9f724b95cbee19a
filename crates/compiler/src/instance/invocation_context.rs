//! The invocation of a primitive operator that is being checked against its model.

use std::cell::OnceCell;
use std::rc::Rc;

use graph::{InPortModel, OperatorModel, OutPortModel};
use syntax::ast::Invocation;

use crate::Session;
use crate::names::{OperatorScope, Scope};

/// A request with the names that its expressions see and its ports matched with the model.
pub(crate) struct InvocationContext<'a, 'w> {
    pub session: &'a Session<'w>,
    pub ast: &'w Invocation,
    pub model: &'static OperatorModel,
    /// The scope of its expressions.
    pub scope: Scope<'w>,
    /// Ports of the operator as its expressions see them.
    pub operator_scope: Rc<OperatorScope>,
    pub inputs: Vec<&'static InPortModel>,
    pub outputs: Vec<&'static OutPortModel>,
    /// Whether there are as many ports as the operator takes.
    pub are_ports_matched: bool,
    /// The condition of an import's filter, if the parameter is a text that holds one.
    pub filter_text: OnceCell<String>,
}

impl InvocationContext<'_, '_> {
    /// Whether parts of the invocation could not be read, so that none counts as missing.
    pub fn is_incomplete(&self) -> bool {
        self.session.is_broken(self.ast.span)
    }
}
