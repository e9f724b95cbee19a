//! Parallel regions and consistent regions.
//!
//! The channel functions read the operator's properties `channel`, `localChannel`, `allChannels`
//! and so on, lists separated by commas. There are no consistent regions: the functions about them
//! give the results of an operator outside of all such regions.

use eval::{Fault, NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::utility;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "int32 getChannel()",
        "The number of the operator's channel in the outermost parallel region around it, counted \
         over all regions nested in it; -1 outside of parallel regions.",
        |c| number(c, "channel", -1),
    ),
    utility(
        "int32 getLocalChannel()",
        "The number of the operator's channel in the innermost parallel region; -1 outside.",
        |c| number(c, "localChannel", -1),
    ),
    utility(
        "list<int32> getAllChannels()",
        "The numbers of the operator's channels, from the innermost parallel region outwards.",
        |c| numbers(c, "allChannels"),
    ),
    utility(
        "int32 getMaxChannels()",
        "How many channels there are over all nested parallel regions; 0 outside.",
        |c| number(c, "maxChannels", 0),
    ),
    utility(
        "int32 getLocalMaxChannels()",
        "How many channels the innermost parallel region has; 0 outside.",
        |c| number(c, "localMaxChannels", 0),
    ),
    utility(
        "list<int32> getAllMaxChannels()",
        "How many channels the parallel regions have, from the innermost outwards.",
        |c| numbers(c, "allMaxChannels"),
    ),
    utility(
        "boolean isControlInputPort(uint32 port)",
        "Whether an input port of the operator is a control port.",
        |c| {
            let name = format!("controlInputPort.{}", c.uint32(0));
            Ok(Value::Boolean(
                c.services.property(&name).as_deref() == Some("true"),
            ))
        },
    ),
    utility(
        "boolean isConsistentInputPort(uint32 port)",
        "Whether an input port is in a consistent region; always false.",
        |_| Ok(Value::Boolean(false)),
    ),
    utility(
        "boolean isInConsistentRegion()",
        "Whether the operator is in a consistent region; always false.",
        |_| Ok(Value::Boolean(false)),
    ),
    utility(
        "boolean isStartOfConsistentRegion()",
        "Whether the operator begins a consistent region; always false.",
        |_| Ok(Value::Boolean(false)),
    ),
    utility(
        "boolean isEndOfConsistentRegion()",
        "Whether the operator ends a consistent region; always false.",
        |_| Ok(Value::Boolean(false)),
    ),
    utility(
        "boolean isTriggerOfConsistentRegion()",
        "Whether the operator triggers the drains of a consistent region; always false.",
        |_| Ok(Value::Boolean(false)),
    ),
    utility(
        "int32 getConsistentRegionIndex()",
        "The index of the operator's consistent region; always -1, for there is none.",
        |_| Ok(Value::Int32(-1)),
    ),
    utility(
        "int64 getSequenceId()",
        "The sequence number of the last drain or reset; always -1, for there is no consistent \
         region.",
        |_| Ok(Value::Int64(-1)),
    ),
    utility(
        "float64 getDrainTimeout()",
        "The time in seconds that a drain may take; always -1, for there is no consistent region.",
        |_| Ok(Value::Float64(-1.0)),
    ),
    utility(
        "float64 getResetTimeout()",
        "The time in seconds that a reset may take; always -1, for there is no consistent region.",
        |_| Ok(Value::Float64(-1.0)),
    ),
    utility(
        "int32 getResetAttempt()",
        "How often the current reset was tried; always -1, for there is no consistent region.",
        |_| Ok(Value::Int32(-1)),
    ),
    utility(
        "void resetConsistentRegion()",
        "Asks for a reset of the operator's consistent region; faults, for there is none.",
        |_| Err(Fault::value("the operator is in no consistent region")),
    ),
];

fn number(c: &mut NativeCall<'_>, name: &str, otherwise: i32) -> NativeResult {
    let number = c.services.property(name).and_then(|text| text.parse().ok());
    Ok(Value::Int32(number.unwrap_or(otherwise)))
}

fn numbers(c: &mut NativeCall<'_>, name: &str) -> NativeResult {
    let text = c.services.property(name).unwrap_or_default();
    let numbers = text
        .split(',')
        .filter_map(|number| number.trim().parse().ok());
    c.bounded_list(List::Int32(numbers.collect()))
}
