//! ThreadedSplit: distributes the tuples of a stream to threads.

use graph::{
    Cardinality, InPortModel, OperatorModel, OutPortModel, ParamModel, PortIndex,
    PunctuationOutputMode,
};
use graph::{ExprKind, InvocationError, InvocationPart, OperatorNode, OperatorRole};
use runtime::{OperatorConstructor, OperatorEntry};
use tuple::Value;

use super::parallel_splitter::lower;
use crate::verify_params::{exprs, report_misuse};

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
    namespace: "spl.utility",
    name: "ThreadedSplit",
    doc: "Deals its tuples out to its output ports, each of which has a queue and a thread. Window \
          markers go to all.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Any,
            ..OUT
        },
    ],
    params: &[ParamModel {
        name: "bufferSize",
        ty: "uint32 | int32",
        mandatory: true,
        doc: "How many tuples a port's queue should hold, from 1. It holds more where that is \
              cheaper.",
        ..ParamModel::DEFAULT
    }],
    role: OperatorRole::Threading,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// A queue holds something.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    match exprs(operator, "bufferSize").first().map(|size| &size.kind) {
        Some(ExprKind::Const(Value::Uint32(0) | Value::Int32(..=0))) => report_misuse(
            InvocationPart::Param("bufferSize"),
            "a queue has room for one tuple at least",
            "give a number from 1",
        ),
        _ => Ok(()),
    }
}
