//! Join: pairs the tuples of two windows.

mod join_side;
mod lowered;
mod operator;
mod pair_output;
mod pane_join;
mod unmatched;
mod verify;

use graph::{
    AssignmentMode, Cardinality, PortIndex, PunctuationOutputMode, TuplePort, WindowForm,
    WindowKind, WindowingMode,
};
use graph::{InPortModel, OperatorModel, OperatorNode, OutPortModel, ParamMode, ParamModel};
use runtime::{OperatorConstructor, OperatorEntry};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Choose(make),
};

fn make(operator: &OperatorNode) -> OperatorConstructor {
    if lowered::can_lower(operator) {
        OperatorConstructor::Lower(lowered::lower)
    } else {
        OperatorConstructor::Build(operator::build)
    }
}

const IN: InPortModel = InPortModel {
    window: WindowingMode::Windowed,
    windows: &[WindowForm {
        kind: WindowKind::Sliding,
        evict: &[],
        every_tuple: true,
    }],
    allows_time_interval: true,
    ..InPortModel::DEFAULT
};

const UNMATCHED: OutPortModel = OutPortModel {
    count: Cardinality::Optional,
    punctuation: PunctuationOutputMode::Free,
    ..OutPortModel::DEFAULT
};

/// A list of expressions over the tuples of one side.
const SIDE_EXPRS: ParamModel = ParamModel {
    mode: ParamMode::Expression,
    is_list: true,
    ..ParamModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Join",
    doc: "Pairs each tuple of one port with the tuples in the other port's window that match it. \
          Then the tuple enters the window of its own port. A window marker follows the results of \
          a tuple. With a timeInterval window on both ports, tuples of the same pane are paired \
          when it fires, and a window marker follows the results of a pane.",
    inputs: &[
        InPortModel {
            partition_param: Some("partitionByLHS"),
            ..IN
        },
        InPortModel {
            partition_param: Some("partitionByRHS"),
            ..IN
        },
    ],
    outputs: &[
        OutPortModel {
            assign: AssignmentMode::Expression,
            auto_assignment: true,
            complete_assignment: true,
            ..OutPortModel::DEFAULT
        },
        UNMATCHED,
        UNMATCHED,
    ],
    params: &[
        ParamModel {
            name: "match",
            ty: "boolean",
            mode: ParamMode::Expression,
            doc: "Whether a pair of tuples matches. Default: true.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "algorithm",
            ty: "JoinAlg",
            mode: ParamMode::Literal,
            doc: "What becomes of tuples without a match: dropped (inner), or paired with a \
                  default tuple when they leave their window, or when the pane fires. Default: inner.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "defaultTupleLHS",
            tuple_of: Some(TuplePort::Input(PortIndex(0))),
            doc: "Stands for the left tuple of an unmatched right one. Default: default values.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "defaultTupleRHS",
            tuple_of: Some(TuplePort::Input(PortIndex(1))),
            doc: "Stands for the right tuple of an unmatched left one. Default: default values.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "equalityLHS",
            port: Some(PortIndex(0)),
            doc: "Matching pairs have equal values here and in equalityRHS; looked up by hash.",
            ..SIDE_EXPRS
        },
        ParamModel {
            name: "equalityRHS",
            port: Some(PortIndex(1)),
            doc: "See equalityLHS; as many expressions, of the same types.",
            ..SIDE_EXPRS
        },
        ParamModel {
            name: "partitionByLHS",
            port: Some(PortIndex(0)),
            doc: "Left tuples with equal values share a window; only with a partitioned window.",
            ..SIDE_EXPRS
        },
        ParamModel {
            name: "partitionByRHS",
            port: Some(PortIndex(1)),
            doc: "Right tuples with equal values share a window; only with a partitioned window.",
            ..SIDE_EXPRS
        },
    ],
    enums: &[("JoinAlg", &["inner", "outer", "leftOuter", "rightOuter"])],
    verify: Some(verify::verify),
    timers: Some(verify::timers),
    metrics: &[
        "nCurrentPartitionsLHS",
        "nCurrentPartitionsRHS",
        "nIncompleteWindows",
        "nIncompleteWindowTuples",
        "nLateTuples",
    ],
    ..OperatorModel::DEFAULT
};
