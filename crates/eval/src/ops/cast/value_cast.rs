//! Casting one value: scalars as a whole, collections and tuples part by part.

use tuple::{List, Map, Set, TupleType, Type, Value};

use super::{number, text, undefined_cast, xml};
use crate::Fault;
use crate::ops::{faults, timestamp_from_seconds, timestamp_to_seconds, truncate_to_bound};

/// Casts a value of type `from` to type `to`.
///
/// # Errors
/// If the value has no counterpart in `to`: text that does not parse, an ordinal without
/// enumerator, null.
///
/// # Example
/// ```
/// use thalweg_eval::ops::cast;
/// use tuple::{Type, Value};
///
/// let text = Value::RString("12".into());
/// assert_eq!(cast(&text, &Type::RString, &Type::Int32), Ok(Value::Int32(12)));
/// assert!(cast(&text, &Type::RString, &Type::Boolean).is_err());
/// ```
pub fn cast(value: &Value, from: &Type, to: &Type) -> Result<Value, Fault> {
    if from == to {
        return Ok(value.clone());
    }
    if let Some(number) = number::cast(value, to) {
        return Ok(number);
    }
    match (value, to) {
        (Value::Optional(held), _) => return from_optional(held.as_deref(), from, to),
        (Value::RString(_) | Value::UString(_), Type::Optional(held))
            if !held.is_string() && !held.is_xml() =>
        {
            return text::from_string(value, to);
        }
        (_, Type::Optional(held)) => {
            return Ok(Value::Optional(Some(Box::new(cast(value, from, held)?))));
        }
        _ => {}
    }
    if to.is_string() {
        return text::to_string(value, from, to);
    }
    match (value, to) {
        (Value::RString(_) | Value::UString(_), _) => text::from_string(value, to),
        (Value::Enum(ordinal), _) if to.is_integral() => {
            number::cast(&Value::Uint32(*ordinal), to).ok_or_else(|| undefined_cast(from, to))
        }
        (_, Type::Enum(e)) if from.is_integral() => to_enum(value, e.names.len(), to),
        (Value::Float64(x), Type::Timestamp) => Ok(Value::Timestamp(timestamp_from_seconds(*x))),
        (Value::Timestamp(x), Type::Float64) => Ok(Value::Float64(timestamp_to_seconds(*x))),
        (Value::List(List::Uint8(bytes)), Type::Blob) => Ok(Value::Blob(bytes.clone())),
        (Value::Blob(bytes), Type::List(element, _)) if **element == Type::Uint8 => Ok(
            truncate_to_bound(Value::List(List::Uint8(bytes.clone())), to),
        ),
        (Value::List(parts), _) if to.is_complex() => to_complex(parts, to),
        (Value::Xml(_), Type::Xml(_)) => Ok(value.clone()),
        (Value::Xml(text), Type::Tuple(_)) => xml::to_tuple(text, to),
        (Value::Tuple(_), Type::Xml(_)) => xml::from_tuple(value, from),
        _ => cast_parts(value, from, to),
    }
}

/// Null stays null; towards a type that has no null it is a fault.
fn from_optional(held: Option<&Value>, from: &Type, to: &Type) -> Result<Value, Fault> {
    let Type::Optional(from) = from else {
        return Err(undefined_cast(from, to));
    };
    match (held, to) {
        (None, Type::Optional(_)) => Ok(Value::Optional(None)),
        (None, _) if to.is_string() => text::null(to),
        (None, _) => Err(faults::null_unwrapped()),
        (Some(held), Type::Optional(to)) => {
            Ok(Value::Optional(Some(Box::new(cast(held, from, to)?))))
        }
        (Some(held), _) => cast(held, from, to),
    }
}

fn to_enum(value: &Value, enumerators: usize, to: &Type) -> Result<Value, Fault> {
    match number::cast(value, &Type::Int64) {
        Some(Value::Int64(at)) if usize::try_from(at).is_ok_and(|at| at < enumerators) => {
            Ok(Value::Enum(at as u32))
        }
        _ => {
            let number = graph::print::BriefValue(value);
            Err(Fault::value(format!(
                "{number} is not the number of an enumerator of {to}"
            )))
        }
    }
}

fn to_complex(parts: &List, to: &Type) -> Result<Value, Fault> {
    let part = |at, ty| parts.get(at).and_then(|part| number::cast(&part, ty));
    if parts.len() != 2 {
        let len = parts.len();
        return Err(Fault::value(format!(
            "a {to} is made of a list of 2 numbers, not {len}"
        )));
    }
    let number = match to {
        Type::Complex32 => match (part(0, &Type::Float32), part(1, &Type::Float32)) {
            (Some(Value::Float32(re)), Some(Value::Float32(im))) => Some(Value::Complex32(re, im)),
            _ => None,
        },
        _ => match (part(0, &Type::Float64), part(1, &Type::Float64)) {
            (Some(Value::Float64(re)), Some(Value::Float64(im))) => Some(Value::Complex64(re, im)),
            _ => None,
        },
    };
    number.ok_or_else(|| faults::mistyped("the cast of a list to a complex number"))
}

/// A collection as one of the same kind, a tuple as another.
fn cast_parts(value: &Value, from: &Type, to: &Type) -> Result<Value, Fault> {
    let whole = match (value, from, to) {
        (Value::List(list), Type::List(from, _), Type::List(to, _)) => {
            Value::List(cast_list(list, from, to)?)
        }
        (Value::Set(set), Type::Set(from, _), Type::Set(to, _)) => {
            let elements = set.iter().map(|x| cast(x, from, to));
            Value::Set(elements.collect::<Result<Set, Fault>>()?)
        }
        (Value::Set(set), Type::Set(from, _), Type::List(to, _)) => {
            let elements = set.iter().map(|x| cast(x, from, to));
            let elements = elements.collect::<Result<Vec<_>, Fault>>()?;
            Value::List(List::from_values(to, elements))
        }
        (Value::Map(map), Type::Map(from, _), Type::Map(to, _)) => {
            let entries = map
                .iter()
                .map(|(k, v)| Ok((cast(k, &from.0, &to.0)?, cast(v, &from.1, &to.1)?)));
            Value::Map(entries.collect::<Result<Map, Fault>>()?)
        }
        (Value::Tuple(values), Type::Tuple(from), Type::Tuple(to)) => {
            return cast_tuple(values, from, to);
        }
        _ => return Err(undefined_cast(from, to)),
    };
    Ok(truncate_to_bound(whole, to))
}

fn cast_list(list: &List, from: &Type, to: &Type) -> Result<List, Fault> {
    if from == to {
        return Ok(list.clone());
    }
    let mut result = List::with_capacity(to, list.len());
    for element in list.iter() {
        result.push(cast(&element, from, to)?);
    }
    Ok(result)
}

/// Each attribute of the target from the one of its name.
fn cast_tuple(values: &[Value], from: &TupleType, to: &TupleType) -> Result<Value, Fault> {
    let attributes = to.attributes.iter().map(|target| {
        let (at, source) = from.find(&target.name).ok_or_else(|| {
            Fault::value(format!(
                "the tuple to be cast has no attribute {}",
                target.name
            ))
        })?;
        cast(&values[at], &source.ty, &target.ty)
    });
    Ok(Value::Tuple(attributes.collect::<Result<_, Fault>>()?))
}
