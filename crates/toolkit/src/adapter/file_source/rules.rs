//! What the compiler checks of a FileSource beyond its model.

use graph::{Misuse, Operator, Part};
use tuple::{Attribute, TupleType, Type};

use crate::adapter::format_rules;
use crate::adapter::verify::{is_one, read};
use crate::rule::{given, holds, seconds, wrong};

/// Names come in, or there is one file; what becomes of a file that was read is one thing; then the
/// format's attribute, and the report.
pub fn verify(operator: &Operator) -> Result<(), Misuse> {
    files(operator)?;
    seconds(operator, &["initDelay"])?;
    afterwards(operator)?;
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

/// Where the names of files come from.
fn files(operator: &Operator) -> Result<(), Misuse> {
    let Some(names) = operator.inputs.first() else {
        return match given(operator, "file") {
            true => Ok(()),
            false => wrong(
                Part::Head,
                "FileSource needs the parameter file, or an input port that names files",
                "",
            ),
        };
    };
    if !is_one(&names.schema.attributes, Type::is_rstring) {
        return wrong(
            Part::Input(0),
            "the input port of FileSource has one rstring attribute, the name of a file",
            "",
        );
    }
    if given(operator, "file") {
        let message = format!("the tuples of `{}` say which files are read", names.name);
        let help = "give either `file` or an input port";
        return wrong(Part::Param("file"), message, help);
    }
    if holds(operator, "hotFile") {
        let message = "a hot file is read on and on, and no file after it would be read";
        let help = "name one file by the parameter `file`, without an input port";
        return wrong(Part::Param("hotFile"), message, help);
    }
    Ok(())
}

/// A file that is read to its end is deleted, moved or left; a hot file is read on, and under
/// its name comes the next.
fn afterwards(operator: &Operator) -> Result<(), Misuse> {
    let is_hot = holds(operator, "hotFile");
    let is_deleted = holds(operator, "deleteFile");
    let is_moved = given(operator, "moveFileToDirectory");
    if is_hot && given(operator, "compression") {
        let message =
            "compressed data cannot be followed as they grow: what is there need not be whole";
        let help = "leave out `hotFile`, or decompress the data before";
        return wrong(Part::Param("compression"), message, help);
    }
    if is_hot && is_deleted {
        let message = "a hot file is left when another has its name: by then the name belongs to the next file, \
                       which would be deleted";
        return wrong(Part::Param("deleteFile"), message, EITHER);
    }
    if is_hot && is_moved {
        let message = "a hot file is left when another has its name: by then the name belongs to the next file, \
                       which would be moved";
        return wrong(Part::Param("moveFileToDirectory"), message, EITHER);
    }
    if is_deleted && is_moved {
        let message = "a file that is deleted cannot be moved";
        let help = "give either `deleteFile` or `moveFileToDirectory`";
        return wrong(Part::Param("moveFileToDirectory"), message, help);
    }
    if is_hot {
        return format_rules::sized_blocks(operator);
    }
    Ok(())
}

const EITHER: &str = "leave it out, or leave `hotFile` out";

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
