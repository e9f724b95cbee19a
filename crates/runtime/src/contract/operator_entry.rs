//! The registry: which operators there are, and how each comes to be.

use eval::Fault;
use graph::OperatorModel;

use super::build_context::BuildContext;
use super::operator::Operator;
use crate::abi::LoweredLogic;

/// How an operator comes to be.
#[derive(Clone, Copy, Debug)]
pub enum OperatorConstructor {
    /// As data.
    Lower(fn(&graph::OperatorNode) -> Result<LoweredLogic, Fault>),
    /// As Rust code.
    Build(fn(&mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault>),
    /// As one or the other, depending on how it is invoked.
    Choose(fn(&graph::OperatorNode) -> OperatorConstructor),
}

/// One line of the toolkit's registry.
#[derive(Clone, Copy, Debug)]
pub struct OperatorEntry {
    /// The interface.
    pub model: &'static OperatorModel,
    /// The behaviour.
    pub constructor: OperatorConstructor,
}

impl OperatorEntry {
    /// An operator that is built.
    pub const fn built(
        model: &'static OperatorModel,
        make: fn(&mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault>,
    ) -> OperatorEntry {
        let make = OperatorConstructor::Build(make);
        OperatorEntry {
            model,
            constructor: make,
        }
    }
}
