//! Checks of all operators that read or write records, when compiling.

use graph::{ExprKind, InvocationError, InvocationPart, OperatorNode, PortIndex};
use tuple::{Attribute, Type, Value};

use super::{record_format, verify_format};
use crate::lower;
use crate::verify_params::report_misuse;

/// Output port 0 suits the format that is read.
pub fn verify_reader(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_format::verify_reader(operator)?;
    verify_separators(operator)?;
    if let Some(b'\t' | b' ') = separator(operator) {
        let message = "blanks and tabs are skipped where csv is read, and cannot separate";
        return report_misuse(
            InvocationPart::Param("separator"),
            message,
            "choose another separator",
        );
    }
    let attributes = &operator.outputs[0].schema.attributes;
    let read = record_format::read_attributes(operator);
    if read.is_empty() {
        let name = &operator.outputs[0].name;
        let message = format!("every attribute of `{name}` is assigned: nothing is left to read");
        let help = "leave an attribute unassigned for each field of a record";
        return report_misuse(InvocationPart::Output(PortIndex(0)), message, help);
    }
    let read = read.iter().map(|&at| &attributes[at]);
    verify_one_attribute(operator, read, InvocationPart::Output(PortIndex(0)))
}

/// Separators and line ends that are known are short enough.
fn verify_separators(operator: &OperatorNode) -> Result<(), InvocationError> {
    if let Some(separator) = text(operator, "separator")
        && separator.len() != 1
    {
        let message = format!("a separator is one byte, not {}", separator.len());
        return report_misuse(
            InvocationPart::Param("separator"),
            message,
            "the default is `\",\"`",
        );
    }
    match text(operator, "eolMarker") {
        Some(marker) if !(1..=2).contains(&marker.len()) => {
            let message = format!(
                "an eolMarker is one or two characters, not {}",
                marker.len()
            );
            report_misuse(
                InvocationPart::Param("eolMarker"),
                message,
                "the default is `\"\\n\"`",
            )
        }
        _ => Ok(()),
    }
}

/// The constant text of a parameter.
fn text<'o>(operator: &'o OperatorNode, param: &str) -> Option<&'o [u8]> {
    match &lower::param(operator, param)?.kind {
        ExprKind::Const(Value::RString(text)) => Some(text.as_bytes()),
        _ => None,
    }
}

/// The byte that separates fields, if it is known.
fn separator(operator: &OperatorNode) -> Option<u8> {
    match &lower::param(operator, "separator")?.kind {
        ExprKind::Const(Value::RString(text)) => text.as_bytes().first().copied(),
        ExprKind::Const(Value::Int8(byte)) => Some(*byte as u8),
        ExprKind::Const(Value::Uint8(byte)) => Some(*byte),
        _ => None,
    }
}

/// Input port 0 suits the format that is written.
pub fn verify_writer(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_format::verify_writer(operator)?;
    verify_separators(operator)?;
    let written = record_format::written_attributes(operator);
    let attributes = &operator.inputs[0].schema.attributes;
    let written = written.iter().map(|&at| &attributes[at]);
    verify_one_attribute(operator, written, InvocationPart::Input(PortIndex(0)))
}

/// Lines and blocks are records of one attribute.
fn verify_one_attribute<'a>(
    operator: &OperatorNode,
    attributes: impl Iterator<Item = &'a Attribute>,
    part: InvocationPart,
) -> Result<(), InvocationError> {
    let attributes: Vec<_> = attributes.collect();
    match lower::literal(operator, "format") {
        Some("line") if !is_single_attribute(&attributes, Type::is_rstring) => {
            report_misuse(part, "the line format has one attribute, an rstring", "")
        }
        Some("block") if !is_single_attribute(&attributes, |ty| *ty == Type::Blob) => {
            report_misuse(part, "the block format has one attribute, a blob", "")
        }
        _ => Ok(()),
    }
}

/// Whether there is one attribute, of such a type.
pub fn is_single_attribute(
    attributes: &[impl std::borrow::Borrow<Attribute>],
    is: impl Fn(&Type) -> bool,
) -> bool {
    matches!(attributes, [only] if is(&only.borrow().ty))
}
