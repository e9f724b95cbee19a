//! Aggregate: sums up the tuples of a window, group by group.
//!
//! A tuple is kept with the values that the output function calls and `groupBy` take from it.
//! [`mod@column`] defines the result of each function over the column of a group's values. How the
//! result is computed depends on the window:
//!
//! | window | results | modules |
//! | --- | --- | --- |
//! | tumbling | each function takes values as they come; tuples are not kept | `running_*` |
//! | sliding | groups are kept from one firing to the next | `partition_groups`, `sliding` |
//! | other | groups are filled when the window fires | `window_groups`, `sliding` |
//!
//! Other windows are sessions, panes, and tumbling ones with a function that needs all values at
//! once.
//!
//! Windows of a number of tuples, other tumbling windows and panes are lowered, where that is
//! possible, to statements that are compiled with the chain (`lowered`).

mod aggregate_call;
mod aggregate_item;
mod column;
mod group_context;
mod group_results;
mod grouping;
mod incomplete_help;
mod lowered;
mod moments;
mod operator;
mod partition_groups;
mod running_function;
mod running_groups;
mod sliding;
mod verify;
mod window_groups;

#[cfg(test)]
mod sliding_agreement;
#[cfg(test)]
mod test_random;

use graph::{
    AssignmentMode, InPortModel, OperatorModel, OperatorNode, OutPortModel, ParamMode, ParamModel,
    PunctuationInputMode, WindowingMode,
};
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
    name: "Aggregate",
    doc: "Sums up the tuples of a window: one output tuple for each group whenever the window is \
          flushed (tumbling), triggered (sliding) or a pane or session of it fires (timeInterval, \
          session), then one window marker. An empty window gives the marker alone. Attributes that are not assigned are those of the last tuple. \
          A pane or session that no watermark has passed when the input ends gives nothing.",
    timers: Some(lower::period_timers),
    inputs: &[InPortModel {
        punctuation: PunctuationInputMode::WindowBound,
        window: WindowingMode::Windowed,
        allows_time_interval: true,
        allows_session: true,
        partition_param: Some("partitionBy"),
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
            name: "groupBy",
            mode: ParamMode::Expression,
            is_list: true,
            doc: "Tuples of a window with equal values make one group. Default: one group.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "partitionBy",
            mode: ParamMode::Expression,
            is_list: true,
            doc: "Tuples with equal values share a window; only with a partitioned window.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "aggregateIncompleteWindows",
            ty: "boolean",
            mode: ParamMode::Constant,
            is_list: true,
            doc: "Whether a sliding window gives results before it was full for the first time. \
                  Default: false.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "aggregateEvictedPartitions",
            ty: "boolean",
            mode: ParamMode::Constant,
            is_list: true,
            doc: "Whether a partition of a tumbling window that is evicted gives its results then. \
                  Default: false.",
            ..ParamModel::DEFAULT
        },
    ],
    output_functions: &[
        "int32 Count()",
        "int32 CountAll()",
        "int32 CountGroups()",
        "list<int32> CountByGroup()",
        "<any T> T Any(T v)",
        "<any T> T First(T v)",
        "<any T> T Last(T v)",
        "<any T> list<T> Collect(T v)",
        "<any T> list<T> CollectDistinct(T v)",
        "<any T> int32 CountDistinct(T v)",
        "<any T> list<int32> CountByDistinct(T v)",
        "<numeric T> T Average(T v)",
        "<numeric T> list<T> Average(list<T> v)",
        "<numeric T> T Sum(T v)",
        "<numeric T> list<T> Sum(list<T> v)",
        "<string T> T Sum(T v)",
        "<ordered T> T Max(T v)",
        "<numeric T> list<T> Max(list<T> v)",
        "<ordered T> T Min(T v)",
        "<numeric T> list<T> Min(list<T> v)",
        "<ordered T> int32 MaxCount(T v)",
        "<ordered T> int32 MinCount(T v)",
        "<ordered T, any K> K ArgMin(T v, K result)",
        "<ordered T, any K> K ArgMax(T v, K result)",
        "<ordered T, any K> list<K> CollectArgMin(T v, K result)",
        "<ordered T, any K> list<K> CollectArgMax(T v, K result)",
        "<numeric T> T SampleStdDev(T v)",
        "<numeric T> list<T> SampleStdDev(list<T> v)",
        "<numeric T> T PopulationStdDev(T v)",
        "<numeric T> list<T> PopulationStdDev(list<T> v)",
        "<any T> T Custom(boolean init, boolean process, T result)",
    ],
    stepwise_output_functions: &["Custom"],
    metrics: &[
        "nCurrentPartitions",
        "nIncompleteWindows",
        "nIncompleteWindowTuples",
        "nLateTuples",
    ],
    verify: Some(verify::verify),
    ..OperatorModel::DEFAULT
};
