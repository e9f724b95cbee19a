//! Bounds: what does not fit a bounded type is dropped.

use tuple::{Type, Value};

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
