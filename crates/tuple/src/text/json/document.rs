//! JSON documents that are kept and asked for parts by paths.

use serde::de::DeserializeSeed;
use sonic_rs::{JsonContainerTrait, JsonValueTrait};

use super::super::ExpectedInput;
use super::failure::{JsonFailure, JsonNotes, parser_input};
use super::value_extent::ValueExtent;
use super::value_seed::{JsonOptions, JsonReading, ValueSeed, fill_json, needs_digits};
use crate::{List, Type, Value};

/// A JSON text, parsed.
///
/// # Example
/// ```
/// use thalweg_tuple::text::json::{JsonDocument, JsonFinding};
/// use thalweg_tuple::{Type, Value};
///
/// let document = JsonDocument::parse(br#"{"a": [1, "two"]}"#).expect("JSON");
/// let found = document.query("/a/0", &Type::Int32);
/// assert_eq!(found, (JsonFinding::Found, Some(Value::Int32(1))));
/// assert_eq!(document.query("/b", &Type::Int32), (JsonFinding::NotFound, None));
/// ```
#[derive(Clone, Debug)]
pub struct JsonDocument {
    root: sonic_rs::Value,
}

/// Outcome of a query. The names are those of `JsonStatus.status` of the JSON toolkit of Streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonFinding {
    /// A value of the type.
    Found,
    /// A string that holds a value of the type.
    FoundCast,
    /// Something of another type.
    FoundWrongType,
    /// The value is `null`.
    FoundNull,
    /// Nothing is at the path.
    NotFound,
    /// The path does not begin with a slash.
    PathMustBeginWithSlash,
    /// A `~` in the path is followed by neither 0 nor 1.
    InvalidEscape,
    /// A `%` in the path is not followed by two hexadecimal digits.
    InvalidPercentEncoding,
}

impl JsonDocument {
    /// Parses a whole text.
    ///
    /// # Errors
    /// If it is not JSON.
    pub fn parse(text: &[u8]) -> Result<JsonDocument, JsonFailure> {
        let text = parser_input(text)?;
        let mut parser = sonic_rs::Deserializer::from_str(&text).utf8_lossy();
        let parsed = parser.deserialize::<sonic_rs::Value>();
        match parsed.and_then(|root| parser.end().map(|()| root)) {
            Ok(root) => Ok(JsonDocument { root }),
            Err(error) => Err(JsonFailure::new(
                &error,
                text.as_bytes(),
                JsonNotes::default(),
            )),
        }
    }

    /// The value at a JSON pointer (RFC 6901), also in the form of a URI fragment (`#/a`), as a
    /// boolean, number or string, or a list of these.
    pub fn query(&self, path: &str, ty: &Type) -> (JsonFinding, Option<Value>) {
        let tokens = match path_tokens(path) {
            Ok(tokens) => tokens,
            Err(finding) => return (finding, None),
        };
        let mut node = &self.root;
        for token in &tokens {
            let next = match node.is_array() {
                true => array_index(token).and_then(|index| node.get(index)),
                false => node.get(token.as_str()),
            };
            match next {
                Some(found) => node = found,
                None => return (JsonFinding::NotFound, None),
            }
        }
        match ty {
            Type::List(element, _) => list_of(node, element),
            _ => scalar_of(node, ty),
        }
    }
}

fn list_of(node: &sonic_rs::Value, element: &Type) -> (JsonFinding, Option<Value>) {
    if node.is_null() {
        return (JsonFinding::FoundNull, None);
    }
    let Some(nodes) = node.as_array() else {
        return (JsonFinding::FoundWrongType, None);
    };
    let (mut list, mut finding) = (List::new_for(element), JsonFinding::Found);
    for node in nodes.iter() {
        match scalar_of(node, element) {
            (JsonFinding::FoundNull, _) => {}
            (kind, Some(value)) => {
                list.push(value);
                if kind == JsonFinding::FoundCast {
                    finding = kind;
                }
            }
            (kind, None) => return (kind, None),
        }
    }
    (finding, Some(Value::List(list)))
}

fn scalar_of(node: &sonic_rs::Value, ty: &Type) -> (JsonFinding, Option<Value>) {
    if node.is_null() {
        return (JsonFinding::FoundNull, None);
    }
    if ty.is_string() && !node.is_str() {
        return (JsonFinding::FoundWrongType, None);
    }
    let options = JsonOptions {
        is_lenient: true,
        ..JsonOptions::default()
    };
    let value = match needs_digits(ty) {
        true => {
            let text = sonic_rs::to_string(node).unwrap_or_default();
            let mut value = Value::Optional(None);
            let read = fill_json(text.as_bytes(), ty, &mut value, &JsonOptions::default());
            read.is_ok().then_some(value)
        }
        false => {
            let notes = JsonNotes::default();
            let reading = JsonReading {
                options: &options,
                notes: &notes,
            };
            let read = ValueSeed { ty, reading }.deserialize(node);
            read.ok().flatten()
        }
    };
    let is_cast = node.is_str() && !ty.is_string();
    match value {
        None => (JsonFinding::FoundWrongType, None),
        value if is_cast => (JsonFinding::FoundCast, value),
        value => (JsonFinding::Found, value),
    }
}

