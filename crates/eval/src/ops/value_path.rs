//! Parts of a value: reading, changing and replacing what a chain of steps leads to.

use std::borrow::Cow;

use tuple::{List, Type, Value};

use super::{access, faults, is_full};
use crate::Fault;

/// One step into a value, its index computed.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueStep {
    /// An attribute of a tuple.
    Field(u32),
    /// An element of a list or blob, or the value of a map's key.
    Index(Value),
    /// Content of an optional.
    Unwrap,
}

/// Part of a value to which the steps lead, borrowed unless it is a packed scalar.
///
/// # Errors
/// If a step leads to nothing: an index out of range, a missing key, null.
pub fn read_part<'v>(value: &'v Value, keys: &[ValueStep]) -> Result<Cow<'v, Value>, Fault> {
    let mut here = value;
    for (at, key) in keys.iter().enumerate() {
        here = match (key, here) {
            (ValueStep::Field(index), Value::Tuple(attributes)) => attribute(attributes, *index)?,
            (ValueStep::Unwrap, Value::Optional(held)) => {
                held.as_deref().ok_or_else(faults::null_unwrapped)?
            }
            (ValueStep::Index(index), _) => match access::index_ref(here, index)? {
                Cow::Borrowed(inner) => inner,
                Cow::Owned(inner) => return read_part(&inner, &keys[at + 1..]).map(owned),
            },
            _ => return Err(faults::mistyped("a step into a value")),
        };
    }
    Ok(Cow::Borrowed(here))
}

fn owned<'v>(value: Cow<'_, Value>) -> Cow<'v, Value> {
    Cow::Owned(value.into_owned())
}

fn attribute(attributes: &[Value], index: u32) -> Result<&Value, Fault> {
    attributes
        .get(index as usize)
        .ok_or_else(|| faults::mistyped("an attribute"))
}

/// Runs a change on the part to which the steps lead. Every step must exist.
///
/// # Errors
/// If a step leads to nothing; the fault of the change.
pub fn change_part<R>(
    value: &mut Value,
    keys: &[ValueStep],
    work: &mut dyn FnMut(&mut Value) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let Some((key, rest)) = keys.split_first() else {
        return work(value);
    };
    match (key, value) {
        (ValueStep::Field(index), Value::Tuple(attributes)) => {
            let inner = attributes.get_mut(*index as usize);
            change_part(
                inner.ok_or_else(|| faults::mistyped("an attribute"))?,
                rest,
                work,
            )
        }
        (ValueStep::Unwrap, Value::Optional(held)) => change_part(
            held.as_deref_mut().ok_or_else(faults::null_unwrapped)?,
            rest,
            work,
        ),
        (ValueStep::Index(at), Value::Map(map)) => change_part(
            map.get_mut(at).ok_or_else(|| faults::missing_key(at))?,
            rest,
            work,
        ),
        (ValueStep::Index(at), Value::List(list)) => {
            let at = access::position(at, "list", list.len())?;
            if let List::Any(values) = list {
                return change_part(&mut values[at], rest, work);
            }
            let mut packed = list.get(at).ok_or_else(|| faults::mistyped("an element"))?;
            let result = change_part(&mut packed, rest, work)?;
            list.set(at, packed);
            Ok(result)
        }
        (ValueStep::Index(at), Value::Blob(blob)) => {
            let at = access::position(at, "blob", blob.len())?;
            let mut byte = Value::Uint8(blob[at]);
            let result = change_part(&mut byte, rest, work)?;
            if let Value::Uint8(byte) = byte {
                blob[at] = byte;
            }
            Ok(result)
        }
        _ => Err(faults::mistyped("a step into a value")),
    }
}

/// Assigns to the part to which the steps lead. If the last step is a key that the map does not
/// have, it is inserted, unless the map is bounded and full. `ty` is the type of `value`.
///
/// # Errors
/// If a step before the last leads to nothing, or the last one is an index out of range.
pub fn store_part(
    value: &mut Value,
    ty: &Type,
    keys: &[ValueStep],
    new: Value,
) -> Result<(), Fault> {
    let Some((ValueStep::Index(at), path)) = keys.split_last() else {
        return replace_part(value, keys, new);
    };
    let container = type_at(ty, path);
    let mut new = Some(new);
    change_part(value, path, &mut |inner| {
        let new = new
            .take()
            .ok_or_else(|| faults::mistyped("an assignment"))?;
        match inner {
            Value::Map(map) => {
                if !container.is_some_and(|ty| is_full(map.len(), ty)) || map.contains(at) {
                    map.insert(at.clone(), new);
                }
                Ok(())
            }
            _ => replace_part(inner, &[ValueStep::Index(at.clone())], new),
        }
    })
}

fn replace_part(value: &mut Value, keys: &[ValueStep], new: Value) -> Result<(), Fault> {
    let mut new = Some(new);
    change_part(value, keys, &mut |old| {
        if let Some(new) = new.take() {
            *old = new;
        }
        Ok(())
    })
}

/// Takes out the part to which the steps lead, to be put back by [`change_part`]. A scalar is
/// copied; of any other value a placeholder stays behind.
///
/// # Errors
/// If a step leads to nothing.
pub fn take_part(value: &mut Value, keys: &[ValueStep]) -> Result<Value, Fault> {
    change_part(value, keys, &mut |inner| {
        let is_scalar = !matches!(
            inner,
            Value::RString(_)
                | Value::UString(_)
                | Value::Blob(_)
                | Value::Xml(_)
                | Value::List(_)
                | Value::Set(_)
                | Value::Map(_)
                | Value::Tuple(_)
                | Value::Optional(_)
        );
        if is_scalar {
            return Ok(inner.clone());
        }
        Ok(std::mem::replace(inner, Value::Boolean(false)))
    })
}

/// The type of what the steps lead to.
fn type_at<'t>(ty: &'t Type, keys: &[ValueStep]) -> Option<&'t Type> {
    keys.iter().try_fold(ty, |ty, key| match (key, ty) {
        (ValueStep::Field(index), Type::Tuple(t)) => {
            t.attributes.get(*index as usize).map(|a| &a.ty)
        }
        (ValueStep::Index(_), Type::List(element, _)) => Some(&**element),
        (ValueStep::Index(_), Type::Map(entry, _)) => Some(&entry.1),
        (ValueStep::Unwrap, Type::Optional(held)) => Some(&**held),
        _ => None,
    })
}
