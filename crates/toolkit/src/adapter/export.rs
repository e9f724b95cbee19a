//! Export: offers a stream to Import operators.
//!
//! The compiler joins what a program exports with what it imports itself; other jobs see nothing.

use eval::Fault;
use graph::{
    ExprKind, InPortModel, InvocationError, OperatorModel, OperatorNode, ParamMode, ParamModel,
};
use graph::{InvocationPart, OperatorRole};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::Type;

use crate::lower;
use crate::verify_params::{exprs, has_param, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.adapter",
    name: "Export",
    doc: "Offers its stream to every Import of the same program that asks for its id, or for \
          properties like its own.",
    inputs: &[InPortModel::DEFAULT],
    params: &[
        ParamModel {
            name: "properties",
            mode: ParamMode::Constant,
            doc: "A tuple of integers, floats, rstrings, and lists of them, that describes the \
                  stream.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "streamId",
            ty: "rstring",
            mode: ParamMode::Constant,
            doc: "The name by which the stream is imported.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "congestionPolicy",
            ty: "CongestionPolicyType",
            mode: ParamMode::Literal,
            doc: "What happens to an importer that is too slow; within a program all wait.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "allowFilter",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether an Import may filter the stream. Default: true.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("CongestionPolicyType", &["dropConnection", "wait"])],
    allows_logic: false,
    role: OperatorRole::Boundary,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Either an id or properties; those of types that subscriptions know.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    if has_param(operator, "streamId") && has_param(operator, "properties") {
        let help = "importers ask for an id, or for properties";
        return report_misuse(
            InvocationPart::Param("properties"),
            "`streamId` and `properties` exclude each other",
            help,
        );
    }
    let Some(properties) = exprs(operator, "properties").first() else {
        return Ok(());
    };
    let help = "write `properties : { name = \"x\", level = 3l };` for instance";
    let (Type::Tuple(ty), ExprKind::Const(_)) = (&properties.ty, &properties.kind) else {
        let message = format!("`properties` is a tuple, not {}", properties.ty);
        return report_misuse(InvocationPart::Param("properties"), message, help);
    };
    match ty
        .attributes
        .iter()
        .find(|attribute| !is_property(&attribute.ty))
    {
        Some(attribute) => {
            let (name, ty) = (&attribute.name, &attribute.ty);
            let message = format!("property `{name}` is {ty}");
            let help = "properties are integers, floats, rstrings, and lists of them";
            report_misuse(InvocationPart::Param("properties"), message, help)
        }
        None => Ok(()),
    }
}

fn is_property(ty: &Type) -> bool {
    match ty {
        Type::List(element, _) => !element.is_list() && is_property(element),
        ty => ty.is_integral() || ty.is_float() || ty.is_rstring(),
    }
}

/// The operator drops its tuples: the compiler connects importers to the operator before it.
fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    lower::after_logic(operator, |_, _| Ok(()))
}
