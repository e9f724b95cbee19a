//! DeDuplicate: drops tuples whose key came recently.

mod lowered;
mod operator;

use graph::PunctuationOutputMode;
use graph::{
    AssignmentMode, Cardinality, InvocationError, InvocationPart, OperatorNode as Invocation,
    PortIndex,
};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{OperatorConstructor, OperatorEntry};
use tuple::Type;

use crate::verify_params::{exprs, has_param, report_misuse, verify_seconds};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Choose(make),
};

fn make(operator: &Invocation) -> OperatorConstructor {
    if lowered::can_lower(operator) {
        OperatorConstructor::Lower(lowered::lower)
    } else {
        OperatorConstructor::Build(operator::build)
    }
}

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "DeDuplicate",
    doc: "Passes a tuple unless one with the same key came a short while ago, in time, in tuples \
          or in the value of an attribute. Duplicates are dropped, or sent to the second output \
          port.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OutPortModel {
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            assign: AssignmentMode::Expression,
            auto_assignment: true,
            complete_assignment: true,
            ..OutPortModel::DEFAULT
        },
        OutPortModel {
            count: Cardinality::Optional,
            punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
            same_schema_as: Some(PortIndex(0)),
            ..OutPortModel::DEFAULT
        },
    ],
    params: PARAMS,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const PARAMS: &[ParamModel] = &[
    ParamModel {
        name: "timeOut",
        ty: "float64",
        doc: "Seconds after which a key is forgotten; a time of 1 second or more is kept to within \
              10 ms. Default: 600, without count and delta.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "count",
        ty: "uint64",
        doc: "Tuples after which a key is forgotten.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "deltaAttribute",
        mode: ParamMode::Attribute,
        doc: "The attribute by whose growth a key is forgotten: a number or a timestamp.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "delta",
        doc: "By how much deltaAttribute may have grown: of its type, or seconds as a float64 for \
              a timestamp.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "key",
        mode: ParamMode::Expression,
        is_list: true,
        doc: "What makes two tuples duplicates. Default: the whole tuple.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "resetOnDuplicate",
        ty: "boolean",
        mode: ParamMode::Constant,
        doc: "Whether a duplicate counts as the last that came of its key. Default: true.",
        ..ParamModel::DEFAULT
    },
    ParamModel {
        name: "flushOnPunctuation",
        ty: "boolean",
        mode: ParamMode::Constant,
        doc: "Whether a window marker makes all keys forgotten. Default: false.",
        ..ParamModel::DEFAULT
    },
];

/// Default of `timeOut`: time in seconds after which a key is forgotten.
const DEFAULT_SECONDS: f64 = 600.0;

/// Verifies that there is one way to forget keys, and that a delta suits its attribute.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    verify_seconds(operator, &["timeOut"])?;
    let ways = ["timeOut", "count", "deltaAttribute"];
    let mut used = ways.into_iter().filter(|name| has_param(operator, name));
    if let (Some(first), Some(second)) = (used.next(), used.next()) {
        let message = format!("`{first}` and `{second}` exclude each other");
        let help = "give timeOut, or count, or deltaAttribute and delta";
        return report_misuse(InvocationPart::Param(second), message, help);
    }
    let (attribute, delta) = (exprs(operator, "deltaAttribute"), exprs(operator, "delta"));
    match (attribute, delta) {
        ([], []) => Ok(()),
        ([_, ..], []) => {
            let help = "give the growth after which a key is forgotten";
            report_misuse(
                InvocationPart::Param("deltaAttribute"),
                "`deltaAttribute` needs `delta`",
                help,
            )
        }
        ([], [_, ..]) => {
            let help = "give the attribute that is compared";
            report_misuse(
                InvocationPart::Param("delta"),
                "`delta` needs `deltaAttribute`",
                help,
            )
        }
        ([attribute, ..], [delta, ..]) => delta_type(&attribute.ty, &delta.ty),
    }
}

fn delta_type(attribute: &Type, delta: &Type) -> Result<(), InvocationError> {
    let wanted = match attribute {
        Type::Timestamp => &Type::Float64,
        ty if ty.is_numeric() && !ty.is_complex() => ty,
        ty => {
            let message = format!("`deltaAttribute` is of type {ty}, which has no differences");
            let help = "it is a number or a timestamp";
            return report_misuse(InvocationPart::Param("deltaAttribute"), message, help);
        }
    };
    if delta == wanted {
        return Ok(());
    }
    let message = format!("`delta` over {attribute} is of type {wanted}, not {delta}");
    report_misuse(InvocationPart::Param("delta"), message, "")
}
