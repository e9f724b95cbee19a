//! Which parameters go with which formats of records.

use graph::{ExprKind, Misuse, Operator, Part};
use tuple::Value;

use crate::lower;
use crate::rule::{encoding, given, wrong};

/// A parameter and the formats that it is for.
type Rule = (&'static str, &'static [&'static str]);

/// Of what is read and written alike.
const BOTH: &[Rule] = &[
    ("separator", &["csv"]),
    ("eolMarker", &["line"]),
    ("encoding", &["csv", "txt", "line"]),
    ("hasDelayField", &["csv", "txt", "bin"]),
];

/// Of what is read.
const READ: &[Rule] = &[
    ("defaultTuple", &["csv"]),
    ("hasHeaderLine", &["csv"]),
    ("blockSize", &["block"]),
    ("readPunctuations", &["bin"]),
];

/// Of what is written.
const WRITTEN: &[Rule] = &[
    ("quoteStrings", &["csv"]),
    ("writePunctuations", &["csv", "txt", "bin"]),
];

/// The parameters of an operator that reads records suit the format.
pub fn read(operator: &Operator) -> Result<(), Misuse> {
    both(operator)?;
    suit(operator, READ)?;
    // Any line and any block is a record: there is nothing to be lenient about.
    let is_permissive = lower::literal(operator, "parsing") == Some("permissive");
    let format = format(operator);
    if is_permissive && matches!(format, "line" | "block") {
        let message = format!("every {format} is a record, and none is malformed");
        let help = "leave `parsing` out; permissive is for csv, txt and bin";
        return wrong(Part::Param("parsing"), message, help);
    }
    Ok(())
}

/// The parameters of an operator that writes records suit the format.
pub fn written(operator: &Operator) -> Result<(), Misuse> {
    both(operator)?;
    suit(operator, WRITTEN)
}

fn both(operator: &Operator) -> Result<(), Misuse> {
    suit(operator, BOTH)?;
    match lower::param(operator, "encoding") {
        Some(name) => encoding(name, Part::Param("encoding")),
        None => Ok(()),
    }
}

/// The records of an operator that does not see where its input ends: blocks have a size.
pub fn sized_blocks(operator: &Operator) -> Result<(), Misuse> {
    if format(operator) == "block" && !given(operator, "blockSize") {
        let message = "the block format needs the parameter `blockSize` here";
        let help = "blocks are cut out of what comes in; give the bytes of one";
        return wrong(Part::Param("format"), message, help);
    }
    Ok(())
}

/// The format of an operator's records.
pub fn format(operator: &Operator) -> &str {
    lower::literal(operator, "format").unwrap_or("csv")
}

fn suit(operator: &Operator, rules: &[Rule]) -> Result<(), Misuse> {
    let format = format(operator);
    let mut rules = rules.iter();
    let broken = rules.find(|(param, of)| says_something(operator, param) && !of.contains(&format));
    let Some(&(param, of)) = broken else {
        return Ok(());
    };
    let message = format!("`{param}` is for {}, and the format is {format}", list(of));
    let help = match given(operator, "format") {
        true => "leave it out, or choose another format",
        false => "leave it out, or say which format it is; the default is csv",
    };
    wrong(Part::Param(param), message, help)
}

/// Whether a parameter is given, and not a flag that is as it would be anyway.
fn says_something(operator: &Operator, param: &str) -> bool {
    let flag = lower::param(operator, param).map(|flag| &flag.kind);
    match flag {
        Some(ExprKind::Const(Value::Boolean(flag))) => *flag != (param == "quoteStrings"),
        _ => given(operator, param),
    }
}

/// `csv, txt and bin`
fn list(words: &[&str]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}
