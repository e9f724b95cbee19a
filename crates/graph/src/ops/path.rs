//! Parts of a value: reading, changing and replacing what a chain of steps leads to.

use std::borrow::Cow;

use tuple::{List, Type, Value};

use crate::Fault;

use super::{access, is_full, sentence};

/// One step into a value, its index computed.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// An attribute of a tuple.
    Field(u32),
    /// An element of a list or blob, or the value of a map's key.
    At(Value),
    /// What an optional holds.
    Held,
}

/// What the steps lead to, borrowed unless it is a packed scalar.
pub fn read<'v>(value: &'v Value, keys: &[Key]) -> Result<Cow<'v, Value>, Fault> {
    let mut here = value;
    for (at, key) in keys.iter().enumerate() {
        here = match (key, here) {
            (Key::Field(index), Value::Tuple(attributes)) => attribute(attributes, *index)?,
            (Key::Held, Value::Optional(held)) => held.as_deref().ok_or_else(sentence::null)?,
            (Key::At(index), _) => match access::index_ref(here, index)? {
                Cow::Borrowed(inner) => inner,
                Cow::Owned(inner) => return read(&inner, &keys[at + 1..]).map(owned),
            },
            _ => return Err(sentence::mistyped("a step into a value")),
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
        .ok_or_else(|| sentence::mistyped("an attribute"))
}

/// Runs a change on what the steps lead to. Every step must exist.
pub fn change<R>(
    value: &mut Value,
    keys: &[Key],
    work: &mut dyn FnMut(&mut Value) -> Result<R, Fault>,
) -> Result<R, Fault> {
    let Some((key, rest)) = keys.split_first() else {
        return work(value);
    };
    match (key, value) {
        (Key::Field(index), Value::Tuple(attributes)) => {
            let inner = attributes.get_mut(*index as usize);
            change(
                inner.ok_or_else(|| sentence::mistyped("an attribute"))?,
                rest,
                work,
            )
        }
        (Key::Held, Value::Optional(held)) => {
            change(held.as_deref_mut().ok_or_else(sentence::null)?, rest, work)
        }
        (Key::At(at), Value::Map(map)) => change(
            map.get_mut(at).ok_or_else(|| sentence::missing_key(at))?,
            rest,
            work,
        ),
        (Key::At(at), Value::List(list)) => {
            let at = access::position(at, "list", list.len())?;
            if let List::Any(values) = list {
                return change(&mut values[at], rest, work);
            }
            let mut packed = list
                .get(at)
                .ok_or_else(|| sentence::mistyped("an element"))?;
            let result = change(&mut packed, rest, work)?;
            list.set(at, packed);
            Ok(result)
        }
        (Key::At(at), Value::Blob(blob)) => {
            let at = access::position(at, "blob", blob.len())?;
            let mut byte = Value::Uint8(blob[at]);
            let result = change(&mut byte, rest, work)?;
            if let Value::Uint8(byte) = byte {
                blob[at] = byte;
            }
            Ok(result)
        }
        _ => Err(sentence::mistyped("a step into a value")),
    }
}

/// Assigns to what the steps lead to. A last step to a key that the map does not have inserts it,
/// unless the map is bounded and full; `ty` is the type of `value`.
pub fn store(value: &mut Value, ty: &Type, keys: &[Key], new: Value) -> Result<(), Fault> {
    let Some((Key::At(at), path)) = keys.split_last() else {
        return replace(value, keys, new);
    };
    let container = type_at(ty, path);
    let mut new = Some(new);
    change(value, path, &mut |inner| {
        let new = new
            .take()
            .ok_or_else(|| sentence::mistyped("an assignment"))?;
        match inner {
            Value::Map(map) => {
                if !container.is_some_and(|ty| is_full(map.len(), ty)) || map.contains(at) {
                    map.insert(at.clone(), new);
                }
                Ok(())
            }
            _ => replace(inner, &[Key::At(at.clone())], new),
        }
    })
}

fn replace(value: &mut Value, keys: &[Key], new: Value) -> Result<(), Fault> {
    let mut new = Some(new);
    change(value, keys, &mut |old| {
        if let Some(new) = new.take() {
            *old = new;
        }
        Ok(())
    })
}

/// Takes out what the steps lead to, to be put back by [`change`]. A scalar is copied; of anything
/// else a placeholder stays behind.
pub fn take(value: &mut Value, keys: &[Key]) -> Result<Value, Fault> {
    change(value, keys, &mut |inner| {
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
fn type_at<'t>(ty: &'t Type, keys: &[Key]) -> Option<&'t Type> {
    keys.iter().try_fold(ty, |ty, key| match (key, ty) {
        (Key::Field(index), Type::Tuple(t)) => t.attributes.get(*index as usize).map(|a| &a.ty),
        (Key::At(_), Type::List(element, _)) => Some(&**element),
        (Key::At(_), Type::Map(entry, _)) => Some(&entry.1),
        (Key::Held, Type::Optional(held)) => Some(&**held),
        _ => None,
    })
}
