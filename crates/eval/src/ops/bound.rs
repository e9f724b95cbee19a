//! Bounds: what does not fit a bounded type is dropped, what is longer than any value may be is a
//! fault.

#[cfg(debug_assertions)]
use std::cell::Cell;

use tuple::{Type, Value};

use super::faults::{self, LEN_MAX};
use crate::Fault;

#[cfg(debug_assertions)]
thread_local! {
    /// Greatest length on this thread, see [`with_len_max`].
    static LOWERED_LEN_MAX: Cell<usize> = const { Cell::new(LEN_MAX) };
}

/// Greatest length of a string, blob or list: [`LEN_MAX`], unless a test has lowered it.
#[inline]
pub fn len_max() -> usize {
    #[cfg(debug_assertions)]
    return LOWERED_LEN_MAX.get();
    #[cfg(not(debug_assertions))]
    LEN_MAX
}

/// Runs a test with a lower greatest length on this thread, so that growing beyond it takes no
/// gigabytes. Release builds have no such limit.
#[cfg(debug_assertions)]
pub fn with_len_max<R>(len_max: usize, test: impl FnOnce() -> R) -> R {
    let before = LOWERED_LEN_MAX.replace(len_max);
    let result = test();
    LOWERED_LEN_MAX.set(before);
    result
}

/// The length of a string, blob or list of `len` that grows by `more`.
///
/// # Errors
/// If it would be more than [`len_max`]; `noun` says what it is.
pub fn grown_len(len: usize, more: usize, noun: &str) -> Result<usize, Fault> {
    len.checked_add(more)
        .filter(|grown| *grown <= len_max())
        .ok_or_else(|| faults::too_long(noun))
}

/// The value cut to the outermost bound of a type.
pub fn truncate_to_bound(mut value: Value, ty: &Type) -> Value {
    match (&mut value, ty) {
        (Value::RString(s), Type::BoundedRString(n)) => s.0.truncate(*n as usize),
        (Value::List(l), Type::List(_, Some(n))) => l.truncate(*n as usize),
        (Value::Set(s), Type::Set(_, Some(n))) if s.len() > *n as usize => {
            *s = std::mem::take(s).into_iter().take(*n as usize).collect();
        }
        (Value::Map(m), Type::Map(_, Some(n))) if m.len() > *n as usize => {
            *m = std::mem::take(m).into_iter().take(*n as usize).collect();
        }
        _ => {}
    }
    value
}

/// Whether a type has an outermost bound, so that a value may have to be cut to it.
pub fn is_bounded(ty: &Type) -> bool {
    matches!(
        ty,
        Type::BoundedRString(_)
            | Type::List(_, Some(_))
            | Type::Set(_, Some(_))
            | Type::Map(_, Some(_))
    )
}

/// Whether a collection has as many elements as its type allows.
pub fn is_full(len: usize, ty: &Type) -> bool {
    match ty {
        Type::List(_, Some(n)) | Type::Set(_, Some(n)) | Type::Map(_, Some(n)) => {
            len >= *n as usize
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_grow_up_to_the_greatest_int32() {
        assert_eq!(grown_len(0, 0, "string"), Ok(0));
        assert_eq!(grown_len(LEN_MAX - 1, 1, "string"), Ok(2_147_483_647));
        let fault = grown_len(LEN_MAX, 1, "string").unwrap_err();
        let sentence = "a string cannot be longer than 2147483647, the greatest int32";
        assert_eq!(fault.message(), sentence);
        assert_eq!(fault.kind(), crate::FaultKind::Limit);
        assert!(grown_len(1 << 30, 1 << 30, "list").is_err());
        assert!(grown_len(usize::MAX, 1, "blob").is_err());
    }
}
