//! Prefix operators, and the one that `++` adds.

use std::ops::Not;

use graph::UnaryOp;
use tuple::{Map, Set, Type, Value};

use super::{cast, faults};
use crate::Fault;

/// `op operand`; over a collection element by element (a map's values).
///
/// # Errors
/// If the operator is not defined for the operand, which the type checker excludes.
pub fn unary(op: UnaryOp, operand: &Value) -> Result<Value, Fault> {
    match operand {
        Value::List(list) => {
            let mut result = list.new_same_type();
            for element in list.iter() {
                result.push(unary(op, &element)?);
            }
            Ok(Value::List(result))
        }
        Value::Set(set) => {
            let elements = set.iter().map(|element| unary(op, element));
            Ok(Value::Set(elements.collect::<Result<Set, Fault>>()?))
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(k, v)| Ok((k.clone(), unary(op, v)?)));
            Ok(Value::Map(entries.collect::<Result<Map, Fault>>()?))
        }
        _ => scalar(op, operand).ok_or_else(|| faults::mistyped("the prefix operator")),
    }
}

fn scalar(op: UnaryOp, operand: &Value) -> Option<Value> {
    match op {
        UnaryOp::Not => match operand {
            Value::Boolean(x) => Some(Value::Boolean(!x)),
            _ => None,
        },
        UnaryOp::Negate => negate(operand),
        UnaryOp::Complement => complement(operand),
    }
}

fn negate(operand: &Value) -> Option<Value> {
    Some(match operand {
        Value::Int8(x) => Value::Int8(x.wrapping_neg()),
        Value::Int16(x) => Value::Int16(x.wrapping_neg()),
        Value::Int32(x) => Value::Int32(x.wrapping_neg()),
        Value::Int64(x) => Value::Int64(x.wrapping_neg()),
        Value::Uint8(x) => Value::Uint8(x.wrapping_neg()),
        Value::Uint16(x) => Value::Uint16(x.wrapping_neg()),
        Value::Uint32(x) => Value::Uint32(x.wrapping_neg()),
        Value::Uint64(x) => Value::Uint64(x.wrapping_neg()),
        Value::Float32(x) => Value::Float32(-x),
        Value::Float64(x) => Value::Float64(-x),
        Value::Decimal32(x) => Value::Decimal32(-*x),
        Value::Decimal64(x) => Value::Decimal64(-*x),
        Value::Decimal128(x) => Value::Decimal128(-*x),
        Value::Complex32(re, im) => Value::Complex32(-re, -im),
        Value::Complex64(re, im) => Value::Complex64(-re, -im),
        _ => return None,
    })
}

fn complement(operand: &Value) -> Option<Value> {
    Some(match operand {
        Value::Int8(x) => Value::Int8(x.not()),
        Value::Int16(x) => Value::Int16(x.not()),
        Value::Int32(x) => Value::Int32(x.not()),
        Value::Int64(x) => Value::Int64(x.not()),
        Value::Uint8(x) => Value::Uint8(x.not()),
        Value::Uint16(x) => Value::Uint16(x.not()),
        Value::Uint32(x) => Value::Uint32(x.not()),
        Value::Uint64(x) => Value::Uint64(x.not()),
        _ => return None,
    })
}

/// The number 1 of a numeric type, which `++` adds.
///
/// # Errors
/// If the type is not numeric, which the type checker excludes.
pub fn one_of_type(ty: &Type) -> Result<Value, Fault> {
    match ty {
        Type::Complex32 => Ok(Value::Complex32(1.0, 0.0)),
        Type::Complex64 => Ok(Value::Complex64(1.0, 0.0)),
        _ => cast(&Value::Int64(1), &Type::Int64, ty),
    }
}
