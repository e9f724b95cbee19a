//! How a type of SPL is held in registers: its parts, one IR value each.
//!
//! | type | parts |
//! | --- | --- |
//! | boolean, intN, uintN, floatN, decimal32/64, enum | one of its width |
//! | decimal128 | two 64-bit halves, low first |
//! | complex32/64 | real, imaginary |
//! | timestamp | seconds, nanoseconds, machine |
//! | rstring, ustring, blob, xml | address, length (ustring: in units) |
//! | list of scalars | address, length in elements |
//! | `optional<T>` | whether present, then the parts of T (any bits if absent) |
//! | tuple | those of its attributes |
//! | set, map, other lists | address of a [`tuple::Value`] |

use cranelift_codegen::ir::{self, types};
use tuple::Type;

/// Whether a type is a boolean, a number, a timestamp or an enum, whose values lie in a flat slot
/// alone.
pub fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Boolean | Type::Timestamp | Type::Enum(_)) || ty.is_numeric()
}

/// Whether a type is held as an address and a length.
pub fn is_view(ty: &Type) -> bool {
    match ty {
        Type::Blob | Type::Xml(_) => true,
        Type::List(element, _) => is_scalar(element),
        other => other.is_string(),
    }
}

/// Whether a type is held as the address of a [`tuple::Value`].
pub fn is_boxed(ty: &Type) -> bool {
    match ty {
        Type::Set(..) | Type::Map(..) => true,
        Type::List(element, _) => !is_scalar(element),
        _ => false,
    }
}

/// Whether no part of a type is an address, so that a value can be kept without regard to owners.
pub fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Tuple(t) => t.attributes.iter().all(|a| is_plain(&a.ty)),
        Type::Optional(inner) => is_plain(inner),
        other => is_scalar(other),
    }
}

/// The parts of a type.
pub fn parts(ty: &Type) -> Vec<ir::Type> {
    let mut out = Vec::new();
    push_parts(ty, &mut out);
    out
}

/// How many parts a type has.
pub fn part_count(ty: &Type) -> usize {
    match ty {
        Type::Void => 0,
        Type::Tuple(t) => t.attributes.iter().map(|a| part_count(&a.ty)).sum(),
        Type::Optional(inner) => 1 + part_count(inner),
        Type::Timestamp => 3,
        Type::Complex32 | Type::Complex64 | Type::Decimal128 => 2,
        other if is_view(other) => 2,
        _ => 1,
    }
}

fn push_parts(ty: &Type, out: &mut Vec<ir::Type>) {
    match ty {
        Type::Void => {}
        Type::Tuple(t) => t.attributes.iter().for_each(|a| push_parts(&a.ty, out)),
        Type::Optional(inner) => {
            out.push(types::I8);
            push_parts(inner, out);
        }
        Type::Timestamp => out.extend([types::I64, types::I32, types::I32]),
        Type::Decimal128 => out.extend([types::I64; 2]),
        Type::Complex32 => out.extend([types::F32; 2]),
        Type::Complex64 => out.extend([types::F64; 2]),
        other if is_view(other) => out.extend([types::I64; 2]),
        other => out.push(single_part(other)),
    }
}

/// The part of a type that has one.
pub fn single_part(ty: &Type) -> ir::Type {
    match ty {
        Type::Boolean | Type::Int8 | Type::Uint8 => types::I8,
        Type::Int16 | Type::Uint16 => types::I16,
        Type::Int32 | Type::Uint32 | Type::Decimal32 | Type::Enum(_) => types::I32,
        Type::Float32 => types::F32,
        Type::Float64 => types::F64,
        _ => types::I64,
    }
}

/// Offsets of a scalar's parts within its flat slot.
pub fn slot_offsets(ty: &Type) -> &'static [i32] {
    match ty {
        Type::Timestamp => &[0, 8, 12],
        Type::Complex64 | Type::Decimal128 => &[0, 8],
        Type::Complex32 => &[0, 4],
        _ => &[0],
    }
}

/// Bytes from one element of a list to the next, of a scalar or flat slot of this size and
/// alignment.
pub fn scalar_bytes(ty: &Type) -> i32 {
    match ty {
        Type::Timestamp | Type::Complex64 | Type::Decimal128 => 16,
        Type::Complex32 => 8,
        other => single_part(other).bytes() as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_parts() {
        let list = |ty: Type| Type::List(ty.into(), None);
        let tuple = tuple::TupleType::new([("a", Type::RString), ("b", Type::Timestamp)]);
        let types = [
            Type::Void,
            Type::Boolean,
            Type::Decimal128,
            Type::Complex32,
            Type::UString,
            list(Type::Int8),
            list(Type::RString),
            Type::Optional(Type::RString.into()),
            Type::Tuple(tuple.into()),
        ];
        for ty in types {
            assert_eq!(parts(&ty).len(), part_count(&ty), "{ty}");
        }
    }
}
