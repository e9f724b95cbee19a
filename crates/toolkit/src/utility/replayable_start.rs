//! ReplayableStart: where a consistent region begins behind a source that cannot go back.

use graph::PunctuationOut;
use graph::{Fault, InPortModel, Operator, OperatorModel, OutPortModel};
use runtime::{Logic, Make, OperatorEntry};

use crate::lower;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "ReplayableStart",
    doc: "Begins a consistent region behind a source that cannot send its tuples again. Such \
          regions do nothing in this engine, so there is nothing to keep: tuples and window markers \
          are passed on.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Preserving(0),
        same_schema_as: Some(0),
        ..OutPortModel::DEFAULT
    }],
    allows_logic: false,
    starts_consistent_region: true,
    ..OperatorModel::DEFAULT
};

fn lower(operator: &Operator) -> Result<Logic, Fault> {
    lower::after_logic(operator, |port, body| {
        body.stmts
            .push(lower::submit(0, lower::input(operator, port)));
        Ok(())
    })
}
