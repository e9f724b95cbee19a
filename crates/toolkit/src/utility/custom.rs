//! Custom: does what its logic clause says.

use graph::{Cardinality, Fault, FaultKind, InPortModel, OperatorModel, OutPortModel};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
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
    outputs: &[OutPortModel {
        count: Cardinality::Any,
        ..OutPortModel::DEFAULT
    }],
    submits: true,
    ..OperatorModel::DEFAULT
};

fn lower(_: &graph::Operator) -> Result<Logic, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
