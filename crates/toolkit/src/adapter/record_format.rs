//! The record format that an adapter's parameters describe: format, separator, attributes without a
//! field.

use eval::{Fault, FaultKind};
use graph::{ExprKind, OperatorNode, ParamValue};
use runtime::BuildContext;
use tuple::text::{ReadOptions, RecordFormat, RecordReader, RecordWriter, WriteOptions};
use tuple::{TupleBuf, Value};

/// The format of the parameter of that name; csv by default.
pub fn format(build: &BuildContext<'_>) -> RecordFormat {
    match build.literal("format") {
        Some("txt") => RecordFormat::Txt,
        Some("bin") => RecordFormat::Bin,
        Some("block") => RecordFormat::Block,
        Some("line") => RecordFormat::Line,
        Some("json") => RecordFormat::Json,
        _ => RecordFormat::Csv,
    }
}

/// Writes the tuples of input port 0.
pub fn writer(build: &mut BuildContext<'_>) -> Result<Box<dyn RecordWriter>, Fault> {
    let options = WriteOptions {
        attributes: Some(written_attributes(build.operator)),
        separator: separator(build)?,
        quote_strings: build.flag("quoteStrings", true)?,
        eol: eol(build)?,
        punctuations: build.flag("writePunctuations", false)?,
    };
    let layout = build.inputs[0].clone();
    tuple::text::new_writer(format(build), layout, options).map_err(param_fault)
}

/// Reads tuples of output port 0: the attributes to which nothing is assigned.
pub fn reader(build: &mut BuildContext<'_>) -> Result<Box<dyn RecordReader>, Fault> {
    let options = ReadOptions {
        attributes: Some(read_attributes(build.operator)),
        defaults: default_tuple(build)?,
        has_delay: build.flag("hasDelayField", false)?,
        separator: source_separator(build)?,
        ignore_extra: build.flag("ignoreExtraCSVValues", false)?,
        header_lines: header_lines(build)?,
        reports_faults: build.literal("parsing") != Some("fast"),
        eol: eol(build)?,
        block_bytes: build.integer("blockSize")?.map(|bytes| bytes as usize),
        punctuations: build.flag("readPunctuations", false)?,
        ..ReadOptions::default()
    };
    if options.block_bytes == Some(0) {
        return Err(param_fault("blockSize is a number of bytes from 1"));
    }
    let layout = build.outputs[0].clone();
    tuple::text::new_reader(format(build), layout, options).map_err(param_fault)
}

/// The attributes of output port 0 that records hold.
pub fn read_attributes(operator: &OperatorNode) -> Vec<usize> {
    let port = &operator.outputs[0];
    let assign = &port.assign;
    let all = 0..port.schema.attributes.len();
    all.filter(|&at| assign.get(at).is_none_or(Option::is_none))
        .collect()
}

/// The attributes of input port 0 that `suppress` does not name.
pub fn written_attributes(operator: &OperatorNode) -> Vec<usize> {
    let named = match operator.param("suppress").map(|param| &param.value) {
        Some(ParamValue::Exprs(named)) => &named[..],
        _ => &[],
    };
    let suppressed = |at: usize| {
        named.iter().any(|expr| match expr.kind {
            ExprKind::Attribute { index, .. } => index as usize == at,
            _ => false,
        })
    };
    (0..operator.inputs[0].schema.attributes.len())
        .filter(|&at| !suppressed(at))
        .collect()
}

fn default_tuple(build: &mut BuildContext<'_>) -> Result<Option<TupleBuf>, Fault> {
    let Some(value) = build.value("defaultTuple")? else {
        return Ok(None);
    };
    let mut tuple = TupleBuf::default();
    let layout = build.outputs[0].clone();
    tuple.begin(&layout);
    tuple.set_all(&layout, &value);
    Ok(Some(tuple))
}

fn header_lines(build: &mut BuildContext<'_>) -> Result<u32, Fault> {
    Ok(match build.value("hasHeaderLine")? {
        Some(Value::Boolean(has)) => u32::from(has),
        Some(_) => build
            .integer("hasHeaderLine")?
            .unwrap_or(0)
            .clamp(0, u32::MAX.into()) as u32,
        None => 0,
    })
}

/// Blanks around fields are skipped, so that one cannot separate them.
fn source_separator(build: &mut BuildContext<'_>) -> Result<u8, Fault> {
    match separator(build)? {
        b'\t' | b' ' => Err(param_fault(
            "separator is neither a tab nor a space where csv is read",
        )),
        byte => Ok(byte),
    }
}

/// The byte between the fields of a line.
///
/// # Errors
/// If `separator` is not one byte.
pub fn separator(build: &mut BuildContext<'_>) -> Result<u8, Fault> {
    match build.value("separator")? {
        None => Ok(b','),
        Some(Value::RString(text)) => match text.0[..] {
            [byte] => Ok(byte),
            _ => Err(param_fault("separator is one byte")),
        },
        Some(Value::Uint8(byte)) => Ok(byte),
        Some(Value::Int8(byte)) => Ok(byte as u8),
        Some(_) => Err(param_fault(
            "separator is an rstring of one byte, an int8 or a uint8",
        )),
    }
}

/// The bytes that end a line: the parameter `eolMarker`, or a line feed.
///
/// # Errors
/// If `eolMarker` is not one or two bytes.
pub fn eol(build: &mut BuildContext<'_>) -> Result<Vec<u8>, Fault> {
    match build.value("eolMarker")? {
        Some(Value::RString(text)) if (1..=2).contains(&text.0.len()) => Ok(text.0),
        Some(_) => Err(param_fault("eolMarker is one or two characters")),
        None => Ok(b"\n".to_vec()),
    }
}

fn param_fault(message: impl ToString) -> Fault {
    Fault::new(FaultKind::Limit, message.to_string())
}
