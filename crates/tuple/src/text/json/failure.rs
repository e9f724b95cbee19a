//! Failures of reading JSON: where a text is none, or not what a type asks for.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use super::super::ExpectedInput;
use super::value_extent::ValueExtent;
use crate::Type;

/// Most bytes of an offending text that a failure shows.
const SHOWN_BYTES_MAX: usize = 80;

/// A text that is not JSON, or not a value of the type.
///
/// # Example
/// ```
/// use thalweg_tuple::text::json::{JsonOptions, fill_json};
/// use thalweg_tuple::{Type, Value};
///
/// let mut value = Value::Int32(0);
/// let options = JsonOptions::default();
/// let failure = fill_json(b" 1x", &Type::Int32, &mut value, &options).expect_err("not JSON");
/// assert_eq!(failure.to_string(), "1:3: expected the end of the text, found 'x'");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonFailure {
    /// Attributes on the way to the place, with dots between; empty outside of all attributes.
    pub path: String,
    /// Bytes before the place.
    pub offset: usize,
    /// Line of the place, from 1.
    pub line: usize,
    /// Byte of that line, from 1.
    pub column: usize,
    /// Input that stands there, cut to some length.
    pub found: Vec<u8>,
    /// Input that should stand there.
    pub expected: ExpectedInput,
    /// Whether the text is not JSON at all; otherwise a value does not fit its type.
    pub is_malformed: bool,
    /// Whether the text could be JSON with more bytes behind it.
    pub is_cut_off: bool,
}

impl JsonFailure {
    /// The failure that an error of the parser stands for.
    pub(super) fn new(error: &sonic_rs::Error, text: &[u8], notes: JsonNotes) -> JsonFailure {
        let JsonNotes { mismatch, path } = notes;
        let mut path = path.into_inner();
        path.reverse();
        let at = match error.is_eof() {
            true => text.len(),
            false => error.offset().min(text.len()),
        };
        let mismatch = mismatch.into_inner();
        let is_malformed = mismatch.is_none();
        let (expected, found) = mismatch.unwrap_or_else(|| {
            let line = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            let shown = &text[at..line.min(at + SHOWN_BYTES_MAX)];
            (expected_input(error, &text[..at]), shown.to_vec())
        });
        let line_start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        JsonFailure {
            path: path.join("."),
            offset: at,
            line: 1 + memchr::memchr_iter(b'\n', &text[..at]).count(),
            column: at - line_start + 1,
            found,
            expected,
            is_malformed,
            is_cut_off: is_malformed && error.is_eof(),
        }
    }

    /// The failure at the start of a text in whose place something else was expected.
    pub(super) fn unexpected(expected: ExpectedInput) -> JsonFailure {
        JsonFailure {
            path: String::new(),
            offset: 0,
            line: 1,
            column: 1,
            found: Vec::new(),
            expected,
            is_malformed: true,
            is_cut_off: false,
        }
    }
}

/// Input that the parser has missed behind a text. It tells so by the text of its error alone.
fn expected_input(error: &sonic_rs::Error, before: &[u8]) -> ExpectedInput {
    if error.is_eof() {
        return ExpectedInput::RestOfJson;
    }
    let text = error.to_string();
    let names = |part: &str| text.contains(part);
    if names("a ',' or a ") {
        let is_object = ValueExtent::open_bracket(before) == Some(b'{');
        ExpectedInput::Either(b',', if is_object { b'}' } else { b']' })
    } else if names("a comma after") && ValueExtent::open_bracket(before) == Some(b'{') {
        ExpectedInput::Byte(b'"')
    } else if names("a ':'") {
        ExpectedInput::Byte(b':')
    } else if names("'\"' or '}'") {
        ExpectedInput::Either(b'"', b'}')
    } else if names("trailing characters") {
        ExpectedInput::EndOfText
    } else {
        ExpectedInput::JsonValue
    }
}

impl fmt::Display for JsonFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "attribute {}: ", self.path)?;
        }
        write!(f, "expected {}", self.expected)?;
        if !self.found.is_empty() {
            write!(
                f,
                ", found '{}'",
                String::from_utf8_lossy(&self.found).escape_debug()
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for JsonFailure {}

/// Notes of a document's visitors for a failure; errors of the parser hold only text.
#[derive(Debug, Default)]
pub(super) struct JsonNotes {
    mismatch: RefCell<Option<(ExpectedInput, Vec<u8>)>>,
    /// From the innermost attribute outwards.
    path: RefCell<Vec<Arc<str>>>,
}

impl JsonNotes {
    /// Notes that a value does not fit a type.
    #[cold]
    pub(super) fn mismatch<E: serde::de::Error>(&self, ty: &Type, found: impl fmt::Display) -> E {
        let expected = match found.to_string().parse::<i128>() {
            Ok(_) if ty.is_integral() => ExpectedInput::InRange(ty.clone()),
            _ => ExpectedInput::Value(ty.clone()),
        };
        self.unexpected(expected, found)
    }

    /// Notes that an object was expected.
    #[cold]
    pub(super) fn no_object<E: serde::de::Error>(&self, found: impl fmt::Display) -> E {
        self.unexpected(ExpectedInput::JsonObject, found)
    }

    fn unexpected<E: serde::de::Error>(
        &self,
        expected: ExpectedInput,
        found: impl fmt::Display,
    ) -> E {
        let mut found = found.to_string();
        let mut cut = found.len().min(SHOWN_BYTES_MAX);
        while !found.is_char_boundary(cut) {
            cut -= 1;
        }
        found.truncate(cut);
        self.mismatch.replace(Some((expected, found.into_bytes())));
        E::custom("mismatch")
    }

    /// Notes that a failure is within an attribute.
    #[cold]
    pub(super) fn within<E>(&self, attribute: &Arc<str>, error: E) -> E {
        self.path.borrow_mut().push(attribute.clone());
        error
    }
}

/// Most brackets of a text one within another. The parser goes into them by functions that call
/// themselves, and has a limit of its own only where a visitor goes along.
const DEPTH_MAX: usize = 254;

/// A text for the parser, which trusts it to be UTF-8; what is none becomes U+FFFD.
///
/// # Errors
/// If it nests deeper than [`DEPTH_MAX`].
pub(super) fn parser_input(text: &[u8]) -> Result<Cow<'_, str>, JsonFailure> {
    // Hardly any text has so many brackets at all.
    let is_suspect = text.len() > DEPTH_MAX
        && memchr::memchr2_iter(b'[', b'{', text)
            .nth(DEPTH_MAX)
            .is_some();
    if is_suspect && ValueExtent::depth(text) > DEPTH_MAX {
        return Err(JsonFailure::unexpected(ExpectedInput::ShallowerJson(
            DEPTH_MAX,
        )));
    }
    // Replacing looks at each byte; this does not.
    Ok(match std::str::from_utf8(text) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(text),
    })
}
