//! Custom: its logic clause is the whole operator.

use eval::Fault;
use graph::{Cardinality, InPortModel, OperatorModel, OperatorNode, OutPortModel};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Custom",
    doc: "Does what its logic clause says, which may submit tuples and markers. Window markers \
          are not forwarded. Without input ports its onProcess clause runs once, on its own \
          thread.",
    inputs: &[InPortModel {
        count: Cardinality::Any,
        mutable: true,
        ..InPortModel::DEFAULT
    }],
    outputs: &[OutPortModel::ANY],
    submits: true,
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let mut logic = lower::after_logic(operator, |_, _| Ok(()))?;
    if operator.inputs.is_empty() {
        // Without onProcess the operator still has a thread, which ends its streams at once.
        logic.on_process = Some(operator.logic.on_process.clone().unwrap_or_default());
    }
    Ok(logic)
}
