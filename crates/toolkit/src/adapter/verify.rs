//! What the ports of FileSource and FileSink have to look like.

use graph::{ExprKind, Misuse, Operator, Part};
use tuple::{Attribute, TupleType, Type, Value};

use super::record;
use crate::lower;
use crate::rule::wrong;

/// FileSource: names come in, or there is one file; then the format's attribute, and the report.
pub fn source(operator: &Operator) -> Result<(), Misuse> {
    match operator.inputs.first() {
        Some(names) if !is_one(&names.schema.attributes, Type::is_rstring) => {
            return wrong(
                Part::Input(0),
                "the input port of FileSource has one rstring attribute, the name of a file",
                "",
            );
        }
        None if operator.param("file").is_none() => {
            return wrong(
                Part::Head,
                "FileSource needs the parameter file, or an input port that names files",
                "",
            );
        }
        _ => {}
    }
    read(operator)?;
    match operator.outputs.get(1) {
        Some(report) if !is_report(&report.schema) => wrong(
            Part::Output(1),
            "the second output port of FileSource has an rstring and an int32 attribute, the file \
             and the number of the error",
            "",
        ),
        _ => Ok(()),
    }
}

/// Output port 0 suits the format that is read.
pub fn read(operator: &Operator) -> Result<(), Misuse> {
    one_byte(operator)?;
    if let Some(b"\t" | b" ") = text(operator, "separator") {
        let message = "blanks and tabs are skipped where csv is read, and cannot separate";
        return wrong(
            Part::Param("separator"),
            message,
            "choose another separator",
        );
    }
    let attributes = &operator.outputs[0].schema.attributes;
    let read = record::read_attributes(operator);
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

/// Input port 0 suits the format that is written.
pub fn written(operator: &Operator) -> Result<(), Misuse> {
    one_byte(operator)?;
    let written = record::written_attributes(operator);
    let attributes = &operator.inputs[0].schema.attributes;
    let written = written.iter().map(|&at| &attributes[at]);
    one_attribute(operator, written, Part::Input(0))
}

/// FileSink: the format's attribute, and the names of closed files.
pub fn sink(operator: &Operator) -> Result<(), Misuse> {
    written(operator)?;
    close_mode(operator)?;
    match operator.outputs.first() {
        Some(names) if !is_one(&names.schema.attributes, Type::is_rstring) => wrong(
            Part::Output(0),
            "the output port of FileSink has one rstring attribute, the name of a closed file",
            "",
        ),
        _ => Ok(()),
    }
}

/// A file that ends by count, size or time needs to be told when; only a file that is chosen tuple
/// by tuple may depend on tuples.
fn close_mode(operator: &Operator) -> Result<(), Misuse> {
    let mode = lower::literal(operator, "closeMode").unwrap_or("never");
    let needed = match mode {
        "count" => Some("tuplesPerFile"),
        "size" => Some("bytesPerFile"),
        "time" => Some("timePerFile"),
        _ => None,
    };
    if let Some(needed) = needed.filter(|name| operator.param(name).is_none()) {
        let message = format!("closeMode {mode} needs the parameter `{needed}`");
        return wrong(Part::Param("closeMode"), message, "");
    }
    let depends = lower::param(operator, "file").is_some_and(graph::Expr::reads_input);
    if depends && mode != "dynamic" {
        let message = "the name of the file depends on the tuple";
        let help = "with `closeMode : dynamic` each tuple goes to the file that it names";
        return wrong(Part::Param("file"), message, help);
    }
    Ok(())
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

fn is_one(attributes: &[impl std::borrow::Borrow<Attribute>], is: impl Fn(&Type) -> bool) -> bool {
    matches!(attributes, [only] if is(&only.borrow().ty))
}

fn is_report(schema: &TupleType) -> bool {
    match &*schema.attributes {
        [a, b] => {
            let is = |file: &Attribute, error: &Attribute| {
                file.ty.is_rstring() && error.ty == Type::Int32
            };
            is(a, b) || is(b, a)
        }
        _ => false,
    }
}
