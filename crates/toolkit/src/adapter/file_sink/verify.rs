//! Checks of a FileSink when compiling, beyond its model.

use graph::{InvocationError, InvocationPart, OperatorNode, PortIndex};
use tuple::Type;

use crate::adapter::verify_format::format;
use crate::adapter::verify_records::{is_single_attribute, verify_writer};
use crate::lower;
use crate::verify_params::{has_param, is_true, report_misuse, verify_above_zero};

/// The parameter that says when a file is full, by the close mode that needs it.
const LIMITS: [(&str, &str); 3] = [
    ("count", "tuplesPerFile"),
    ("size", "bytesPerFile"),
    ("time", "timePerFile"),
];

/// The format's attribute, when files end, and the names of closed ones.
pub fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_writer(operator)?;
    close_mode(operator)?;
    verify_file_name(operator)?;
    verify_consistent_regions(operator)?;
    match operator.outputs.first() {
        Some(names) if !is_single_attribute(&names.schema.attributes, Type::is_rstring) => {
            report_misuse(
                InvocationPart::Output(PortIndex(0)),
                "the output port of FileSink has one rstring attribute, the name of a closed file",
                "",
            )
        }
        _ => Ok(()),
    }
}

/// Verifies that the limit of the close mode is given, and no other limit.
fn close_mode(operator: &OperatorNode) -> Result<(), InvocationError> {
    let mode = mode(operator);
    verify_above_zero(operator, &LIMITS.map(|(_, limit)| limit))?;
    for (of, limit) in LIMITS {
        let is_given = has_param(operator, limit);
        if of == mode && !is_given {
            let message = format!("closeMode {mode} needs the parameter `{limit}`");
            return report_misuse(InvocationPart::Param("closeMode"), message, "");
        }
        if of != mode && is_given {
            let message = format!("`{limit}` is for closeMode {of}, and the mode is {mode}");
            let help = format!("leave it out, or write `closeMode : {of}`");
            return report_misuse(InvocationPart::Param(limit), message, &help);
        }
    }
    Ok(())
}

fn mode(operator: &OperatorNode) -> &str {
    lower::literal(operator, "closeMode").unwrap_or("never")
}

/// Verifies that the file name depends on tuples only with `closeMode : dynamic`.
fn verify_file_name(operator: &OperatorNode) -> Result<(), InvocationError> {
    let depends = lower::param(operator, "file").is_some_and(graph::Expr::reads_input);
    if depends && mode(operator) != "dynamic" {
        let message = "the name of the file depends on the tuple";
        let help = "with `closeMode : dynamic` each tuple goes to the file that it names";
        return report_misuse(InvocationPart::Param("file"), message, help);
    }
    Ok(())
}

/// Refuses parameters that mean something in consistent regions only.
fn verify_consistent_regions(operator: &OperatorNode) -> Result<(), InvocationError> {
    let writes_calls = is_true(operator, "writeStateHandlerCallbacks");
    if writes_calls && format(operator) != "csv" {
        let message = "call-backs are written into csv only";
        let help = "leave it out, or write `format : csv`";
        return report_misuse(
            InvocationPart::Param("writeStateHandlerCallbacks"),
            message,
            help,
        );
    }
    Ok(())
}