/// The keys and indices of a path.
fn path_tokens(path: &str) -> Result<Vec<String>, JsonFinding> {
    let decoded;
    let path = match path.strip_prefix('#') {
        Some(fragment) => {
            decoded = decode_percent(fragment).ok_or(JsonFinding::InvalidPercentEncoding)?;
            &*decoded
        }
        None => path,
    };
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let rest = path.strip_prefix('/');
    let rest = rest.ok_or(JsonFinding::PathMustBeginWithSlash)?;
    rest.split('/').map(unescape).collect()
}

/// A token with `~1` for a slash and `~0` for a tilde.
fn unescape(token: &str) -> Result<String, JsonFinding> {
    let mut pieces = token.split('~');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (sign, rest) = match piece.as_bytes().first() {
            Some(b'0') => ('~', &piece[1..]),
            Some(b'1') => ('/', &piece[1..]),
            _ => return Err(JsonFinding::InvalidEscape),
        };
        plain.push(sign);
        plain.push_str(rest);
    }
    Ok(plain)
}

/// The text of a URI fragment; `None` if a `%` lacks its digits.
fn decode_percent(fragment: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = fragment.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = std::str::from_utf8(behind.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &behind[2..];
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// An index of an array, which has no zeros in front.
fn array_index(token: &str) -> Option<usize> {
    let is_plain = token == "0" || !token.starts_with(['0', '+']);
    is_plain.then(|| token.parse().ok())?
}

/// Kinds of mistake in a JSON text, in the order of `JsonParseStatus.status` of the JSON toolkit of
/// Streams; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[expect(missing_docs, reason = "each is the status of its name")]
pub enum JsonMistake {
    DocumentEmpty = 1,
    MultipleRoots,
    ValueInvalid,
    KeyMissing,
    ColonMissing,
    ObjectCommaOrBracketMissing,
    ArrayCommaOrBracketMissing,
    UnicodeEscapeInvalid,
    UnicodeSurrogateInvalid,
    StringEscapeInvalid,
    StringQuotationMissing,
    StringInvalidEncoding,
    NumberTooBig,
    NumberMissFraction,
    NumberMissExponent,
    Termination,
    SyntaxError,
}

impl JsonFailure {
    /// The kind of mistake that a malformed text holds.
    pub fn mistake(&self, text: &[u8]) -> JsonMistake {
        let before = &text[..self.offset.min(text.len())];
        if text.trim_ascii().is_empty() {
            return JsonMistake::DocumentEmpty;
        }
        match self.expected {
            ExpectedInput::EndOfText => JsonMistake::MultipleRoots,
            ExpectedInput::ShallowerJson(_) => JsonMistake::Termination,
            ExpectedInput::Byte(b':') => JsonMistake::ColonMissing,
            ExpectedInput::Either(b'"', _) => JsonMistake::KeyMissing,
            ExpectedInput::Either(_, b'}') => JsonMistake::ObjectCommaOrBracketMissing,
            ExpectedInput::Either(_, b']') => JsonMistake::ArrayCommaOrBracketMissing,
            ExpectedInput::RestOfJson => end_mistake(text),
            _ if ValueExtent::ends_in_string(before) => match before.last() {
                Some(b'\\') => JsonMistake::StringEscapeInvalid,
                _ => JsonMistake::StringInvalidEncoding,
            },
            _ => JsonMistake::ValueInvalid,
        }
    }
}

/// The mistake of a text that ends too early.
fn end_mistake(text: &[u8]) -> JsonMistake {
    let brackets = match ValueExtent::ends_in_string(text) {
        true => return JsonMistake::StringQuotationMissing,
        false => ValueExtent::open_bracket(text),
    };
    match (text.trim_ascii_end().last(), brackets) {
        (Some(b':' | b'['), _) | (Some(b','), Some(b'[')) => JsonMistake::ValueInvalid,
        (Some(b'{' | b','), _) => JsonMistake::KeyMissing,
        (_, Some(b'[')) => JsonMistake::ArrayCommaOrBracketMissing,
        _ => JsonMistake::ObjectCommaOrBracketMissing,
    }
}
