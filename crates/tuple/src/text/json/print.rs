//! Values as JSON text.

use super::super::print::{print_all, print_bool, print_integer};
use super::super::print_raw;
use super::names::JsonNames;
use crate::{Type, Value};

/// How values are written as JSON.
#[derive(Clone, Debug, Default)]
pub struct JsonWriteOptions {
    /// Names of attributes in objects.
    pub names: JsonNames,
    /// Whether values of the types blob, complex and xml are `null`, as in the JSON toolkit of
    /// Streams.
    pub blobs_are_null: bool,
}

/// Appends a value as JSON, without blanks.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::json::{JsonWriteOptions, print_json};
/// use thalweg_tuple::{TupleType, Type, Value};
///
/// let t = TupleType::new([("n", Type::Int32), ("name", Type::RString)]);
/// let value = Value::Tuple([Value::Int32(1), Value::RString("a \"b\"".into())].into());
/// let mut out = Vec::new();
/// print_json(&value, &Type::Tuple(Arc::new(t)), &JsonWriteOptions::default(), &mut out);
/// assert_eq!(out, br#"{"n":1,"name":"a \"b\""}"#);
/// ```
pub fn print_json(value: &Value, ty: &Type, options: &JsonWriteOptions, out: &mut Vec<u8>) {
    match value {
        Value::Boolean(x) => print_bool(*x, out),
        Value::Int8(x) => print_integer(*x, out),
        Value::Int16(x) => print_integer(*x, out),
        Value::Int32(x) => print_integer(*x, out),
        Value::Int64(x) => print_integer(*x, out),
        Value::Uint8(x) => print_integer(*x, out),
        Value::Uint16(x) => print_integer(*x, out),
        Value::Uint32(x) => print_integer(*x, out),
        Value::Uint64(x) => print_integer(*x, out),
        Value::Float32(x) => print_json_f32(*x, out),
        Value::Float64(x) => print_json_f64(*x, out),
        Value::Decimal32(_) | Value::Decimal64(_) | Value::Decimal128(_) => {
            print_decimal(value, ty, out);
        }
        Value::RString(x) => print_json_text(&x.0, out),
        Value::Blob(_) | Value::Xml(_) | Value::Complex32(..) | Value::Complex64(..)
            if options.blobs_are_null =>
        {
            out.extend_from_slice(b"null");
        }
        Value::Optional(None) => out.extend_from_slice(b"null"),
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Tuple(_) | Value::Optional(_) => {
            print_composite(value, ty, options, out);
        }
        Value::UString(_)
        | Value::Enum(_)
        | Value::Timestamp(_)
        | Value::Complex32(..)
        | Value::Complex64(..)
        | Value::Blob(_)
        | Value::Xml(_) => {
            let mut text = Vec::new();
            print_raw(value, ty, &mut text);
            print_json_text(&text, out);
        }
    }
}

fn print_composite(value: &Value, ty: &Type, options: &JsonWriteOptions, out: &mut Vec<u8>) {
    match (value, ty) {
        (Value::List(list), Type::List(element, _)) => {
            print_all(b"[]", list.iter(), out, |x, out| {
                print_json(&x, element, options, out)
            });
        }
        (Value::Set(set), Type::Set(element, _)) => {
            print_all(b"[]", set.iter(), out, |x, out| {
                print_json(x, element, options, out)
            });
        }
        (Value::Map(map), Type::Map(kv, _)) => {
            print_all(b"{}", map.iter(), out, |(key, value), out| {
                let mut text = Vec::new();
                print_raw(key, &kv.0, &mut text);
                print_json_text(&text, out);
                out.push(b':');
                print_json(value, &kv.1, options, out);
            });
        }
        (Value::Tuple(values), Type::Tuple(t)) => {
            let entries = t.attributes.iter().zip(values);
            print_all(b"{}", entries, out, |(attribute, value), out| {
                print_key(options.names.key(&attribute.name), out);
                print_json(value, &attribute.ty, options, out);
            });
        }
        (Value::Optional(Some(value)), Type::Optional(t)) => print_json(value, t, options, out),
        _ => debug_assert!(false, "{value:?} is written as {ty}"),
    }
}

/// A key that is an SPL name, which needs no escapes.
pub(super) fn print_key(key: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

/// Bytes as a string; what is no UTF-8 becomes U+FFFD.
pub(super) fn print_json_text(bytes: &[u8], out: &mut Vec<u8>) {
    let text = String::from_utf8_lossy(bytes);
    let written = sonic_rs::to_writer(&mut *out, &*text);
    debug_assert!(written.is_ok(), "writing to memory does not fail");
}

/// A float64 as the shortest number that is read back as it.
pub(super) fn print_json_f64(x: f64, out: &mut Vec<u8>) {
    match x.is_finite() {
        true => out.extend_from_slice(ryu::Buffer::new().format_finite(x).as_bytes()),
        false => print_not_finite(x, out),
    }
}

/// A float32 as the shortest number that is read back as it.
pub(super) fn print_json_f32(x: f32, out: &mut Vec<u8>) {
    match x.is_finite() {
        true => out.extend_from_slice(ryu::Buffer::new().format_finite(x).as_bytes()),
        false => print_not_finite(x.into(), out),
    }
}

/// JSON has no such numbers: strings, named as in the JSON mapping of protocol buffers.
fn print_not_finite(x: f64, out: &mut Vec<u8>) {
    let name: &[u8] = match x {
        x if x.is_nan() => b"\"NaN\"",
        f64::INFINITY => b"\"Infinity\"",
        _ => b"\"-Infinity\"",
    };
    out.extend_from_slice(name);
}

/// A decimal with all its digits. Its text is a number of JSON, or a word such as `NaN`.
pub(super) fn print_decimal(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    let mut text = Vec::new();
    print_raw(value, ty, &mut text);
    match text.last().is_some_and(u8::is_ascii_digit) {
        true => out.extend_from_slice(&text),
        false => print_json_text(&text, out),
    }
}
