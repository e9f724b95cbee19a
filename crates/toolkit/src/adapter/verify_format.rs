//! Checks of record formats when compiling: the parameters that each format allows.

use graph::{ExprKind, InvocationError, InvocationPart, OperatorNode};
use tuple::Value;

use crate::lower;
use crate::verify_params::{has_param, report_misuse, verify_above_zero, verify_encoding};

/// A parameter and the formats that it is for.
type FormatRule = (&'static str, &'static [&'static str]);

/// Verifies parameters of both readers and writers.
const COMMON_PARAMS: &[FormatRule] = &[
    ("separator", &["csv"]),
    ("eolMarker", &["line"]),
    ("encoding", &["csv", "txt", "line", "json"]),
    ("hasDelayField", &["csv", "txt", "bin"]),
];

/// Verifies parameters of readers.
const READER_PARAMS: &[FormatRule] = &[
    ("defaultTuple", &["csv"]),
    ("hasHeaderLine", &["csv"]),
    ("blockSize", &["block"]),
    ("readPunctuations", &["bin"]),
];

/// Verifies parameters of writers.
const WRITER_PARAMS: &[FormatRule] = &[
    ("quoteStrings", &["csv"]),
    ("writePunctuations", &["csv", "txt", "bin"]),
];

/// The parameters of an operator that reads records suit the format.
pub fn verify_reader(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_common(operator)?;
    verify_params(operator, READER_PARAMS)?;
    verify_above_zero(operator, &["blockSize"])?;
    // Every line and every block is a record, so none is invalid.
    let is_permissive = lower::literal(operator, "parsing") == Some("permissive");
    let format = format(operator);
    if is_permissive && matches!(format, "line" | "block") {
        let message = format!("every {format} is a record, and none is malformed");
        let help = "leave `parsing` out; permissive is for csv, txt, bin and json";
        return report_misuse(InvocationPart::Param("parsing"), message, help);
    }
    Ok(())
}

/// The parameters of an operator that writes records suit the format.
pub fn verify_writer(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_common(operator)?;
    verify_params(operator, WRITER_PARAMS)
}

fn verify_common(operator: &OperatorNode) -> Result<(), InvocationError> {
    verify_params(operator, COMMON_PARAMS)?;
    match lower::param(operator, "encoding") {
        Some(name) => verify_encoding(name, InvocationPart::Param("encoding")),
        None => Ok(()),
    }
}

/// The records of an operator that does not see where its input ends: blocks have a size.
pub fn verify_block_size(operator: &OperatorNode) -> Result<(), InvocationError> {
    if format(operator) == "block" && !has_param(operator, "blockSize") {
        let message = "the block format needs the parameter `blockSize` here";
        let help = "blocks are cut out of what comes in; give the bytes of one";
        return report_misuse(InvocationPart::Param("format"), message, help);
    }
    Ok(())
}

/// The format of an operator's records.
pub fn format(operator: &OperatorNode) -> &str {
    lower::literal(operator, "format").unwrap_or("csv")
}

fn verify_params(operator: &OperatorNode, rules: &[FormatRule]) -> Result<(), InvocationError> {
    let format = format(operator);
    let mut rules = rules.iter();
    let broken = rules.find(|(param, of)| is_effective(operator, param) && !of.contains(&format));
    let Some(&(param, of)) = broken else {
        return Ok(());
    };
    let message = format!(
        "`{param}` is for {}, and the format is {format}",
        join_words(of)
    );
    let help = match has_param(operator, "format") {
        true => "leave it out, or choose another format",
        false => "leave it out, or say which format it is; the default is csv",
    };
    report_misuse(InvocationPart::Param(param), message, help)
}

/// Whether a parameter is given, and not a flag that is as it would be anyway.
fn is_effective(operator: &OperatorNode, param: &str) -> bool {
    let flag = lower::param(operator, param).map(|flag| &flag.kind);
    match flag {
        Some(ExprKind::Const(Value::Boolean(flag))) => *flag != (param == "quoteStrings"),
        _ => has_param(operator, param),
    }
}

/// `csv, txt and bin`
fn join_words(words: &[&str]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}
