//! Barrier: joins the n-th tuples of several streams into one.

use graph::{Assignment, Cardinality, FaultKind, PunctuationOut};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Barrier",
    doc: "Waits for one tuple on every input port, then sends one tuple made from them. With \
          partitions each waits on its own. Parameters partitionBy0, partitionBy1, ... partition \
          the ports one by one.",
    inputs: &[
        InPortModel {
            count: Cardinality::Exactly(2),
            ..InPortModel::DEFAULT
        },
        InPortModel {
            count: Cardinality::Any,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Free,
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
        ..OutPortModel::DEFAULT
    }],
    params: super::rendezvous::PARAMS,
    allow_any_param: true,
    allows_logic: false,
    verify: Some(super::rendezvous::verify),
    ..OperatorModel::DEFAULT
};

fn build(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
