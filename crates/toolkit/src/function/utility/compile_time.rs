//! Compile-time and submission-time values.
//!
//! The compiler replaces these calls by constants; the prototypes are here so that it can resolve
//! them like all others. An implementation is called only if that did not happen.

use eval::{Fault, FaultKind, NativeCall, NativeFn};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::utility;

const SUBMISSION: &str = "A value that is given when the program is started, `name=value`. The \
    arguments must be constants; without a default the value must be given.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    utility(
        "rstring getCompileTimeValue(rstring name)",
        "A value that was given to the compiler. The name must be a constant, and the value given.",
        unknown,
    ),
    utility(
        "rstring getCompileTimeValue(rstring name, rstring defaultValue)",
        "A value that was given to the compiler, or the default value. Both arguments must be \
         constants.",
        unknown,
    ),
    utility(
        "list<rstring> getCompileTimeListValue(rstring name)",
        "A list, its elements separated by commas, that was given to the compiler.",
        unknown,
    ),
    utility(
        "rstring getThisFileName()",
        "The name of the source file of the call.",
        unknown,
    ),
    utility(
        "rstring getThisFilePath()",
        "The absolute path of the source file of the call.",
        unknown,
    ),
    utility(
        "rstring getThisFileDir()",
        "The absolute path of the directory of the source file of the call.",
        unknown,
    ),
    utility(
        "rstring getThisToolkitDir()",
        "The absolute path of the toolkit that the source file of the call belongs to.",
        |c| property(c, "toolkitDir"),
    ),
    utility(
        "int32 getThisLine()",
        "The line of the call in its source file.",
        |c| Ok(tuple::Value::Int32(c.pos.line as i32)),
    ),
    utility(
        "rstring getApplicationDir()",
        "The absolute path of the application directory: the folder of the main file, or above the \
         folders of its namespace.",
        |c| property(c, "applicationDir"),
    ),
    utility(
        "rstring getThisCompositeInstanceName()",
        "The full name of the composite instance that the call is in.",
        unknown,
    ),
    utility(
        "rstring getMainCompositeName()",
        "The full name of the main composite.",
        |c| property(c, "mainCompositeName"),
    ),
    utility(
        "rstring getSubmissionTimeValue(rstring name)",
        SUBMISSION,
        unknown,
    ),
    utility(
        "rstring getSubmissionTimeValue(rstring name, rstring default)",
        SUBMISSION,
        unknown,
    ),
    utility(
        "list<rstring> getSubmissionTimeListValue(rstring name)",
        SUBMISSION,
        unknown,
    ),
    utility(
        "list<rstring> getSubmissionTimeListValue(rstring name, list<rstring> default)",
        SUBMISSION,
        unknown,
    ),
    utility(
        "<tuple T> int32 inputPort(T inputStream)",
        "The index of the input port that a stream comes in by.",
        unknown,
    ),
    utility(
        "<tuple T> int32 outputPort(T outputStream)",
        "The index of the output port that produces a stream.",
        unknown,
    ),
    utility(
        "rstring getThisOperatorName()",
        "The full name of the running operator.",
        |c| c.bounded_rstring(c.services.operator_name()),
    ),
    utility(
        "rstring getThisOperatorLogicalName()",
        "The full name of the operator without the numbers of parallel channels.",
        |c| {
            let logical = c.services.property("logicalName");
            c.bounded_rstring(logical.unwrap_or_else(|| c.services.operator_name().to_string()))
        },
    ),
];

fn unknown(_: &mut NativeCall<'_>) -> NativeResult {
    Err(only_the_compiler())
}

fn property(c: &mut NativeCall<'_>, name: &str) -> NativeResult {
    let value = c.services.property(name).ok_or_else(only_the_compiler)?;
    c.bounded_rstring(value)
}

fn only_the_compiler() -> Fault {
    Fault::new(FaultKind::Limit, "the value is known only to the compiler")
}
