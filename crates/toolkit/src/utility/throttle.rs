//! Throttle: passes tuples at no more than a rate.

use graph::PunctuationOut;
use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Throttle",
    doc: "Passes tuples at no more than a rate, by holding up whoever sends them.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Preserving(0),
        same_schema_as: Some(0),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "rate",
            ty: "float64",
            mandatory: true,
            doc: "Tuples a second.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "period",
            ty: "float64",
            doc: "Seconds over which the rate is kept. Default: 10 / rate.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "includePunctuations",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether markers count as tuples. Default: false.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "precise",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether to spin at the end of a wait, for an exact time. Default: false.",
            ..ParamModel::DEFAULT
        },
    ],
    ..OperatorModel::DEFAULT
};

fn build(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
