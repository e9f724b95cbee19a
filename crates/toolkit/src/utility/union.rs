//! Union: merges streams of different schemas into what they have in common.

use graph::{Cardinality, FaultKind, Misuse, Operator, Part, PunctuationOut};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel};
use runtime::{Logic, Make, OperatorEntry};

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Lower(lower),
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
        InPortModel {
            count: Cardinality::Any,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOut::Free,
        ..OutPortModel::DEFAULT
    }],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Every output attribute must be in every input.
fn verify(operator: &Operator) -> Result<(), Misuse> {
    for (at, attribute) in operator.outputs[0].schema.attributes.iter().enumerate() {
        for input in &operator.inputs {
            let found = input.schema.find(&attribute.name);
            if found.is_none_or(|(_, a)| a.ty != attribute.ty) {
                return Err(Misuse {
                    part: Part::Attribute(0, at as u32),
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

fn lower(_: &graph::Operator) -> Result<Logic, Fault> {
    Err(Fault::new(FaultKind::Limit, "being built"))
}
