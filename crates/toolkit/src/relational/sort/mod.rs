//! Sort: puts the tuples of a window in order.

mod lowered;
mod operator;
mod verify;

use graph::{
    AssignmentMode, OperatorNode, PolicyKind, PunctuationInputMode, WindowForm, WindowKind,
    WindowingMode,
};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{OperatorConstructor, OperatorEntry};

use crate::lower;

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

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Sort",
    doc: "Puts the tuples of a window in order. A tumbling window is sent in order when it is \
          flushed, then a window marker, and so is a pane of a timeInterval window or a session \
          when it fires; a sliding window of count(n) sends its smallest tuple \
          when it overflows, and the rest at the end, without markers.",
    inputs: &[InPortModel {
        punctuation: PunctuationInputMode::WindowBound,
        window: WindowingMode::Windowed,
        allows_time_interval: true,
        allows_session: true,
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
        assign: AssignmentMode::Expression,
        auto_assignment: true,
        complete_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "sortBy",
            mode: ParamMode::Expression,
            mandatory: true,
            is_list: true,
            doc: "What is compared, the most significant first.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "order",
            ty: "SortOrder",
            mode: ParamMode::Literal,
            is_list: true,
            doc: "One direction for all, or one for each expression of sortBy. Default: ascending.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "partitionBy",
            mode: ParamMode::Expression,
            is_list: true,
            doc: "Tuples with equal values share a window; only with a partitioned window.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("SortOrder", &["ascending", "descending"])],
    metrics: &[
        "nCurrentPartitions",
        "nIncompleteWindows",
        "nIncompleteWindowTuples",
        "nLateTuples",
    ],
    verify: Some(verify::verify),
    timers: Some(lower::period_timers),
    no_markers_reason: Some(|operator| {
        let mut windows = operator
            .inputs
            .iter()
            .filter_map(|input| input.window.as_ref());
        let is_sliding = windows.any(|window| window.kind == WindowKind::Sliding);
        is_sliding.then_some("with a sliding window it sends tuples only")
    }),
    ..OperatorModel::DEFAULT
};

/// Advice for a tumbling window that did not get full.
const INCOMPLETE_HELP: &str = "`sliding, count(n)` sends in order what it still holds in the end, \
     and `tumbling, punct()` what it holds at each window marker";

/// Whether the order by an expression of `sortBy` is reversed, given the words of `order`: one for
/// all, or one for each expression.
fn is_descending(orders: &[std::sync::Arc<str>], at: usize) -> bool {
    let order = if let [all] = orders {
        Some(all)
    } else {
        orders.get(at)
    };
    order.is_some_and(|order| &**order == "descending")
}
