//! Checks of an Aggregate when compiling, beyond its model.

use graph::{InvocationError, InvocationPart, OperatorNode, WindowKind};

use crate::verify_params::{is_true, report_misuse};

/// Verifies that only sliding windows give results while they are incomplete, and only partitions
/// of tumbling windows when they are evicted.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    let Some(window) = &operator.inputs[0].window else {
        return Ok(());
    };
    let (incomplete, evicted) = ("aggregateIncompleteWindows", "aggregateEvictedPartitions");
    if is_true(operator, incomplete) && window.kind != WindowKind::Sliding {
        let message = match window.kind {
            WindowKind::TimeInterval => {
                "a pane gives results only when the watermark has passed its end"
            }
            _ => "a tumbling window gives results only when it is full",
        };
        let help = format!("leave `{incomplete}` out, or make the window sliding");
        return report_misuse(InvocationPart::Param(incomplete), message, &help);
    }
    if is_true(operator, evicted) && window.kind == WindowKind::TimeInterval {
        let message = "the partitions of a timeInterval window are not evicted";
        let help = format!("leave `{evicted}` out");
        return report_misuse(InvocationPart::Param(evicted), message, &help);
    }
    if is_true(operator, evicted) && window.kind == WindowKind::Sliding {
        let message = "a sliding window gives results when it is triggered, not when a partition \
                       is evicted";
        let help = format!("leave `{evicted}` out, or make the window tumbling");
        return report_misuse(InvocationPart::Param(evicted), message, &help);
    }
    if is_true(operator, evicted) && window.partition.is_none() {
        let message = "the window has no partitions that could be evicted";
        let help = "add `partitioned, partitionCount(100)` to the window for instance, and \
                    `partitionBy` to the parameters";
        return report_misuse(InvocationPart::Param(evicted), message, help);
    }
    Ok(())
}
