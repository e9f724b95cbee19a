//! Punctor: puts window markers into a stream.

use graph::{Assignment, FaultKind};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Punctor",
    doc: "Sends each tuple on, with a window marker before or after those that meet a condition. \
          Window markers that come in are dropped.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "punctuate",
            ty: "boolean",
            mode: ParamMode::Expression,
            mandatory: true,
            doc: "Whether a marker goes with this tuple.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "position",
            ty: "PunctuationPosition",
            mode: ParamMode::Literal,
            mandatory: true,
            doc: "Whether the marker comes before or after the tuple.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("PunctuationPosition", &["before", "after"])],
    ..OperatorModel::DEFAULT
};

fn lower(_: &graph::Operator) -> Result<Logic, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
