//! Checks of a FileSource when compiling, beyond its model.

use graph::{InvocationError, InvocationPart, OperatorNode, PortIndex};
use tuple::{Attribute, TupleType, Type};

use crate::adapter::verify_format;
use crate::adapter::verify_records::{is_single_attribute, verify_reader};
use crate::verify_params::{has_param, is_true, report_misuse, verify_seconds};

/// Names come in, or there is one file; what becomes of a file that was read is one thing; then the
/// format's attribute, and the report.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_file_names(operator)?;
    verify_seconds(operator, &["initDelay"])?;
    verify_disposal(operator)?;
    verify_reader(operator)?;
    match operator.outputs.get(1) {
        Some(report) if !is_report(&report.schema) => report_misuse(
            InvocationPart::Output(PortIndex(1)),
            "the second output port of FileSource has an rstring and an int32 attribute, the file \
             and the number of the error",
            "",
        ),
        _ => Ok(()),
    }
}

/// Verifies that the names of files come from the parameter `file` or from an input port.
fn verify_file_names(operator: &OperatorNode) -> Result<(), InvocationError> {
    let Some(names) = operator.inputs.first() else {
        return match has_param(operator, "file") {
            true => Ok(()),
            false => report_misuse(
                InvocationPart::Head,
                "FileSource needs the parameter file, or an input port that names files",
                "",
            ),
        };
    };
    if !is_single_attribute(&names.schema.attributes, Type::is_rstring) {
        return report_misuse(
            InvocationPart::Input(PortIndex(0)),
            "the input port of FileSource has one rstring attribute, the name of a file",
            "",
        );
    }
    if has_param(operator, "file") {
        let message = format!("the tuples of `{}` say which files are read", names.name);
        let help = "give either `file` or an input port";
        return report_misuse(InvocationPart::Param("file"), message, help);
    }
    if is_true(operator, "hotFile") {
        let message = "a hot file is read on and on, and no file after it would be read";
        let help = "name one file by the parameter `file`, without an input port";
        return report_misuse(InvocationPart::Param("hotFile"), message, help);
    }
    Ok(())
}

/// A file that is read to its end is deleted, moved or left; a hot file is read on, and under
/// its name comes the next.
fn verify_disposal(operator: &OperatorNode) -> Result<(), InvocationError> {
    let is_hot = is_true(operator, "hotFile");
    let is_deleted = is_true(operator, "deleteFile");
    let is_moved = has_param(operator, "moveFileToDirectory");
    if is_hot && has_param(operator, "compression") {
        let message =
            "compressed data cannot be followed as they grow: what is there need not be whole";
        let help = "leave out `hotFile`, or decompress the data before";
        return report_misuse(InvocationPart::Param("compression"), message, help);
    }
    if is_hot && is_deleted {
        let message = "a hot file is left when another has its name: by then the name belongs to the next file, \
                       which would be deleted";
        return report_misuse(InvocationPart::Param("deleteFile"), message, HOT_FILE_HELP);
    }
    if is_hot && is_moved {
        let message = "a hot file is left when another has its name: by then the name belongs to the next file, \
                       which would be moved";
        return report_misuse(
            InvocationPart::Param("moveFileToDirectory"),
            message,
            HOT_FILE_HELP,
        );
    }
    if is_deleted && is_moved {
        let message = "a file that is deleted cannot be moved";
        let help = "give either `deleteFile` or `moveFileToDirectory`";
        return report_misuse(InvocationPart::Param("moveFileToDirectory"), message, help);
    }
    if is_hot {
        return verify_format::verify_block_size(operator);
    }
    Ok(())
}

const HOT_FILE_HELP: &str = "leave it out, or leave `hotFile` out";

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
