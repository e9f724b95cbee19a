//! JobControlPlane: the operator that a program with consistent regions must have. It does nothing,
//! because such regions do nothing here.

use eval::Fault;
use graph::{Body, OperatorModel, OperatorNode, OperatorRole};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.control",
    name: "JobControlPlane",
    doc: "Stands once in a program with consistent regions. Such regions do nothing in this \
          engine, and neither does this operator.",
    allows_logic: false,
    role: OperatorRole::ControlPlane,
    ..OperatorModel::DEFAULT
};

fn lower(_: &OperatorNode) -> Result<LoweredLogic, Fault> {
    Ok(LoweredLogic {
        on_process: Some(Body::default()),
        ..LoweredLogic::default()
    })
}
