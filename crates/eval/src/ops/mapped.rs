//! Infix operators mapped over lists and maps.

use graph::{BinaryOp, MappedForm};
use tuple::{List, Map, Type, Value};

use super::{binary, faults, is_bounded, truncate_to_bound};
use crate::Fault;

/// `left op right` element by element. `result` is the type of the result: it says what an empty
/// list is a list of, and to which length elements of bounded strings are cut.
///
/// # Errors
/// If two lists differ in length, two maps in their keys, or an operation on elements faults.
pub fn binary_mapped(
    op: BinaryOp,
    form: MappedForm,
    left: &Value,
    right: &Value,
    result: &Type,
) -> Result<Value, Fault> {
    match (form, left, right) {
        (MappedForm::CollectionScalar, Value::List(a), _) => {
            over_list(a, result, |x| binary(op, &x, right))
        }
        (MappedForm::CollectionScalar, Value::Map(a), _) => {
            over_map(a, result, |_, x| binary(op, x, right))
        }
        (MappedForm::ScalarCollection, _, Value::List(b)) => {
            over_list(b, result, |x| binary(op, left, &x))
        }
        (MappedForm::ScalarCollection, _, Value::Map(b)) => {
            over_map(b, result, |_, x| binary(op, left, x))
        }
        (MappedForm::Elementwise, Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Err(faults::length_mismatch(a.len(), b.len()));
            }
            let mut others = b.iter();
            over_list(a, result, |x| {
                let other = others.next().expect("lists of equal length");
                binary(op, &x, &other)
            })
        }
        (MappedForm::Elementwise, Value::Map(a), Value::Map(b)) => over_map(a, result, |key, x| {
            let other = b
                .get(key)
                .ok_or_else(|| faults::key_missing_on_right(key))?;
            binary(op, x, other)
        }),
        _ => Err(faults::mistyped("the mapped operator")),
    }
}

fn over_list(
    list: &List,
    result: &Type,
    mut apply: impl FnMut(Value) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let Type::List(element, _) = result else {
        return Err(faults::mistyped("the mapped operator"));
    };
    let is_cut = is_bounded(element);
    let mut mapped = List::with_capacity(element, list.len());
    for value in list.iter() {
        let value = apply(value)?;
        mapped.push(match is_cut {
            true => truncate_to_bound(value, element),
            false => value,
        });
    }
    Ok(Value::List(mapped))
}

fn over_map(
    map: &Map,
    result: &Type,
    mut apply: impl FnMut(&Value, &Value) -> Result<Value, Fault>,
) -> Result<Value, Fault> {
    let Type::Map(entry, _) = result else {
        return Err(faults::mistyped("the mapped operator"));
    };
    let entries = map
        .iter()
        .map(|(k, v)| Ok((k.clone(), truncate_to_bound(apply(k, v)?, &entry.1))));
    Ok(Value::Map(entries.collect::<Result<Map, Fault>>()?))
}
