//! Filter: passes the tuples that meet a condition.

use eval::Fault;
use graph::{Cardinality, OperatorNode, PortIndex, PunctuationOutputMode, Stmt};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

const OUT: OutPortModel = OutPortModel {
    punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
    auto_assignment: true,
    complete_assignment: true,
    same_schema_as: Some(PortIndex(0)),
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Filter",
    doc: "Passes the tuples that meet a condition. Those that do not are dropped, or sent to the \
          second output port if there is one. Window markers are forwarded to both ports.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Optional,
            ..OUT
        },
    ],
    params: &[ParamModel {
        name: "filter",
        ty: "boolean",
        mode: ParamMode::Expression,
        doc: "The condition. Default: true.",
        ..ParamModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    lower::after_logic(operator, |port, body| {
        let pass = |to| vec![lower::submit(to, lower::input(operator, port))];
        let rejected = if operator.outputs.len() > 1 {
            pass(PortIndex(1))
        } else {
            Vec::new()
        };
        body.stmts.extend(match lower::param(operator, "filter") {
            Some(filter) => vec![Stmt::If(filter.clone(), pass(PortIndex(0)), rejected)],
            None => pass(PortIndex(0)),
        });
        Ok(())
    })
}
