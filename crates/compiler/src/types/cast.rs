//! Rules for casts: the types that may be cast to each other.

use tuple::{TupleType, Type};

/// Whether `(to) e` is allowed for an `e` of type `from`. The conversion may still fail at run
/// time.
pub fn castable(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Void, _) | (_, Type::Void) => false,
        (Type::Optional(from), Type::Optional(to)) => castable(from, to),
        (from, Type::Optional(to)) => castable(from, to),
        (Type::Optional(_), to) => to.is_string(),
        (from, to) => {
            from == to || from.is_string() || to.is_string() || is_castable_value(from, to)
        }
    }
}

fn is_castable_value(from: &Type, to: &Type) -> bool {
    scalar(from, to) || collection(from, to) || of_tuples(from, to)
}

fn is_real(ty: &Type) -> bool {
    ty.is_numeric() && !ty.is_complex()
}

fn scalar(from: &Type, to: &Type) -> bool {
    is_real(from) && is_real(to)
        || from.is_complex() && to.is_complex()
        || from.is_enum() && to.is_integral()
        || from.is_integral() && to.is_enum()
        || matches!(
            (from, to),
            (Type::Float64, Type::Timestamp) | (Type::Timestamp, Type::Float64)
        )
}

fn collection(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::List(e, _), Type::Blob) | (Type::Blob, Type::List(e, _)) => **e == Type::Uint8,
        (Type::List(e, _), to) if to.is_complex() => is_real(e),
        (Type::List(a, _), Type::List(b, _)) | (Type::Set(a, _), Type::Set(b, _)) => element(a, b),
        (Type::Map(a, _), Type::Map(b, _)) => element(&a.0, &b.0) && element(&a.1, &b.1),
        _ => false,
    }
}

/// Elements of collections: equal, or primitive and castable.
fn element(from: &Type, to: &Type) -> bool {
    from == to || from.is_primitive() && to.is_primitive() && castable(from, to)
}

fn of_tuples(from: &Type, to: &Type) -> bool {
    match (from, to) {
        (Type::Tuple(from), Type::Tuple(to)) => by_name(from, to),
        (Type::Tuple(_) | Type::Xml(_), Type::Xml(_)) | (Type::Xml(_), Type::Tuple(_)) => true,
        _ => false,
    }
}

/// Every attribute of the target is in the source with the same type (or one that becomes it by
/// wrapping in optional, or a tuple for which the same holds).
fn by_name(from: &TupleType, to: &TupleType) -> bool {
    to.attributes.iter().all(|target| {
        from.find(&target.name)
            .is_some_and(|(_, source)| match (&source.ty, &target.ty) {
                (a, b) if a == b => true,
                (a, Type::Optional(b)) => a == &**b,
                (Type::Tuple(a), Type::Tuple(b)) => by_name(a, b),
                _ => false,
            })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn list(e: Type) -> Type {
        Type::List(Arc::new(e), None)
    }

    #[test]
    fn numbers_cast_among_themselves_but_not_to_complex() {
        assert!(castable(&Type::Int32, &Type::Decimal64));
        assert!(castable(&Type::Float32, &Type::Uint8));
        assert!(castable(&Type::Complex32, &Type::Complex64));
        assert!(!castable(&Type::Int32, &Type::Complex32));
        assert!(!castable(&Type::Boolean, &Type::Int32));
        assert!(!castable(&Type::Float32, &Type::Timestamp));
        assert!(castable(&Type::Float64, &Type::Timestamp));
    }

    #[test]
    fn strings_cast_to_and_from_all_but_void() {
        assert!(castable(&list(Type::Int32), &Type::RString));
        assert!(castable(&Type::UString, &list(Type::Int32)));
        assert!(!castable(&Type::Void, &Type::RString));
    }

    #[test]
    fn collections_cast_by_primitive_elements() {
        assert!(castable(&list(Type::Int32), &list(Type::Float64)));
        assert!(!castable(
            &list(list(Type::Int32)),
            &list(list(Type::Float64))
        ));
        assert!(castable(
            &list(list(Type::Int32)),
            &Type::List(Arc::new(list(Type::Int32)), Some(3))
        ));
        assert!(castable(&list(Type::Uint8), &Type::Blob));
        assert!(castable(&list(Type::Float64), &Type::Complex64));
        assert!(!castable(
            &list(Type::Int32),
            &Type::Set(Arc::new(Type::Int32), None)
        ));
    }

    #[test]
    fn tuples_cast_by_name() {
        let of = |attributes: &[(&str, Type)]| {
            Type::Tuple(Arc::new(TupleType::new(attributes.iter().cloned())))
        };
        let wide = of(&[("a", Type::Int32), ("b", Type::RString)]);
        assert!(castable(&wide, &of(&[("b", Type::RString)])));
        assert!(castable(
            &wide,
            &of(&[("b", Type::RString), ("a", Type::Int32)])
        ));
        assert!(!castable(&wide, &of(&[("a", Type::Int64)])));
        assert!(!castable(&wide, &of(&[("c", Type::Int32)])));
    }

    #[test]
    fn optional_needs_an_unwrap() {
        let optional = Type::Optional(Arc::new(Type::Int32));
        assert!(castable(&Type::Float64, &optional));
        assert!(castable(
            &optional,
            &Type::Optional(Arc::new(Type::Float64))
        ));
        assert!(!castable(&optional, &Type::Int32));
        assert!(castable(&optional, &Type::RString));
    }
}
