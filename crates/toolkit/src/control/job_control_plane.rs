//! JobControlPlane: what a program with consistent regions has to have. It does nothing: such
//! regions do nothing either.

use graph::{Body, Fault, Operator, OperatorModel, Role};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.control",
    name: "JobControlPlane",
    doc: "Stands once in a program with consistent regions. Such regions do nothing in this \
          engine, and neither does this operator.",
    allows_logic: false,
    role: Role::ControlPlane,
    ..OperatorModel::DEFAULT
};

fn lower(_: &Operator) -> Result<Logic, Fault> {
    Ok(Logic {
        on_process: Some(Body::default()),
        ..Logic::default()
    })
}
