//! Functor: one output tuple on every output port for each input tuple.

use eval::Fault;
use graph::{AssignmentMode, Cardinality, Expr, OperatorNode, PortIndex, PunctuationOutputMode};
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
    assign: AssignmentMode::Expression,
    auto_assignment: true,
    complete_assignment: true,
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Functor",
    doc: "Computes one tuple on every output port for each input tuple. An attribute that is not \
          assigned is forwarded from the input attribute of the same name and type.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Any,
            ..OUT
        },
    ],
    params: &[ParamModel {
        name: "filter",
        ty: "boolean",
        mode: ParamMode::Expression,
        doc: "Tuples for which it is false are dropped. Default: true.",
        ..ParamModel::DEFAULT
    }],
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    lower::after_logic(operator, |_, body| {
        let ports = (0..).map(PortIndex).zip(&operator.outputs);
        let submit = ports
            .map(|(port, out)| lower::submit(port, lower::output(out, operator.pos, Expr::clone)));
        let filter = lower::param(operator, "filter");
        body.stmts.extend(lower::guarded(filter, submit.collect()));
        Ok(())
    })
}
