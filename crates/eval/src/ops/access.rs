//! Subscripts, slices and membership.

use std::borrow::Cow;

use tuple::{List, RString, Value};

use super::faults;
use crate::Fault;

/// `base[at]`: an element of a list, the value of a map's key, a one-character string, a blob's
/// byte.
///
/// # Errors
/// If the index is out of range, or the map lacks the key.
pub fn index(base: &Value, at: &Value) -> Result<Value, Fault> {
    index_ref(base, at).map(Cow::into_owned)
}

/// Like [`index`], without a copy where the element can be borrowed.
///
/// # Errors
/// If the index is out of range, or the map lacks the key.
pub fn index_ref<'v>(base: &'v Value, at: &Value) -> Result<Cow<'v, Value>, Fault> {
    match base {
        Value::List(list) => {
            let at = position(at, "list", list.len())?;
            element(list, at)
                .ok_or_else(|| faults::index_out_of_range(at as i128, "list", list.len()))
        }
        Value::Map(map) => map
            .get(at)
            .map(Cow::Borrowed)
            .ok_or_else(|| faults::missing_key(at)),
        Value::RString(s) => {
            let at = position(at, "string", s.len())?;
            Ok(Cow::Owned(Value::RString(RString(vec![s.0[at]]))))
        }
        Value::UString(s) => {
            let at = position(at, "string", s.len())?;
            Ok(Cow::Owned(Value::UString(s.slice(at, at + 1))))
        }
        Value::Blob(b) => {
            let at = position(at, "blob", b.len())?;
            Ok(Cow::Owned(Value::Uint8(b[at])))
        }
        _ => Err(faults::mistyped("a subscript")),
    }
}

/// An element of a list, borrowed unless it is packed.
pub fn element(list: &List, at: usize) -> Option<Cow<'_, Value>> {
    match list {
        List::Any(values) => values.get(at).map(Cow::Borrowed),
        _ => list.get(at).map(Cow::Owned),
    }
}

/// An integer as an index below `len`.
///
/// # Errors
/// If the integer is negative, or `len` or more; `noun` names the collection in the fault.
pub fn position(at: &Value, noun: &str, len: usize) -> Result<usize, Fault> {
    let at = integer(at)?;
    match usize::try_from(at) {
        Ok(index) if index < len => Ok(index),
        _ => Err(faults::index_out_of_range(at, noun, len)),
    }
}

/// `base[lower:upper]` of a list, string or blob.
///
/// # Errors
/// If the lower end is below 0 or beyond the end.
///
/// # Example
/// ```
/// use thalweg_eval::ops::slice;
/// use tuple::{List, Value};
///
/// let list = Value::List(List::Int32(vec![1, 2, 3]));
/// let tail = slice(&list, Some(&Value::Int32(1)), None);
/// assert_eq!(tail, Ok(Value::List(List::Int32(vec![2, 3]))));
/// assert!(slice(&list, Some(&Value::Int32(4)), None).is_err());
/// ```
pub fn slice(base: &Value, lower: Option<&Value>, upper: Option<&Value>) -> Result<Value, Fault> {
    let range = |noun, len| range(lower, upper, noun, len);
    Ok(match base {
        Value::List(list) => {
            let (from, to) = range("list", list.len())?;
            Value::List(list.slice(from, to))
        }
        Value::RString(s) => {
            let (from, to) = range("string", s.len())?;
            Value::RString(RString(s.0[from..to].to_vec()))
        }
        Value::UString(s) => {
            let (from, to) = range("string", s.len())?;
            Value::UString(s.slice(from, to))
        }
        Value::Blob(b) => {
            let (from, to) = range("blob", b.len())?;
            Value::Blob(b[from..to].to_vec())
        }
        _ => return Err(faults::mistyped("a slice")),
    })
}

/// The ends of a slice within `len`, the lower not above the upper.
fn range(
    lower: Option<&Value>,
    upper: Option<&Value>,
    noun: &str,
    len: usize,
) -> Result<(usize, usize), Fault> {
    let lower = lower.map_or(Ok(0), integer)?;
    let upper = upper.map_or(Ok(len as i128), integer)?;
    match usize::try_from(lower) {
        Ok(from) if from <= len => {
            let to = upper.clamp(lower, len as i128);
            Ok((from, to as usize))
        }
        _ => Err(faults::slice_start_out_of_range(lower, noun, len)),
    }
}

/// `item in collection`: an element of a list or set, a key of a map.
///
/// # Errors
/// If `collection` is no list, set or map, which the type checker excludes.
pub fn contains(collection: &Value, item: &Value) -> Result<bool, Fault> {
    match collection {
        Value::List(List::Any(values)) => Ok(values.iter().any(|x| x.spl_eq(item))),
        Value::List(list) => Ok(list.iter().any(|x| x.spl_eq(item))),
        Value::Set(set) => Ok(set.contains(item)),
        Value::Map(map) => Ok(map.contains(item)),
        _ => Err(faults::mistyped("`in`")),
    }
}

/// The number of an integer of any type.
fn integer(value: &Value) -> Result<i128, Fault> {
    value
        .as_integer()
        .ok_or_else(|| faults::mistyped("an index"))
}
