//! The formats of files and adapters: choosing one, and which schemas it suits.

use std::fmt;
use std::sync::Arc;

use super::record::{ReadOptions, RecordReader, RecordWriter, WriteOptions, chosen_attributes};
use super::{bin, block, csv, json, line, txt};
use crate::{Layout, Type};

/// The formats of files and adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordFormat {
    /// Values with separators, a tuple a line.
    Csv,
    /// A tuple literal a line.
    Txt,
    /// Values in network byte order.
    Bin,
    /// One blob of a fixed number of bytes.
    Block,
    /// One rstring a line.
    Line,
    /// A JSON object a line.
    Json,
}

/// A reader of a format.
///
/// # Errors
/// If the schema does not suit the format: line takes one rstring, block one blob, and a record of
/// bin must take bytes.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::{ReadOptions, Record, RecordFormat, new_reader};
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type};
///
/// let schema = TupleType::new([("n", Type::Int32), ("s", Type::RString)]);
/// let layout = Layout::new(&Arc::new(schema));
/// let mut reader = new_reader(RecordFormat::Csv, layout.clone(), ReadOptions::default())?;
/// let mut tuple = TupleBuf::default();
/// let step = reader.read(b"7,seven\n8,eight\n", true, &mut tuple);
/// assert!(matches!(step.record, Record::Tuple { .. }));
/// assert_eq!(step.consumed, b"7,seven\n".len());
/// assert_eq!(tuple.as_ref().i32_at(0), 7);
/// # Ok::<(), thalweg_tuple::text::FormatError>(())
/// ```
pub fn new_reader(
    format: RecordFormat,
    layout: Arc<Layout>,
    options: ReadOptions,
) -> Result<Box<dyn RecordReader>, FormatError> {
    check(format, &layout, options.attributes.as_deref())?;
    let takes_bytes = options.punctuations
        || options.has_delay
        || chosen_attributes(&layout, &options.attributes)
            .iter()
            .any(|&at| bin::value_bytes_min(layout.attribute(at).1) > 0);
    if format == RecordFormat::Bin && !takes_bytes {
        return Err(FormatError::BinNeedsBytes);
    }
    Ok(match format {
        RecordFormat::Csv => Box::new(csv::CsvReader::new(layout, options)),
        RecordFormat::Txt => Box::new(txt::TxtReader::new(layout, options)),
        RecordFormat::Bin => Box::new(bin::BinReader::new(layout, options)),
        RecordFormat::Block => Box::new(block::BlockReader::new(layout, options)),
        RecordFormat::Line => Box::new(line::LineReader::new(layout, options)),
        RecordFormat::Json => Box::new(json::JsonReader::new(layout, options)),
    })
}

/// A writer of a format.
///
/// # Errors
/// Like [`new_reader`].
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::{RecordFormat, WriteOptions, new_writer};
/// use thalweg_tuple::{Layout, TupleBuf, TupleType, Type, Value};
///
/// let layout = Layout::new(&Arc::new(TupleType::new([("n", Type::Int32)])));
/// let mut writer = new_writer(RecordFormat::Txt, layout.clone(), WriteOptions::default())?;
/// let (mut tuple, mut out) = (TupleBuf::default(), Vec::new());
/// tuple.set_all(&layout, &Value::Tuple([Value::Int32(7)].into()));
/// writer.write(tuple.as_ref(), None, &mut out);
/// assert_eq!(out, b"{n=7}\n");
/// # Ok::<(), thalweg_tuple::text::FormatError>(())
/// ```
pub fn new_writer(
    format: RecordFormat,
    layout: Arc<Layout>,
    options: WriteOptions,
) -> Result<Box<dyn RecordWriter>, FormatError> {
    check(format, &layout, options.attributes.as_deref())?;
    Ok(match format {
        RecordFormat::Csv => Box::new(csv::CsvWriter::new(layout, options)),
        RecordFormat::Txt => Box::new(txt::TxtWriter::new(layout, options)),
        RecordFormat::Bin => Box::new(bin::BinWriter::new(layout, options)),
        RecordFormat::Block => Box::new(block::BlockWriter::new(layout, options)),
        RecordFormat::Line => Box::new(line::LineWriter::new(layout, options)),
        RecordFormat::Json => Box::new(json::JsonWriter::new(layout, options)),
    })
}

fn check(
    format: RecordFormat,
    layout: &Layout,
    chosen: Option<&[usize]>,
) -> Result<(), FormatError> {
    let all: Vec<usize> = (0..layout.offsets.len()).collect();
    let chosen = chosen.unwrap_or(&all);
    if chosen.iter().any(|&attribute| attribute >= all.len()) {
        return Err(FormatError::NoSuchAttribute);
    }
    let types: Vec<&Type> = chosen.iter().map(|&at| layout.attribute(at).1).collect();
    match (format, types.as_slice()) {
        (RecordFormat::Line, [Type::RString | Type::BoundedRString(_)]) => Ok(()),
        (RecordFormat::Line, _) => Err(FormatError::LineNeedsString),
        (RecordFormat::Block, [Type::Blob]) => Ok(()),
        (RecordFormat::Block, _) => Err(FormatError::BlockNeedsBlob),
        _ => Ok(()),
    }
}

/// Why a schema and a format do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// The options name an attribute that the schema does not have.
    NoSuchAttribute,
    /// The line format is for one rstring.
    LineNeedsString,
    /// The block format is for one blob.
    BlockNeedsBlob,
    /// Records of no bytes cannot be told apart.
    BinNeedsBytes,
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FormatError::NoSuchAttribute => "the schema has fewer attributes than are named",
            FormatError::LineNeedsString => "the line format takes exactly one rstring attribute",
            FormatError::BlockNeedsBlob => "the block format takes exactly one blob attribute",
            FormatError::BinNeedsBytes => {
                "a tuple without content takes no bytes in the bin format"
            }
        })
    }
}

impl std::error::Error for FormatError {}
