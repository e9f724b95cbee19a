//! Arguments of functions as the values that a function wants.

use crate::xquery::atomic_value::AtomicValue;
use crate::xquery::failure::{QueryResult, failure};
use crate::xquery::focus::Focus;
use crate::xquery::item::{Item, Sequence, at_most_one};

/// The text of an argument; the empty text for an empty sequence.
pub(super) fn string(arguments: &[Sequence], at: usize) -> QueryResult<String> {
    let item = at_most_one(&arguments[at], "a text")?;
    Ok(item.map_or(String::new(), Item::text))
}

/// The number of an argument; `None` for an empty sequence.
pub(super) fn number(arguments: &[Sequence], at: usize) -> QueryResult<Option<AtomicValue>> {
    let item = at_most_one(&arguments[at], "a number")?;
    item.map(|item| numeric(&item.atomize())).transpose()
}

/// A value that must be a number.
pub(super) fn numeric(value: &AtomicValue) -> QueryResult<AtomicValue> {
    let number = value.clone().into_arithmetic()?;
    match number.is_number() {
        true => Ok(number),
        false => Err(failure(format!("`{value}` is not a number"))),
    }
}

/// The number of an argument that must not be empty, as a double.
pub(super) fn double(arguments: &[Sequence], at: usize) -> QueryResult<f64> {
    match number(arguments, at)? {
        Some(number) => Ok(number.to_number()),
        None => Err(failure("a number is missing")),
    }
}

/// The first argument; the item of the focus if there is none.
pub(super) fn first_or_context(focus: &Focus, mut arguments: Vec<Sequence>) -> Sequence {
    match arguments.is_empty() {
        true => vec![focus.item.clone()],
        false => arguments.swap_remove(0),
    }
}
