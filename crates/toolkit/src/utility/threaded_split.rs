//! ThreadedSplit: deals the tuples of a stream out to threads.

use graph::{Cardinality, InPortModel, OperatorModel, OutPortModel, ParamModel, PunctuationOut};
use graph::{ExprKind, Misuse, Operator, Part, Role};
use runtime::{Make, OperatorEntry};
use tuple::Value;

use super::splitter::lower;
use crate::rule::{exprs, wrong};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
};

const OUT: OutPortModel = OutPortModel {
    punctuation: PunctuationOut::Preserving(0),
    forwards: true,
    complete: true,
    same_schema_as: Some(0),
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
    role: Role::Threading,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// A queue holds something.
fn verify(operator: &Operator) -> Result<(), Misuse> {
    match exprs(operator, "bufferSize").first().map(|size| &size.kind) {
        Some(ExprKind::Const(Value::Uint32(0) | Value::Int32(..=0))) => wrong(
            Part::Param("bufferSize"),
            "a queue has room for one tuple at least",
            "give a number from 1",
        ),
        _ => Ok(()),
    }
}
