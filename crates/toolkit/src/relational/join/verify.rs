//! Checks of a Join when compiling, beyond its model.

use graph::{
    InvocationError, InvocationPart, OperatorNode, OperatorTimers, Policy, PortIndex, TimeInterval,
};

use crate::lower;
use crate::verify_params::{exprs, has_param, report_misuse};

/// Windows are both panes or neither; keys come in pairs of equal types; further output ports are
/// those of the algorithm's unmatched tuples; default tuples are for a join that needs them and has
/// one output port.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_windows(operator)?;
    verify_keys(operator)?;
    verify_ports(operator)?;
    for (name, port) in [("defaultTupleLHS", 0), ("defaultTupleRHS", 1)] {
        verify_default_tuple(operator, name, port)?;
    }
    Ok(())
}

/// Panes of both inputs are the same ones, without partitions.
fn verify_windows(operator: &OperatorNode) -> Result<(), InvocationError> {
    let [left, right] = [0, 1].map(|side| pane_times(operator, side));
    let side = match (left, right) {
        (None, None) => return Ok(()),
        (Some(_), None) => 1,
        (None, Some(_)) => 0,
        (Some(left), Some(right)) if left != right => {
            let message = "the windows of a Join over panes have to be the same: their tuples are \
                           paired pane by pane";
            let help = "give both the same intervalDuration, creationPeriod, intervalOffset and \
                        discardAge";
            return report_misuse(InvocationPart::Window(PortIndex(1)), message, help);
        }
        (Some(_), Some(_)) => return verify_no_partitions(operator),
    };
    let name = &operator.inputs[side as usize].name;
    let message =
        format!("both windows of a Join are timeInterval or neither; that of `{name}` is not");
    let help = "give both the same timeInterval window, or make both sliding";
    report_misuse(InvocationPart::Window(PortIndex(side)), message, help)
}

fn verify_no_partitions(operator: &OperatorNode) -> Result<(), InvocationError> {
    let mut inputs = (0..).zip(&operator.inputs);
    let partitioned = inputs.find(|(_, input)| {
        let window = input.window.as_ref();
        window.is_some_and(|window| window.partition.is_some())
    });
    let Some((port, _)) = partitioned else {
        return Ok(());
    };
    let message = "a Join over panes has no partitions: all tuples of a pane are paired";
    let help =
        "leave `partitioned` out; `equalityLHS` and `equalityRHS` say which tuples are paired";
    report_misuse(InvocationPart::Window(PortIndex(port)), message, help)
}

/// The panes of an input's window, if it has some, without the attribute of their time.
fn pane_times(operator: &OperatorNode, side: usize) -> Option<TimeInterval> {
    match operator.inputs.get(side)?.window.as_ref()?.evict {
        Policy::Interval(interval) => Some(TimeInterval {
            attribute: 0,
            ..interval
        }),
        _ => None,
    }
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
