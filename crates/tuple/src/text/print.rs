//! Printer of values in their text forms: the serialised form, and the raw one of casts.

use super::{print_bytes_quoted, print_f32, print_f64, print_units_quoted};
use crate::{EnumType, List, Timestamp, Type, Value};

/// Appends a value's serialised form: strings quoted.
pub fn print(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    match (value, ty) {
        (Value::Boolean(x), _) => print_bool(*x, out),
        (Value::Int8(x), _) => print_integer(*x, out),
        (Value::Int16(x), _) => print_integer(*x, out),
        (Value::Int32(x), _) => print_integer(*x, out),
        (Value::Int64(x), _) => print_integer(*x, out),
        (Value::Uint8(x), _) => print_integer(*x, out),
        (Value::Uint16(x), _) => print_integer(*x, out),
        (Value::Uint32(x), _) => print_integer(*x, out),
        (Value::Uint64(x), _) => print_integer(*x, out),
        (Value::Float32(x), _) => print_f32(*x, out),
        (Value::Float64(x), _) => print_f64(*x, out),
        (Value::Decimal32(x), _) => x.print(out),
        (Value::Decimal64(x), _) => x.print(out),
        (Value::Decimal128(x), _) => x.print(out),
        (Value::Complex32(re, im), _) => print_pair(*re, *im, print_f32, out),
        (Value::Complex64(re, im), _) => print_pair(*re, *im, print_f64, out),
        (Value::Timestamp(x), _) => print_timestamp(*x, out),
        (Value::Enum(x), Type::Enum(e)) => print_enum(*x, e, out),
        (Value::Enum(x), _) => print_integer(*x, out),
        (Value::RString(x), _) => print_bytes_quoted(&x.0, out),
        (Value::UString(x), _) => print_units_quoted(&x.0, out),
        (Value::Blob(x), _) => print_hex(x, out),
        (Value::Xml(x), _) => {
            print_bytes_quoted(&x.0, out);
            out.push(b'x');
        }
        (Value::Optional(None), _) => out.extend_from_slice(b"null"),
        _ => print_composite(value, ty, out),
    }
}

/// Appends the text of a cast to a string: strings, xml and enums without quotes, other values as
/// [`print()`] does.
pub fn print_raw(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    match value {
        Value::RString(x) | Value::Xml(x) => out.extend_from_slice(&x.0),
        Value::UString(x) => x.write_utf8(out),
        _ => print(value, ty, out),
    }
}

/// A value's serialised form as text, for messages and tests; invalid UTF-8 is replaced.
///
/// # Example
/// ```
/// use std::sync::Arc;
/// use thalweg_tuple::text::to_text;
/// use thalweg_tuple::{List, Type, Value};
///
/// let ty = Type::List(Arc::new(Type::Float64), None);
/// let list = Value::List(List::Float64(vec![1.5, 2.0]));
/// assert_eq!(to_text(&list, &ty), "[1.5,2]");
/// assert_eq!(to_text(&Value::RString("a\"b".into()), &Type::RString), r#""a\"b""#);
/// ```
pub fn to_text(value: &Value, ty: &Type) -> String {
    let mut out = Vec::new();
    print(value, ty, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn print_composite(value: &Value, ty: &Type, out: &mut Vec<u8>) {
    match (value, ty) {
        (Value::List(list), Type::List(element, _)) => print_list(list, element, out),
        (Value::Set(set), Type::Set(element, _)) => {
            print_all(b"{}", set.iter(), out, |x, out| print(x, element, out));
        }
        (Value::Map(map), Type::Map(kv, _)) => {
            print_all(b"{}", map.iter(), out, |(k, v), out| {
                print(k, &kv.0, out);
                out.push(b':');
                print(v, &kv.1, out);
            });
        }
        (Value::Tuple(values), Type::Tuple(t)) => {
            print_all(
                b"{}",
                t.attributes.iter().zip(values),
                out,
                |(attribute, value), out| {
                    out.extend_from_slice(attribute.name.as_bytes());
                    out.push(b'=');
                    print(value, &attribute.ty, out);
                },
            );
        }
        (Value::Optional(Some(value)), Type::Optional(t)) => print(value, t, out),
        _ => debug_assert!(false, "{value:?} is printed as {ty}"),
    }
}

fn print_list(list: &List, element: &Type, out: &mut Vec<u8>) {
    match list {
        List::Any(values) => {
            print_all(b"[]", values.iter(), out, |x, out| print(x, element, out));
        }
        packed => print_all(b"[]", packed.iter(), out, |x, out| print(&x, element, out)),
    }
}

/// Elements with commas between and brackets around.
pub(super) fn print_all<T>(
    brackets: &[u8; 2],
    items: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    mut print: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        print(item, out);
    }
    out.push(brackets[1]);
}

pub(super) fn print_bool(x: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if x { b"true" } else { b"false" });
}

pub(super) fn print_integer(x: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(x).as_bytes());
}

pub(super) fn print_pair<T>(re: T, im: T, print: fn(T, &mut Vec<u8>), out: &mut Vec<u8>) {
    out.push(b'(');
    print(re, out);
    out.push(b',');
    print(im, out);
    out.push(b')');
}

pub(super) fn print_timestamp(x: Timestamp, out: &mut Vec<u8>) {
    out.push(b'(');
    print_integer(x.seconds, out);
    out.push(b',');
    print_integer(x.nanos, out);
    out.push(b',');
    print_integer(x.machine, out);
    out.push(b')');
}

/// The name; an ordinal that has none prints as a number.
pub(super) fn print_enum(ordinal: u32, e: &EnumType, out: &mut Vec<u8>) {
    match e.names.get(ordinal as usize) {
        Some(name) => out.extend_from_slice(name.as_bytes()),
        None => print_integer(ordinal, out),
    }
}

pub(super) fn print_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(2 * bytes.len());
    for byte in bytes {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
        out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
}
