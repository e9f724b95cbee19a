//! Checks of an Aggregate when compiling, beyond its model.

use graph::{
    Expr, ExprKind, InvocationError, InvocationPart, OperatorNode, OutPort, Partition, PortIndex,
    Window, WindowKind,
};

use crate::verify_params::{is_true, report_misuse};

/// Verifies an invocation of Aggregate.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    if let Some(window) = &operator.inputs[0].window {
        incomplete_windows(operator, window)?;
        evicted_partitions(operator, window)?;
    }
    custom_calls(&operator.outputs[0])
}

/// Only sliding windows give results while they are incomplete.
fn incomplete_windows(operator: &OperatorNode, window: &Window) -> Result<(), InvocationError> {
    let incomplete = "aggregateIncompleteWindows";
    if is_true(operator, incomplete) && window.kind != WindowKind::Sliding {
        let message = match window.kind {
            WindowKind::TimeInterval => {
                "a pane gives results only when the watermark has passed its end"
            }
            WindowKind::Session => {
                "a session gives results only when the watermark has passed its end"
            }
            _ => "a tumbling window gives results only when it is full",
        };
        let help = format!("leave `{incomplete}` out, or make the window sliding");
        return report_misuse(InvocationPart::Param(incomplete), message, &help);
    }
    Ok(())
}

/// Only partitions of tumbling windows give results when they are evicted.
fn evicted_partitions(operator: &OperatorNode, window: &Window) -> Result<(), InvocationError> {
    let evicted = "aggregateEvictedPartitions";
    if !is_true(operator, evicted) {
        return Ok(());
    }
    let add = "add `partitioned, partitionCount(100)` to the window for instance, and \
               `partitionBy` to the parameters";
    let (message, help) = match (window.kind, &window.partition) {
        (WindowKind::TimeInterval, _) => (
            "the partitions of a timeInterval window are not evicted",
            format!("leave `{evicted}` out"),
        ),
        (WindowKind::Session, _) => (
            "the partitions of a session window are not evicted",
            format!("leave `{evicted}` out"),
        ),
        (WindowKind::Sliding, _) => (
            "a sliding window gives results when it is triggered, not when a partition is evicted",
            format!("leave `{evicted}` out, or make the window tumbling"),
        ),
        (_, None) => (
            "the window has no partitions that could be evicted",
            add.to_owned(),
        ),
        (_, Some(Partition { evict: None })) => (
            "nothing evicts the partitions of this window",
            format!(
                "add `partitionCount(100)` to the window for instance, or leave `{evicted}` out"
            ),
        ),
        _ => return Ok(()),
    };
    report_misuse(InvocationPart::Param(evicted), message, &help)
}

/// The first and the last expression of `Custom(init, process, result)` are evaluated once for each
/// group, where no tuple is the current one.
fn custom_calls(port: &OutPort) -> Result<(), InvocationError> {
    let reads = |value: &Option<Expr>| match value.as_ref().map(|value| &value.kind) {
        Some(&ExprKind::OutputCall(call)) => match &port.calls[call as usize] {
            call if &*call.function != "Custom" => false,
            call => [call.args.first(), call.args.last()]
                .iter()
                .flatten()
                .any(|arg| arg.reads_input()),
        },
        _ => false,
    };
    let Some(at) = port.assign.iter().position(reads) else {
        return Ok(());
    };
    let message = "only the second expression of Custom can read attributes: the others are \
                   evaluated once for a whole group";
    let help = "keep what they need in the state variable, which the second expression changes";
    report_misuse(
        InvocationPart::Attribute(PortIndex(0), at as u32),
        message,
        help,
    )
}
