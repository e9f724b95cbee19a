//! Checks of a Join when compiling, beyond its model.

use graph::{InvocationError, InvocationPart, OperatorNode, OperatorTimers, PortIndex};

use crate::lower;
use crate::verify_params::{exprs, has_param, report_misuse};

/// Keys come in pairs of equal types; further output ports are those of the algorithm's unmatched
/// tuples; default tuples are for a join that needs them and has one output port.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_keys(operator)?;
    verify_ports(operator)?;
    for (name, port) in [("defaultTupleLHS", 0), ("defaultTupleRHS", 1)] {
        verify_default_tuple(operator, name, port)?;
    }
    Ok(())
}

fn verify_keys(operator: &OperatorNode) -> Result<(), InvocationError> {
    let (left, right) = ("equalityLHS", "equalityRHS");
    match (has_param(operator, left), has_param(operator, right)) {
        (true, false) => return unpaired_param(left, right),
        (false, true) => return unpaired_param(right, left),
        _ => {}
    }
    let (lefts, rights) = (exprs(operator, left), exprs(operator, right));
    let help = "each expression to the left is compared with the one at its place to the right";
    if lefts.len() != rights.len() {
        let (l, r) = (lefts.len(), rights.len());
        let message = format!("`{left}` has {l} values, and `{right}` has {r}");
        return report_misuse(InvocationPart::Param(right), message, help);
    }
    match lefts.iter().zip(rights).find(|(l, r)| l.ty != r.ty) {
        Some((l, r)) => {
            let message = format!(
                "`{left}` and `{right}` differ in type: {} and {}",
                l.ty, r.ty
            );
            report_misuse(InvocationPart::Param(right), message, help)
        }
        None => Ok(()),
    }
}

fn unpaired_param(this: &'static str, other: &str) -> Result<(), InvocationError> {
    let message = format!("`{this}` needs `{other}`");
    report_misuse(
        InvocationPart::Param(this),
        message,
        "give both, or neither",
    )
}

/// Timers of a Join: one if tuples leave a window by time, which submits if unmatched tuples of
/// that window's side count.
pub fn timers(operator: &OperatorNode) -> OperatorTimers {
    let (sides, _) = outer_sides(algorithm(operator));
    let loses_by_time = |port: &graph::InPort| {
        let window = port.window.as_ref();
        window.is_some_and(|window| window.lifetime_s().is_some())
    };
    let mut outer = sides.iter().filter_map(|&side| operator.inputs.get(side));
    let submits = outer.any(loses_by_time);
    OperatorTimers::new(operator.inputs.iter().any(loses_by_time), submits)
}

pub fn algorithm(operator: &OperatorNode) -> &str {
    lower::literal(operator, "algorithm").unwrap_or("inner")
}

/// The sides whose unmatched tuples count, and what output ports there are then.
pub fn outer_sides(algorithm: &str) -> (&'static [usize], &'static str) {
    match algorithm {
        "outer" => (&[0, 1], "1 or 3 output ports"),
        "leftOuter" => (&[0], "1 or 2 output ports"),
        "rightOuter" => (&[1], "1 or 2 output ports"),
        _ => (&[], "1 output port"),
    }
}

/// Verifies that there is one output port, or one more for each side whose unmatched tuples are
/// submitted, with the type of that side.
fn verify_ports(operator: &OperatorNode) -> Result<(), InvocationError> {
    let algorithm = algorithm(operator);
    let (sides, counts) = outer_sides(algorithm);
    let more = operator.outputs.len() - 1;
    if more > 0 && more != sides.len() {
        let message = format!("Join has {counts} if it is {algorithm}, not {}", more + 1);
        let help = "the ports after the first get the tuples that find no partner: those of the \
                    left, of the right, or of both";
        return report_misuse(InvocationPart::Head, message, help);
    }
    for (port, &side) in (1..=more).zip(sides) {
        let (input, output) = (&operator.inputs[side], &operator.outputs[port]);
        if input.schema != output.schema {
            let (input, output) = (&input.name, &output.name);
            let message = format!("`{output}` gets tuples of `{input}` and is of another type");
            return report_misuse(InvocationPart::Output(PortIndex(port as u32)), message, "");
        }
    }
    Ok(())
}

fn verify_default_tuple(
    operator: &OperatorNode,
    name: &'static str,
    port: usize,
) -> Result<(), InvocationError> {
    if !has_param(operator, name) {
        return Ok(());
    }
    let algorithm = algorithm(operator);
    let (sides, _) = outer_sides(algorithm);
    // A tuple of default values replaces the missing partner of the other side.
    if !sides.contains(&(1 - port)) {
        let message = format!("a Join that is {algorithm} has no use for `{name}`");
        let other = ["rightOuter", "leftOuter"][port];
        let help = format!("leave it out, or write `algorithm : {other}` or `outer`");
        return report_misuse(InvocationPart::Param(name), message, &help);
    }
    if operator.outputs.len() > 1 {
        let help = "unmatched tuples leave on the further output ports, not with default values";
        let message = format!("`{name}` is for a Join with one output port");
        return report_misuse(InvocationPart::Param(name), message, help);
    }
    Ok(())
}
