//! What operators that read or write records have to say, whichever they are.

use graph::{ExprKind, Misuse, Operator, Part};
use tuple::{Attribute, Type, Value};

use super::{format_rules, record};
use crate::lower;
use crate::rule::wrong;

/// Output port 0 suits the format that is read.
pub fn read(operator: &Operator) -> Result<(), Misuse> {
    format_rules::read(operator)?;
    one_byte(operator)?;
    if let Some(b'\t' | b' ') = separator(operator) {
        let message = "blanks and tabs are skipped where csv is read, and cannot separate";
        return wrong(
            Part::Param("separator"),
            message,
            "choose another separator",
        );
    }
    let attributes = &operator.outputs[0].schema.attributes;
    let read = record::read_attributes(operator);
    if read.is_empty() {
        let name = &operator.outputs[0].name;
        let message = format!("every attribute of `{name}` is assigned: nothing is left to read");
        let help = "leave an attribute unassigned for each field of a record";
        return wrong(Part::Output(0), message, help);
    }
    let read = read.iter().map(|&at| &attributes[at]);
    one_attribute(operator, read, Part::Output(0))?;
    default_tuple(operator)
}

/// `defaultTuple` is of the output type.
fn default_tuple(operator: &Operator) -> Result<(), Misuse> {
    let port = &operator.outputs[0];
    match lower::param(operator, "defaultTuple").map(|tuple| &tuple.ty) {
        None => Ok(()),
        Some(Type::Tuple(ty)) if **ty == *port.schema => Ok(()),
        Some(other) => {
            let name = &port.name;
            let message = format!("defaultTuple is {other}, and not of the type of `{name}`");
            let help = format!("its type is {}", Type::Tuple(port.schema.clone()));
            wrong(Part::Param("defaultTuple"), message, &help)
        }
    }
}

/// Separators and line ends that are known are short enough.
fn one_byte(operator: &Operator) -> Result<(), Misuse> {
    if let Some(separator) = text(operator, "separator")
        && separator.len() != 1
    {
        let message = format!("a separator is one byte, not {}", separator.len());
        return wrong(Part::Param("separator"), message, "the default is `\",\"`");
    }
    match text(operator, "eolMarker") {
        Some(marker) if !(1..=2).contains(&marker.len()) => {
            let message = format!(
                "an eolMarker is one or two characters, not {}",
                marker.len()
            );
            wrong(
                Part::Param("eolMarker"),
                message,
                "the default is `\"\\n\"`",
            )
        }
        _ => Ok(()),
    }
}

/// The constant text of a parameter.
fn text<'o>(operator: &'o Operator, param: &str) -> Option<&'o [u8]> {
    match &lower::param(operator, param)?.kind {
        ExprKind::Const(Value::RString(text)) => Some(text.as_bytes()),
        _ => None,
    }
}

/// The byte that separates fields, if it is known.
fn separator(operator: &Operator) -> Option<u8> {
    match &lower::param(operator, "separator")?.kind {
        ExprKind::Const(Value::RString(text)) => text.as_bytes().first().copied(),
        ExprKind::Const(Value::Int8(byte)) => Some(*byte as u8),
        ExprKind::Const(Value::Uint8(byte)) => Some(*byte),
        _ => None,
    }
}

/// Input port 0 suits the format that is written.
pub fn written(operator: &Operator) -> Result<(), Misuse> {
    format_rules::written(operator)?;
    one_byte(operator)?;
    let written = record::written_attributes(operator);
    let attributes = &operator.inputs[0].schema.attributes;
    let written = written.iter().map(|&at| &attributes[at]);
    one_attribute(operator, written, Part::Input(0))
}

/// Lines and blocks are records of one attribute.
fn one_attribute<'a>(
    operator: &Operator,
    attributes: impl Iterator<Item = &'a Attribute>,
    part: Part,
) -> Result<(), Misuse> {
    let attributes: Vec<_> = attributes.collect();
    match lower::literal(operator, "format") {
        Some("line") if !is_one(&attributes, Type::is_rstring) => {
            wrong(part, "the line format has one attribute, an rstring", "")
        }
        Some("block") if !is_one(&attributes, |ty| *ty == Type::Blob) => {
            wrong(part, "the block format has one attribute, a blob", "")
        }
        _ => Ok(()),
    }
}

/// Whether there is one attribute, of such a type.
pub fn is_one(
    attributes: &[impl std::borrow::Borrow<Attribute>],
    is: impl Fn(&Type) -> bool,
) -> bool {
    matches!(attributes, [only] if is(&only.borrow().ty))
}
