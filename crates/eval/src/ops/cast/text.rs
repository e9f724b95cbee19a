//! Casts from and to strings.

use std::borrow::Cow;

use tuple::{RString, Type, UString, Value, text};

use super::super::{faults, truncate_to_bound};
use super::xml;
use crate::Fault;

/// Anything as a string: strings, enumerators and xml by their characters, the rest in text form.
pub(super) fn to_string(value: &Value, from: &Type, to: &Type) -> Result<Value, Fault> {
    if let (Value::UString(s), Type::UString) = (value, to) {
        return Ok(Value::UString(s.clone()));
    }
    let bytes = match value {
        Value::RString(s) | Value::Xml(s) => Cow::Borrowed(&s.0[..]),
        Value::UString(s) => Cow::Owned(RString::from(s).0),
        _ => {
            let mut out = Vec::new();
            text::print(value, from, &mut out);
            Cow::Owned(out)
        }
    };
    Ok(string(bytes.into_owned(), to))
}

/// Null as a string.
pub(super) fn null(to: &Type) -> Result<Value, Fault> {
    Ok(string(b"null".to_vec(), to))
}

fn string(bytes: Vec<u8>, to: &Type) -> Value {
    match to {
        Type::UString => Value::UString(UString::from_utf8_lossy(&bytes)),
        _ => truncate_to_bound(Value::RString(RString(bytes)), to),
    }
}

/// Reads the text form of a type; xml is taken as it is.
pub(super) fn from_string(value: &Value, to: &Type) -> Result<Value, Fault> {
    let bytes = match value {
        Value::RString(s) => Cow::Borrowed(&s.0[..]),
        Value::UString(s) => Cow::Owned(RString::from(s).0),
        _ => return Err(faults::mistyped("the cast of a string")),
    };
    if let Type::Xml(_) = to {
        return xml::checked_xml(bytes.into_owned());
    }
    text::parse_whole(&bytes, to).map_err(|why| {
        let shown = graph::print::BriefValue(value);
        let expected = &why.expected;
        let place = match why.offset {
            0 => String::new(),
            offset => {
                let read = String::from_utf8_lossy(&bytes[..offset.min(bytes.len())]);
                let read = Value::RString(RString::from(&*read));
                format!(" behind {}", graph::print::BriefValue(&read))
            }
        };
        Fault::value(format!(
            "{shown} cannot be cast to {to}: expected {expected}{place}"
        ))
    })
}
