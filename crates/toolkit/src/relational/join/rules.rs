//! What the compiler checks of a Join beyond its model.

use graph::{Misuse, Operator, Part};
use tuple::Type;

use crate::rule::{exprs, given, wrong};

/// Keys come in pairs of equal types; default tuples are of the type of their side, and are for a
/// join with one output port.
pub fn verify(operator: &Operator) -> Result<(), Misuse> {
    keys(operator)?;
    for (name, port) in [("defaultTupleLHS", 0), ("defaultTupleRHS", 1)] {
        default_tuple(operator, name, port)?;
    }
    Ok(())
}

fn keys(operator: &Operator) -> Result<(), Misuse> {
    let (left, right) = ("equalityLHS", "equalityRHS");
    match (given(operator, left), given(operator, right)) {
        (true, false) => return alone(left, right),
        (false, true) => return alone(right, left),
        _ => {}
    }
    let (lefts, rights) = (exprs(operator, left), exprs(operator, right));
    let help = "each expression to the left is compared with the one at its place to the right";
    if lefts.len() != rights.len() {
        let (l, r) = (lefts.len(), rights.len());
        let message = format!("`{left}` has {l} values, and `{right}` has {r}");
        return wrong(Part::Param(right), message, help);
    }
    match lefts.iter().zip(rights).find(|(l, r)| l.ty != r.ty) {
        Some((l, r)) => {
            let message = format!(
                "`{left}` and `{right}` differ in type: {} and {}",
                l.ty, r.ty
            );
            wrong(Part::Param(right), message, help)
        }
        None => Ok(()),
    }
}

fn alone(this: &'static str, other: &str) -> Result<(), Misuse> {
    let message = format!("`{this}` needs `{other}`");
    wrong(Part::Param(this), message, "give both, or neither")
}

fn default_tuple(operator: &Operator, name: &'static str, port: usize) -> Result<(), Misuse> {
    let Some(value) = exprs(operator, name).first() else {
        return Ok(());
    };
    let wanted = Type::Tuple(operator.inputs[port].schema.clone());
    if value.ty != wanted {
        let message = format!("`{name}` is of type {wanted}, not {}", value.ty);
        return wrong(
            Part::Param(name),
            message,
            "it stands for a tuple of that input port",
        );
    }
    if operator.outputs.len() > 1 {
        let help = "unmatched tuples leave on the further output ports, not with default values";
        let message = format!("`{name}` is for a Join with one output port");
        return wrong(Part::Param(name), message, help);
    }
    Ok(())
}
