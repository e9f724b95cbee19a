//! Sort: puts the tuples of a window in order.

use graph::{Assignment, PolicyKind, PunctuationIn, WindowForm, WindowKind, Windowing};
use graph::{Fault, FaultKind, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{Build, Make, Operator, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Sort",
    doc: "Puts the tuples of a window in order. A tumbling window is sent in order when it is \
          flushed, then a window marker; a sliding window of count(n) sends its smallest tuple \
          when it overflows, and the rest at the end, without markers.",
    inputs: &[InPortModel {
        punctuation: PunctuationIn::WindowBound,
        window: Windowing::Windowed,
        partition_param: Some("partitionBy"),
        windows: &[
            WindowForm {
                kind: WindowKind::Tumbling,
                evict: &[],
                every_tuple: false,
            },
            WindowForm {
                kind: WindowKind::Sliding,
                evict: &[PolicyKind::Count],
                every_tuple: true,
            },
        ],
        ..InPortModel::DEFAULT
    }],
    outputs: &[OutPortModel {
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "sortBy",
            mode: ParamMode::Expression,
            mandatory: true,
            list: true,
            doc: "What is compared, the most significant first.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "order",
            ty: "SortOrder",
            mode: ParamMode::Literal,
            list: true,
            doc: "One direction for all, or one for each expression of sortBy. Default: ascending.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "partitionBy",
            mode: ParamMode::Expression,
            list: true,
            doc: "Tuples with equal values share a window; only with a partitioned window.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("SortOrder", &["ascending", "descending"])],
    metrics: &["nCurrentPartitions"],
    ..OperatorModel::DEFAULT
};

fn build(_: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Err(Fault::new(FaultKind::Limit, "Sort is being built"))
}
