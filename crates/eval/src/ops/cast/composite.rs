//! Casts of collections and tuples, part by part.

use tuple::{List, Map, Set, TupleType, Type, Value};

use crate::Fault;

use super::super::truncate_to_bound;
use super::{cast as cast_part, undefined_cast};

/// A collection as one of the same kind, a tuple as another.
pub(super) fn cast(value: &Value, from: &Type, to: &Type) -> Result<Value, Fault> {
    let whole = match (value, from, to) {
        (Value::List(list), Type::List(from, _), Type::List(to, _)) => {
            Value::List(cast_list(list, from, to)?)
        }
        (Value::Set(set), Type::Set(from, _), Type::Set(to, _)) => {
            let elements = set.iter().map(|x| cast_part(x, from, to));
            Value::Set(elements.collect::<Result<Set, Fault>>()?)
        }
        (Value::Map(map), Type::Map(from, _), Type::Map(to, _)) => {
            let entries = map
                .iter()
                .map(|(k, v)| Ok((cast_part(k, &from.0, &to.0)?, cast_part(v, &from.1, &to.1)?)));
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
        result.push(cast_part(&element, from, to)?);
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
        cast_part(&values[at], &source.ty, &target.ty)
    });
    Ok(Value::Tuple(attributes.collect::<Result<_, Fault>>()?))
}
