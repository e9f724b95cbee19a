//! A tuple as an XML document.

use tuple::{List, RString, TupleType, Type, Value, text};

use super::super::undefined_cast;
use crate::Fault;

/// The document of [this form](super) for a tuple.
///
/// # Errors
/// If a string is not UTF-8, has a character that XML does not allow, or a type cannot be cast.
pub(in super::super) fn from_tuple(value: &Value, from: &Type) -> Result<Value, Fault> {
    let mut out = Vec::new();
    write(value, from, &mut out)?;
    Ok(Value::Xml(RString(out)))
}

fn write(value: &Value, ty: &Type, out: &mut Vec<u8>) -> Result<(), Fault> {
    match (value, ty) {
        (Value::Tuple(parts), Type::Tuple(schema)) => write_tuple(parts, schema, out),
        (Value::List(list), Type::List(element, _)) => write_list(list, element, out),
        (Value::Set(set), Type::Set(element, _)) => wrapped("set", out, |out| {
            set.iter().try_for_each(|x| write(x, element, out))
        }),
        (Value::Map(map), Type::Map(entry, _)) => wrapped("map", out, |out| {
            map.iter().try_for_each(|(k, v)| {
                wrapped("entry", out, |out| {
                    write(k, &entry.0, out)?;
                    write(v, &entry.1, out)
                })
            })
        }),
        (Value::Optional(Some(inner)), Type::Optional(ty)) => write(inner, ty, out),
        (Value::Optional(None), Type::Optional(_)) => {
            out.extend_from_slice(b"<null/>");
            Ok(())
        }
        (_, Type::Tuple(_) | Type::List(..) | Type::Set(..) | Type::Map(..)) => {
            Err(undefined_cast(ty, &Type::Xml(None)))
        }
        _ => write_primitive(value, ty, out),
    }
}

fn write_tuple(parts: &[Value], schema: &TupleType, out: &mut Vec<u8>) -> Result<(), Fault> {
    wrapped("tuple", out, |out| {
        for (part, attribute) in parts.iter().zip(&schema.attributes) {
            out.extend_from_slice(b"<attr name=\"");
            escape(attribute.name.as_bytes(), out)?;
            out.extend_from_slice(b"\" type=\"");
            escape(attribute.ty.to_string().as_bytes(), out)?;
            out.extend_from_slice(b"\">");
            write(part, &attribute.ty, out)?;
            out.extend_from_slice(b"</attr>");
        }
        Ok(())
    })
}

fn write_list(list: &List, element: &Type, out: &mut Vec<u8>) -> Result<(), Fault> {
    wrapped("list", out, |out| {
        list.iter().try_for_each(|x| write(&x, element, out))
    })
}

fn write_primitive(value: &Value, ty: &Type, out: &mut Vec<u8>) -> Result<(), Fault> {
    let mut raw = Vec::new();
    text::print_raw(value, ty, &mut raw);
    wrapped(name_of(ty), out, |out| escape(&raw, out))
}

/// Name of the element around a value of a type.
pub(super) fn name_of(ty: &Type) -> &'static str {
    match ty {
        Type::Boolean => "boolean",
        Type::Int8 => "int8",
        Type::Int16 => "int16",
        Type::Int32 => "int32",
        Type::Int64 => "int64",
        Type::Uint8 => "uint8",
        Type::Uint16 => "uint16",
        Type::Uint32 => "uint32",
        Type::Uint64 => "uint64",
        Type::Float32 => "float32",
        Type::Float64 => "float64",
        Type::Decimal32 => "decimal32",
        Type::Decimal64 => "decimal64",
        Type::Decimal128 => "decimal128",
        Type::Complex32 => "complex32",
        Type::Complex64 => "complex64",
        Type::Timestamp => "timestamp",
        Type::RString | Type::BoundedRString(_) => "rstring",
        Type::UString => "ustring",
        Type::Blob => "blob",
        Type::Xml(_) => "xml",
        Type::Enum(_) => "enum",
        Type::List(..) => "list",
        Type::Set(..) => "set",
        Type::Map(..) => "map",
        Type::Tuple(_) => "tuple",
        Type::Optional(inner) => name_of(inner),
        Type::Void => "void",
    }
}

fn wrapped(
    name: &str,
    out: &mut Vec<u8>,
    inside: impl FnOnce(&mut Vec<u8>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    out.extend_from_slice(format!("<{name}>").as_bytes());
    inside(out)?;
    out.extend_from_slice(format!("</{name}>").as_bytes());
    Ok(())
}

fn escape(raw: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
    let text = std::str::from_utf8(raw)
        .map_err(|_| Fault::value("a string that is not UTF-8 cannot stand in XML"))?;
    for c in text.chars() {
        match c {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '"' => out.extend_from_slice(b"&quot;"),
            // A parser would turn returns into line feeds.
            '\r' => out.extend_from_slice(b"&#13;"),
            '\0'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {
                let point = u32::from(c);
                let sentence = format!("the character U+{point:04X} cannot stand in XML");
                return Err(Fault::value(sentence));
            }
            _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Ok(())
}
