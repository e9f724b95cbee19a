//! Delay: sends what comes in again, later, with the same distances.

use graph::PunctuationOut;
use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, ParamModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Delay",
    doc: "Sends tuples and markers on after a delay, with the distances in time that they came \
          with, from a thread of its own.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Preserving(0),
        same_schema_as: Some(0),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "delay",
            ty: "float64",
            mandatory: true,
            doc: "Seconds.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "bufferSize",
            ty: "uint32",
            doc: "How many tuples may wait; when full, the sender waits. Default: 1000.",
            ..ParamModel::DEFAULT
        },
    ],
    ..OperatorModel::DEFAULT
};

fn build(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
