//! Changes of collections that statements of lowered operators make.

use tuple::{Type, Value};

use super::{grown_len, is_full};
use crate::Fault;

/// Adds an element at the end of a list, or to a set that does not have it, unless a bound of the
/// type leaves no room.
///
/// # Errors
/// The list would be too long.
pub fn insert_element(collection: &mut Value, ty: &Type, element: Value) -> Result<(), Fault> {
    match collection {
        Value::List(list) if !is_full(list.len(), ty) => {
            grown_len(list.len(), 1, "list")?;
            list.push(element);
        }
        Value::Set(set) if !is_full(set.len(), ty) => {
            set.insert(element);
        }
        _ => {}
    }
    Ok(())
}

/// Removes all elements of a list or set, which keeps its memory.
pub fn clear_elements(collection: &mut Value) {
    match collection {
        Value::List(list) => list.clear(),
        Value::Set(set) => set.clear(),
        _ => {}
    }
}
