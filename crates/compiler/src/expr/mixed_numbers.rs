//! Numbers of different types side by side, where conditions allow them: Import's `filter`, and
//! conditions that are text until the program runs.
//!
//! Both are taken to a type that holds either, so that they are compared by value:
//!
//! | with | integer | float | decimal |
//! | --- | --- | --- | --- |
//! | integer | the wider; of mixed signs a signed type that holds both | float64 | decimal128 |
//! | float | float64 | float64 | decimal128 |
//! | decimal | decimal128 | decimal128 | the wider |
//!
//! A float64 does not hold every integer of 64 bits: compared with a float, those are decimal128.
//! No signed integer holds every uint64: compared with a signed one, it is decimal128 too. What is
//! computed of two integers is an integer, here an int64.

use std::sync::Arc;

use graph::BinaryOp;
use tuple::Type;

use super::compute_op::{applies, is_shift};
use super::convert::{cast_node, optional_of};
use super::literal::without_optional;

/// The operands of an operator, both of one type if they are numbers of different types and the
/// operator takes that.
pub(super) fn unify_numbers(
    op: BinaryOp,
    left: graph::Expr,
    right: graph::Expr,
) -> (graph::Expr, graph::Expr) {
    if is_shift(op) {
        return (left, right);
    }
    if matches!(op, BinaryOp::Eq | BinaryOp::Ne)
        && let Some(both) = unify_optionals(&left, &right)
    {
        return both;
    }
    let ty = common_number_type(&left.ty, &right.ty, op.is_comparison());
    match ty.filter(|ty| applies(op, ty)) {
        Some(ty) => (cast_node(left, &ty), cast_node(right, &ty)),
        None => (left, right),
    }
}

/// Operands of which one may be null or both, if their values are numbers of different types.
fn unify_optionals(left: &graph::Expr, right: &graph::Expr) -> Option<(graph::Expr, graph::Expr)> {
    if !left.ty.is_optional() && !right.ty.is_optional() {
        return None;
    }
    let ty = common_number_type(
        without_optional(&left.ty),
        without_optional(&right.ty),
        true,
    )?;
    let ty = optional_of(&ty);
    Some((cast_node(left.clone(), &ty), cast_node(right.clone(), &ty)))
}

/// Converts the operands of `in`: the value that is sought and the elements or keys get one type.
pub(super) fn unify_membership(
    item: graph::Expr,
    within: graph::Expr,
) -> (graph::Expr, graph::Expr) {
    let widened = match &within.ty {
        Type::List(e, bound) => common_number_type(&item.ty, e, true)
            .map(|ty| (ty.clone(), Type::List(Arc::new(ty), *bound))),
        Type::Set(e, bound) => common_number_type(&item.ty, e, true)
            .map(|ty| (ty.clone(), Type::Set(Arc::new(ty), *bound))),
        Type::Map(kv, bound) => common_number_type(&item.ty, &kv.0, true).map(|ty| {
            let entry = (ty.clone(), kv.1.clone());
            (ty, Type::Map(Arc::new(entry), *bound))
        }),
        _ => None,
    };
    match widened {
        Some((ty, all)) => (cast_node(item, &ty), cast_node(within, &all)),
        None => (item, within),
    }
}

/// The type that holds the numbers of two different ones; `None` if they are not two such types.
fn common_number_type(a: &Type, b: &Type, compares: bool) -> Option<Type> {
    if a == b || a.is_complex() || b.is_complex() || !a.is_numeric() || !b.is_numeric() {
        return None;
    }
    Some(match (integer(a), integer(b)) {
        (Some(a), Some(b)) => match common_integer(a, b) {
            Some(ty) => ty,
            None if compares => Type::Decimal128,
            None => Type::Int64,
        },
        (Some((_, 64)), None) if compares && b.is_float() => Type::Decimal128,
        (None, Some((_, 64))) if compares && a.is_float() => Type::Decimal128,
        _ if a.is_decimal() && b.is_decimal() => {
            let is_widest = *a == Type::Decimal128 || *b == Type::Decimal128;
            if is_widest {
                Type::Decimal128
            } else {
                Type::Decimal64
            }
        }
        _ if a.is_decimal() || b.is_decimal() => Type::Decimal128,
        _ => Type::Float64,
    })
}

/// Whether an integral type has a sign, and its bits.
fn integer(ty: &Type) -> Option<(bool, u32)> {
    Some(match ty {
        Type::Int8 => (true, 8),
        Type::Int16 => (true, 16),
        Type::Int32 => (true, 32),
        Type::Int64 => (true, 64),
        Type::Uint8 => (false, 8),
        Type::Uint16 => (false, 16),
        Type::Uint32 => (false, 32),
        Type::Uint64 => (false, 64),
        _ => return None,
    })
}

/// The integer that holds two others; `None` if it needs more than 64 bits.
fn common_integer((a_signed, a): (bool, u32), (b_signed, b): (bool, u32)) -> Option<Type> {
    // An unsigned number needs a bit more beside a signed one.
    let room = |signed: bool, bits: u32| if signed { bits } else { bits * 2 };
    let bits = match (a_signed, b_signed) {
        (true, false) | (false, true) => room(a_signed, a).max(room(b_signed, b)),
        _ => a.max(b),
    };
    Some(match (a_signed || b_signed, bits) {
        (true, 8) => Type::Int8,
        (true, 16) => Type::Int16,
        (true, 32) => Type::Int32,
        (true, 64) => Type::Int64,
        (false, 8) => Type::Uint8,
        (false, 16) => Type::Uint16,
        (false, 32) => Type::Uint32,
        (false, 64) => Type::Uint64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_is_held() {
        let cases = [
            (Type::Int32, Type::Int64, Some(Type::Int64)),
            (Type::Int8, Type::Uint8, Some(Type::Int16)),
            (Type::Int32, Type::Uint8, Some(Type::Int32)),
            (Type::Int64, Type::Uint32, Some(Type::Int64)),
            (Type::Int8, Type::Uint64, Some(Type::Decimal128)),
            (Type::Uint16, Type::Uint64, Some(Type::Uint64)),
            (Type::Int32, Type::Float32, Some(Type::Float64)),
            (Type::Int64, Type::Float32, Some(Type::Decimal128)),
            (Type::Float32, Type::Float64, Some(Type::Float64)),
            (Type::Decimal32, Type::Decimal64, Some(Type::Decimal64)),
            (Type::Float64, Type::Decimal32, Some(Type::Decimal128)),
            (Type::Int32, Type::Int32, None),
            (Type::Int32, Type::RString, None),
            (Type::Int32, Type::Timestamp, None),
            (Type::Float64, Type::Complex64, None),
        ];
        for (a, b, expected) in cases {
            assert_eq!(common_number_type(&a, &b, true), expected, "{a} and {b}");
            assert_eq!(common_number_type(&b, &a, true), expected, "{b} and {a}");
        }
        assert_eq!(
            common_number_type(&Type::Int64, &Type::Float32, false),
            Some(Type::Float64)
        );
        assert_eq!(
            common_number_type(&Type::Int64, &Type::Uint64, false),
            Some(Type::Int64)
        );
    }
}
