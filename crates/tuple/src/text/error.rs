//! Errors of readers: the input that was expected at a place of a text.

use std::fmt;
use std::sync::Arc;

use crate::Type;

/// A text that is not the value it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueParseError {
    /// Bytes before the place.
    pub offset: usize,
    /// Kind of input that was missing.
    pub expected: ExpectedInput,
}

/// Kind of input that a reader expected in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExpectedInput {
    /// A value of a type.
    Value(Type),
    /// A number within the range of a type.
    InRange(Type),
    /// One character, given by its byte.
    Byte(u8),
    /// One of two characters.
    Either(u8, u8),
    /// Name of this attribute.
    Attribute(Arc<str>),
    /// The quote that ends a string, of which no end was found.
    Quote(u8),
    /// A separator between fields.
    Separator(u8),
    /// More fields than the line has.
    Fields {
        /// Number of fields that belong to a record.
        needed: usize,
        /// Number of fields that the line has.
        found: usize,
    },
    /// The end of the line: nothing more belongs to the record.
    EndOfLine,
    /// The end of the text.
    EndOfText,
    /// The rest of a record that is cut off.
    Bytes,
    /// A byte that says what comes, 0 to 2.
    Marker,
    /// A record of no more bytes than this.
    ShorterRecord(usize),
    /// A value of JSON.
    JsonValue,
    /// An object of JSON.
    JsonObject,
    /// The rest of a value of JSON.
    RestOfJson,
    /// JSON with no more brackets one within another than this.
    ShallowerJson(usize),
}

impl fmt::Display for ExpectedInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedInput::Value(Type::Timestamp) => {
                f.write_str("a value of type timestamp, as (seconds,nanoseconds,machine)")
            }
            ExpectedInput::Value(ty) => write!(f, "a value of type {ty}"),
            ExpectedInput::InRange(ty) => write!(f, "a number within the range of {ty}"),
            ExpectedInput::Byte(b) => write!(f, "'{}'", b.escape_ascii()),
            ExpectedInput::Either(a, b) => {
                write!(f, "'{}' or '{}'", a.escape_ascii(), b.escape_ascii())
            }
            ExpectedInput::Attribute(name) => write!(f, "the attribute {name}"),
            ExpectedInput::Quote(b) => write!(f, "the closing {} of a string", char::from(*b)),
            ExpectedInput::Separator(b) => write!(f, "the separator '{}'", b.escape_ascii()),
            ExpectedInput::Fields { needed, found } => {
                write!(f, "{needed} fields, but the line ends after {found}")
            }
            ExpectedInput::EndOfLine => f.write_str("the end of the line"),
            ExpectedInput::EndOfText => f.write_str("the end of the text"),
            ExpectedInput::Bytes => f.write_str("more bytes"),
            ExpectedInput::Marker => f.write_str("a byte 0, 1 or 2 for tuple or punctuation"),
            ExpectedInput::ShorterRecord(bytes) => write!(f, "a record of at most {bytes} bytes"),
            ExpectedInput::JsonValue => f.write_str("a JSON value"),
            ExpectedInput::JsonObject => f.write_str("a JSON object"),
            ExpectedInput::ShallowerJson(depth) => {
                write!(f, "JSON that nests at most {depth} deep")
            }
            ExpectedInput::RestOfJson => f.write_str("the rest of the JSON value"),
        }
    }
}

impl fmt::Display for ValueParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} bytes: expected {}", self.offset, self.expected)
    }
}

impl std::error::Error for ValueParseError {}
