//! Beacon: makes tuples out of nothing, at a pace.

use graph::{Assignment, FaultKind};
use graph::{Fault, OperatorModel, OutPortModel, ParamModel};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Beacon",
    doc: "Makes tuples, so many or without end, at a pace. After the last of them comes a window \
          marker. Attributes that are not assigned have their default values.",
    outputs: &[OutPortModel {
        assign: Assignment::Expression,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "period",
            ty: "float64",
            doc: "Seconds between two tuples. Default: 0.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "iterations",
            ty: "int32 | uint32",
            doc: "How many tuples. Default: without end.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "initDelay",
            ty: "float64",
            doc: "Seconds before the first tuple. Default: 0.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "triggerCount",
            ty: "uint32",
            doc: "Only in a consistent region that it triggers: tuples between two drains.",
            ..ParamModel::DEFAULT
        },
    ],
    output_functions: &["<any T> T AsIs(T v)", "uint64 IterationCount()"],
    nested_output_functions: true,
    starts_consistent_region: true,
    ..OperatorModel::DEFAULT
};

fn lower(_: &graph::Operator) -> Result<Logic, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
