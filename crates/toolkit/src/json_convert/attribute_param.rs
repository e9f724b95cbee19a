//! Attributes that parameters of the JSON operators name, as attributes or as texts.

use eval::{Fault, FaultKind};
use graph::{ExprKind, InvocationError, InvocationPart, OperatorNode, PortIndex};
use runtime::BuildContext;
use tuple::text::json::JsonNames;
use tuple::{TupleType, Type, Value};

use super::JSON_STRING;
use crate::lower;

/// The index of the input attribute that a parameter of mode attribute gives.
pub fn given_attribute(operator: &OperatorNode, param: &str) -> Option<usize> {
    match lower::param(operator, param)?.kind {
        ExprKind::Attribute { index, .. } => Some(index as usize),
        _ => None,
    }
}

/// The index of the attribute whose name is the value of a parameter, if it is given.
///
/// # Errors
/// If the schema has no such attribute.
pub fn named_attribute(
    operator: &OperatorNode,
    param: &'static str,
    schema: &TupleType,
) -> Result<Option<usize>, InvocationError> {
    let Some(Value::RString(name)) = lower::constant_param(operator, param) else {
        return Ok(None);
    };
    let name = name.to_string_lossy();
    match schema.find(&name) {
        Some((index, _)) => Ok(Some(index)),
        None => Err(InvocationError {
            part: InvocationPart::Param(param),
            message: format!("there is no attribute `{name}`"),
            help: attributes_help(schema),
        }),
    }
}

/// The attribute for JSON text that no parameter names: the only attribute, or `jsonString`.
pub fn default_text_attribute(schema: &TupleType) -> Option<usize> {
    match &schema.attributes[..] {
        [_] => Some(0),
        _ => schema.find(JSON_STRING).map(|(index, _)| index),
    }
}

/// Checks that an attribute holds text.
pub fn verify_text(
    schema: &TupleType,
    index: usize,
    part: InvocationPart,
) -> Result<(), InvocationError> {
    let attribute = &schema.attributes[index];
    if attribute.ty.is_string() {
        return Ok(());
    }
    Err(InvocationError {
        part,
        message: format!(
            "`{}` of type {} holds no JSON text",
            attribute.name, attribute.ty
        ),
        help: "JSON text is an rstring or a ustring".to_owned(),
    })
}

/// Checks that an attribute can be the root of a document.
pub fn verify_root(
    schema: &TupleType,
    index: usize,
    part: InvocationPart,
) -> Result<(), InvocationError> {
    let attribute = &schema.attributes[index];
    match attribute.ty {
        Type::Tuple(_) | Type::List(..) | Type::Set(..) | Type::Map(..) => Ok(()),
        _ => Err(InvocationError {
            part,
            message: format!(
                "`{}` of type {} is no root of JSON",
                attribute.name, attribute.ty
            ),
            help: "the root is a tuple, a map, a list or a set".to_owned(),
        }),
    }
}

/// The finding that no attribute of a port is for JSON text.
pub fn no_text_attribute(schema: &TupleType, part: InvocationPart, param: &str) -> InvocationError {
    InvocationError {
        part,
        message: format!("none of the attributes is named `{JSON_STRING}`"),
        help: format!(
            "name the one with the JSON text by `{param}`; {}",
            attributes_help(schema)
        ),
    }
}

fn attributes_help(schema: &TupleType) -> String {
    let names: Vec<_> = schema
        .attributes
        .iter()
        .map(|a| format!("`{}`", a.name))
        .collect();
    match &names[..] {
        [] => "the tuple has no attributes".to_owned(),
        names => format!("the attributes are {}", names.join(", ")),
    }
}

/// The names of attributes in JSON.
pub fn names(build: &mut BuildContext<'_>) -> Result<JsonNames, Fault> {
    Ok(match build.value("ignorePrefix")? {
        Some(Value::RString(prefix)) => JsonNames::without_prefix(prefix.to_string_lossy()),
        _ => JsonNames::default(),
    })
}

/// The fault that an invocation gives which the compiler has not checked.
pub fn refused(error: InvocationError) -> Fault {
    Fault::new(FaultKind::Limit, error.message)
}

/// The first output port.
pub const OUTPUT: PortIndex = PortIndex(0);
