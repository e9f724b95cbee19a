//! Union: merges streams of different schemas; the output has the attributes that all of them have.

use eval::Fault;
use eval::FaultKind;
use graph::PunctuationOutputMode;
use graph::{
    Cardinality, Expr, ExprKind, InvocationError, InvocationPart, OperatorNode, PortIndex, Pos,
};
use graph::{InPortModel, OperatorModel, OutPortModel};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::{Attribute, TupleType};

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Union",
    doc: "Merges streams. Each output attribute is taken from the input attribute of the same \
          name and type, which every input port must have. Window markers are dropped.",
    inputs: &[
        InPortModel {
            count: Cardinality::Exactly(2),
            ..InPortModel::DEFAULT
        },
        InPortModel::ANY,
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Free,
        ..OutPortModel::DEFAULT
    }],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Every output attribute must be in every input.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    for (at, attribute) in operator.outputs[0].schema.attributes.iter().enumerate() {
        for input in &operator.inputs {
            let found = input.schema.find(&attribute.name);
            if found.is_none_or(|(_, a)| a.ty != attribute.ty) {
                return Err(InvocationError {
                    part: InvocationPart::Attribute(PortIndex(0), at as u32),
                    message: format!(
                        "output attribute `{} {}` is not an attribute of input port `{}`",
                        attribute.ty, attribute.name, input.name
                    ),
                    help: "an output attribute of Union must be in every input port".to_owned(),
                });
            }
        }
    }
    Ok(())
}

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let schema = &operator.outputs[0].schema;
    lower::after_logic(operator, |port, body| {
        let from = &operator.inputs[port.index()].schema;
        let tuple = if from == schema {
            lower::input(operator, port)
        } else {
            let attributes = schema.attributes.iter();
            let attributes = attributes.map(|wanted| same_name(from, wanted, port, operator.pos));
            lower::tuple(attributes.collect::<Result<_, _>>()?, schema, operator.pos)
        };
        body.stmts.push(lower::submit(PortIndex(0), tuple));
        Ok(())
    })
}

/// The input attribute of an output attribute's name.
fn same_name(
    from: &TupleType,
    wanted: &Attribute,
    port: PortIndex,
    pos: Pos,
) -> Result<Expr, Fault> {
    let Some((index, _)) = from.find(&wanted.name) else {
        let message = format!("input port {port} has no attribute {}", wanted.name);
        return Err(Fault::new(FaultKind::Limit, message));
    };
    let kind = ExprKind::Attribute {
        port,
        history: 0,
        index: index as u32,
    };
    Ok(lower::expr(kind, wanted.ty.clone(), pos))
}
