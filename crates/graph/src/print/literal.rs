//! Constants as SPL writes them, so that the type can be told.

use std::fmt::Write;

use tuple::{Type, Value, text};

/// Writes a constant of a type.
pub(super) fn literal(value: &Value, ty: &Type, out: &mut String) {
    match value {
        Value::List(list) if list.is_empty() => empty_literal("[]", ty, out),
        Value::Set(set) if set.is_empty() => empty_literal("{}", ty, out),
        Value::Map(map) if map.is_empty() => empty_literal("{}", ty, out),
        Value::Optional(None) => empty_literal("null", ty, out),
        Value::List(list) => {
            literal_items("[]", list.iter(), out, |item, out| {
                literal(&item, element_type(ty), out)
            });
        }
        Value::Set(set) => {
            literal_items("{}", set.iter(), out, |item, out| {
                literal(item, element_type(ty), out)
            });
        }
        Value::Map(map) => {
            let Type::Map(entry, _) = ty else { return };
            literal_items("{}", map.iter(), out, |(key, value), out| {
                literal(key, &entry.0, out);
                out.push_str(" : ");
                literal(value, &entry.1, out);
            });
        }
        Value::Tuple(parts) => {
            let Type::Tuple(schema) = ty else { return };
            literal_items(
                "{}",
                parts.iter().zip(&schema.attributes),
                out,
                |(part, attribute), out| {
                    let _ = write!(out, "{} = ", attribute.name);
                    literal(part, &attribute.ty, out);
                },
            );
        }
        Value::Optional(Some(held)) => {
            let Type::Optional(inner) = ty else { return };
            let _ = write!(out, "({ty}) ");
            literal(held, inner, out);
        }
        _ => primitive(value, ty, out),
    }
}

fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::List(element, _) | Type::Set(element, _) => element,
        other => other,
    }
}

fn literal_items<T>(
    brackets: &str,
    values: impl IntoIterator<Item = T>,
    out: &mut String,
    write: impl FnMut(T, &mut String),
) {
    let (open, close) = brackets.split_at(1);
    out.push_str(open);
    super::separated(values, out, write);
    out.push_str(close);
}

fn empty_literal(form: &str, ty: &Type, out: &mut String) {
    let _ = write!(out, "({ty}) {form}");
}

fn primitive(value: &Value, ty: &Type, out: &mut String) {
    let form = text::to_text(value, ty);
    let is_special = form.contains("nan") || form.contains("inf");
    match suffix(ty) {
        Some(suffix) if !is_special => {
            out.push_str(&form);
            // A float without a point would read as an integer.
            if ty.is_float() && !form.contains(['.', 'e']) {
                out.push_str(".0");
            }
            out.push_str(suffix);
        }
        _ => match (value, ty) {
            (Value::Boolean(_) | Value::Enum(_) | Value::Xml(_), _) => out.push_str(&form),
            (Value::RString(_), Type::RString) => out.push_str(&form),
            (Value::RString(_), _) => {
                let _ = write!(out, "({ty}) {form}");
            }
            (Value::UString(_), _) => {
                let _ = write!(out, "{form}u");
            }
            _ => {
                let _ = write!(out, "({ty}) \"{form}\"");
            }
        },
    }
}

/// Suffix that gives a number literal this type; `None` if it needs none or has none.
fn suffix(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int8 => "sb",
        Type::Int16 => "sh",
        Type::Int32 => "",
        Type::Int64 => "l",
        Type::Uint8 => "ub",
        Type::Uint16 => "uh",
        Type::Uint32 => "u",
        Type::Uint64 => "ul",
        Type::Float32 => "w",
        Type::Float64 => "",
        Type::Decimal32 => "dw",
        Type::Decimal64 => "d",
        Type::Decimal128 => "dq",
        _ => return None,
    })
}
