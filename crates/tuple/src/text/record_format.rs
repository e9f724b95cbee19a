//! The formats of files and adapters: choosing one, and which schemas it suits.

use std::fmt;
use std::sync::Arc;

use super::record::{ReadOptions, RecordReader, RecordWriter, WriteOptions, chosen_attributes};
use super::{bin, block, csv, line, txt};
use crate::{Layout, Type};

/// The formats of files and adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RecordFormat {
    /// Values with separators, a tuple a line.
    Csv,
    /// A tuple literal a line.
    Txt,
    /// Network byte order.
    Bin,
    /// One blob of so many bytes.
    Block,
    /// One rstring a line.
    Line,
}

/// A reader of a format.
///
/// # Errors
/// If the schema does not suit the format: line takes one rstring, block one blob, and a record of
/// bin must take bytes.
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
    })
}

/// A writer of a format.
///
/// # Errors
/// As [`new_reader`].
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
