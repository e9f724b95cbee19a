//! What the ports of FileSource and FileSink have to look like.

use graph::{Misuse, Operator, Part};
use tuple::{Attribute, TupleType, Type};

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

/// Input port 0 suits the format that is written.
pub fn written(operator: &Operator) -> Result<(), Misuse> {
    let written = record::written_attributes(operator);
    let attributes = &operator.inputs[0].schema.attributes;
    let written = written.iter().map(|&at| &attributes[at]);
    one_attribute(operator, written, Part::Input(0))
}

/// FileSink: the format's attribute, and the names of closed files.
pub fn sink(operator: &Operator) -> Result<(), Misuse> {
    written(operator)?;
    match operator.outputs.first() {
        Some(names) if !is_one(&names.schema.attributes, Type::is_rstring) => wrong(
            Part::Output(0),
            "the output port of FileSink has one rstring attribute, the name of a closed file",
            "",
        ),
        _ => Ok(()),
    }
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
