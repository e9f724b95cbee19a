//! Functor: one output tuple on every output port for each input tuple.

use graph::{Assignment, Cardinality, PunctuationOut};
use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

const OUT: OutPortModel = OutPortModel {
    punctuation: PunctuationOut::Preserving(0),
    assign: Assignment::Expression,
    forwards: true,
    complete: true,
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Functor",
    doc: "Computes one tuple on every output port for each input tuple. An attribute that is not \
          assigned is forwarded from the input attribute of the same name and type.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Any,
            ..OUT
        },
    ],
    params: &[ParamModel {
        name: "filter",
        ty: "boolean",
        mode: ParamMode::Expression,
        doc: "Tuples for which it is false are dropped. Default: true.",
        ..ParamModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

fn lower(_: &graph::Operator) -> Result<Logic, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
