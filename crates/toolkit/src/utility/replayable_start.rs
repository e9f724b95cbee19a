//! ReplayableStart: the start of a consistent region after a source that cannot replay its tuples.

use eval::Fault;
use graph::PunctuationOutputMode;
use graph::{InPortModel, OperatorModel, OperatorNode, OutPortModel, PortIndex};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "ReplayableStart",
    doc: "Begins a consistent region behind a source that cannot send its tuples again. Such \
          regions do nothing in this engine, so there is nothing to keep: tuples and window markers \
          are passed on.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    allows_logic: false,
    starts_consistent_region: true,
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    lower::after_logic(operator, |port, body| {
        body.stmts
            .push(lower::submit(PortIndex(0), lower::input(operator, port)));
        Ok(())
    })
}
