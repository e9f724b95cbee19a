//! Infix operators on two values.

use std::cmp::Ordering;

use graph::BinaryOp;
use tuple::{RString, UString, Value};

use super::integer::IntegerArithmetic;
use super::{complex, faults, grown_len, timestamp};
use crate::Fault;

/// `left op right` of two values of one type (shifts: any two integers). A comparison of whole
/// collections, tuples or optionals is a comparison too.
///
/// # Errors
/// A division or remainder by zero of integers.
///
/// # Example
/// ```
/// use graph::BinaryOp;
/// use thalweg_eval::ops::binary;
/// use tuple::Value;
///
/// let sum = binary(BinaryOp::Add, &Value::Int8(127), &Value::Int8(1));
/// assert_eq!(sum, Ok(Value::Int8(-128)));
/// ```
pub fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Fault> {
    match op {
        BinaryOp::Shl | BinaryOp::Shr => shift(op, left, right),
        _ if op.is_comparison() => Ok(Value::Boolean(compare(op, left, right))),
        _ => arithmetic(op, left, right),
    }
}

/// Compares two values of the same type.
pub fn compare(op: BinaryOp, left: &Value, right: &Value) -> bool {
    let ordered = |holds: fn(Ordering) -> bool| left.spl_cmp(right).is_some_and(holds);
    match op {
        BinaryOp::Ne => !left.spl_eq(right),
        BinaryOp::Lt => ordered(Ordering::is_lt),
        BinaryOp::Le => ordered(Ordering::is_le),
        BinaryOp::Gt => ordered(Ordering::is_gt),
        BinaryOp::Ge => ordered(Ordering::is_ge),
        _ => left.spl_eq(right),
    }
}

fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Fault> {
    use Value::{
        Boolean, Complex32, Complex64, Decimal32, Decimal64, Decimal128, Float32, Float64, Int8,
        Int16, Int32, Int64, Timestamp, Uint8, Uint16, Uint32, Uint64,
    };
    Ok(match (left, right) {
        (Int8(a), Int8(b)) => Int8(a.apply(op, *b)?),
        (Int16(a), Int16(b)) => Int16(a.apply(op, *b)?),
        (Int32(a), Int32(b)) => Int32(a.apply(op, *b)?),
        (Int64(a), Int64(b)) => Int64(a.apply(op, *b)?),
        (Uint8(a), Uint8(b)) => Uint8(a.apply(op, *b)?),
        (Uint16(a), Uint16(b)) => Uint16(a.apply(op, *b)?),
        (Uint32(a), Uint32(b)) => Uint32(a.apply(op, *b)?),
        (Uint64(a), Uint64(b)) => Uint64(a.apply(op, *b)?),
        (Float32(a), Float32(b)) => Float32(float_arithmetic(op, *a, *b)?),
        (Float64(a), Float64(b)) => Float64(float_arithmetic(op, *a, *b)?),
        (Decimal32(a), Decimal32(b)) => Decimal32(float_arithmetic(op, *a, *b)?),
        (Decimal64(a), Decimal64(b)) => Decimal64(float_arithmetic(op, *a, *b)?),
        (Decimal128(a), Decimal128(b)) => Decimal128(float_arithmetic(op, *a, *b)?),
        (Complex32(a, b), Complex32(c, d)) => {
            let (re, im) = complex::complex32(op, (*a, *b), (*c, *d))?;
            Complex32(re, im)
        }
        (Complex64(a, b), Complex64(c, d)) => {
            let (re, im) = complex::complex64(op, (*a, *b), (*c, *d))?;
            Complex64(re, im)
        }
        (Timestamp(a), Timestamp(b)) => Timestamp(timestamp::arithmetic(op, *a, *b)?),
        (Boolean(a), Boolean(b)) => Boolean(logical(op, *a, *b)?),
        _ if op == BinaryOp::Add => return concatenation(left, right),
        _ => return Err(faults::mistyped("the operator")),
    })
}

/// The four kinds of arithmetic that floating-point numbers have.
fn float_arithmetic<T>(op: BinaryOp, a: T, b: T) -> Result<T, Fault>
where
    T: std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<Output = T>,
{
    Ok(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        _ => return Err(faults::mistyped("the operator")),
    })
}

fn logical(op: BinaryOp, a: bool, b: bool) -> Result<bool, Fault> {
    Ok(match op {
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        _ => return Err(faults::mistyped("the operator")),
    })
}

fn concatenation(left: &Value, right: &Value) -> Result<Value, Fault> {
    match (left, right) {
        (Value::RString(a), Value::RString(b)) => {
            grown_len(a.0.len(), b.0.len(), "string")?;
            Ok(Value::RString(RString([&a.0[..], &b.0[..]].concat())))
        }
        (Value::UString(a), Value::UString(b)) => {
            grown_len(a.0.len(), b.0.len(), "string")?;
            Ok(Value::UString(UString([&a.0[..], &b.0[..]].concat())))
        }
        _ => Err(faults::mistyped("the operator +")),
    }
}

fn shift(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, Fault> {
    fn shift_by<T: IntegerArithmetic>(op: BinaryOp, number: T, amount: u32) -> T {
        if op == BinaryOp::Shl {
            number.shift_left(amount)
        } else {
            number.shift_right(amount)
        }
    }
    let amount = low_bits(right).ok_or_else(|| faults::mistyped("a shift"))?;
    Ok(match left {
        Value::Int8(x) => Value::Int8(shift_by(op, *x, amount)),
        Value::Int16(x) => Value::Int16(shift_by(op, *x, amount)),
        Value::Int32(x) => Value::Int32(shift_by(op, *x, amount)),
        Value::Int64(x) => Value::Int64(shift_by(op, *x, amount)),
        Value::Uint8(x) => Value::Uint8(shift_by(op, *x, amount)),
        Value::Uint16(x) => Value::Uint16(shift_by(op, *x, amount)),
        Value::Uint32(x) => Value::Uint32(shift_by(op, *x, amount)),
        Value::Uint64(x) => Value::Uint64(shift_by(op, *x, amount)),
        _ => return Err(faults::mistyped("a shift")),
    })
}

/// The low 32 bits of an integer, sign-extended if it is narrower.
fn low_bits(amount: &Value) -> Option<u32> {
    Some(match amount {
        Value::Int8(x) => *x as u32,
        Value::Int16(x) => *x as u32,
        Value::Int32(x) => *x as u32,
        Value::Int64(x) => *x as u32,
        Value::Uint8(x) => u32::from(*x),
        Value::Uint16(x) => u32::from(*x),
        Value::Uint32(x) => *x,
        Value::Uint64(x) => *x as u32,
        _ => return None,
    })
}
