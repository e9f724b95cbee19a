//! What the compiler checks of a FileSink beyond its model.

use graph::{Misuse, Operator, Part};
use tuple::Type;

use crate::adapter::format_rules::format;
use crate::adapter::verify::{is_one, written};
use crate::lower;
use crate::rule::{given, holds, wrong};

/// What says when a file is full, by the close mode that needs it.
const LIMITS: &[(&str, &str)] = &[
    ("count", "tuplesPerFile"),
    ("size", "bytesPerFile"),
    ("time", "timePerFile"),
];

/// The format's attribute, when files end, and the names of closed ones.
pub fn verify(operator: &Operator) -> Result<(), Misuse> {
    written(operator)?;
    close_mode(operator)?;
    chosen(operator)?;
    regions(operator)?;
    match operator.outputs.first() {
        Some(names) if !is_one(&names.schema.attributes, Type::is_rstring) => wrong(
            Part::Output(0),
            "the output port of FileSink has one rstring attribute, the name of a closed file",
            "",
        ),
        _ => Ok(()),
    }
}

/// A file that ends by count, size or time needs to be told when, and no other does.
fn close_mode(operator: &Operator) -> Result<(), Misuse> {
    let mode = mode(operator);
    for &(of, limit) in LIMITS {
        let is_given = given(operator, limit);
        if of == mode && !is_given {
            let message = format!("closeMode {mode} needs the parameter `{limit}`");
            return wrong(Part::Param("closeMode"), message, "");
        }
        if of != mode && is_given {
            let message = format!("`{limit}` is for closeMode {of}, and the mode is {mode}");
            let help = format!("leave it out, or write `closeMode : {of}`");
            return wrong(Part::Param(limit), message, &help);
        }
    }
    Ok(())
}

fn mode(operator: &Operator) -> &str {
    lower::literal(operator, "closeMode").unwrap_or("never")
}

/// Only a file that is chosen tuple by tuple may depend on tuples.
fn chosen(operator: &Operator) -> Result<(), Misuse> {
    let depends = lower::param(operator, "file").is_some_and(graph::Expr::reads_input);
    if depends && mode(operator) != "dynamic" {
        let message = "the name of the file depends on the tuple";
        let help = "with `closeMode : dynamic` each tuple goes to the file that it names";
        return wrong(Part::Param("file"), message, help);
    }
    Ok(())
}

/// What only consistent regions give a meaning to.
fn regions(operator: &Operator) -> Result<(), Misuse> {
    let writes_calls = holds(operator, "writeStateHandlerCallbacks");
    if writes_calls && format(operator) != "csv" {
        let message = "call-backs are written into csv only";
        let help = "leave it out, or write `format : csv`";
        return wrong(Part::Param("writeStateHandlerCallbacks"), message, help);
    }
    Ok(())
}
