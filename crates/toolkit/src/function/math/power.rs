//! Roots, powers, logarithms.

use eval::{NativeCall, NativeFn};
use tuple::{Decimal32, Decimal64, Decimal128, Value};

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::complex::Complex;
use crate::function::entry::math;
use crate::function::number::{NumericScalar, WideNumber, numeric};

const LN: &str = "The natural logarithm; not-a-number below zero, minus infinity at zero.";
const LOG10: &str = "The logarithm to base 10; not-a-number below zero, minus infinity at zero.";

pub(super) const FUNCTIONS: &[NativeFn] = &[
    math(
        "<numeric T> T sqrt(T f)",
        "The square root: of an integer the float64 root cut off, of a complex number the one with \
         a real part that is not negative.",
        |c| {
            numeric!(c.arg_type(0), T => {
                Ok(T::narrow(T::from_value(c.arg(0)).widen().sqrt()).to_value())
            })
        },
    ),
    math(
        "<floatingpoint T> T pow(T val, T pwr)",
        "The number to a power.",
        |c| {
            Ok(match (c.arg(0), c.arg(1)) {
                (Value::Float32(x), Value::Float32(p)) => Value::Float32(x.powf(*p)),
                (Value::Float64(x), Value::Float64(p)) => Value::Float64(x.powf(*p)),
                (Value::Decimal32(x), Value::Decimal32(p)) => Value::Decimal32(x.pow(*p)),
                (Value::Decimal64(x), Value::Decimal64(p)) => Value::Decimal64(x.pow(*p)),
                (Value::Decimal128(x), Value::Decimal128(p)) => Value::Decimal128(x.pow(*p)),
                (other, _) => panic!("{other:?} should be floating-point"),
            })
        },
    ),
    math(
        "<integral T> T pow(T val, T pwr)",
        "The number to a power, computed in float64 and cut off to an integer; beyond the type, the \
         nearest number of it.",
        |c| {
            let number = |at| c.arg(at).as_integer().expect("an integer") as f64;
            let (x, power) = (number(0), number(1));
            // A number beyond the type becomes the nearest one, as in a cast.
            let real = x.powf(power);
            Ok(match c.arg(0) {
                Value::Int8(_) => Value::Int8(real as i8),
                Value::Int16(_) => Value::Int16(real as i16),
                Value::Int32(_) => Value::Int32(real as i32),
                Value::Int64(_) => Value::Int64(real as i64),
                Value::Uint8(_) => Value::Uint8(real as u8),
                Value::Uint16(_) => Value::Uint16(real as u16),
                Value::Uint32(_) => Value::Uint32(real as u32),
                _ => Value::Uint64(real as u64),
            })
        },
    ),
    math(
        "<complex T> T pow(T val, T pwr)",
        "The number to a power; zero to any power is zero.",
        |c| {
            Ok(match (c.arg(0), c.arg(1)) {
                (&Value::Complex32(a, b), &Value::Complex32(p, q)) => {
                    let z: [f32; 2] = Complex::from([a, b]).pow([p, q].into()).into();
                    z.to_value()
                }
                (&Value::Complex64(a, b), &Value::Complex64(p, q)) => {
                    let z: [f64; 2] = Complex::from([a, b]).pow([p, q].into()).into();
                    z.to_value()
                }
                (other, _) => panic!("{other:?} should be complex"),
            })
        },
    ),
    math("<floatingpoint T> T exp(T val)", "e to a power.", |c| {
        apply_real(c, EXP)
    }),
    math("<complex T> T exp(T val)", "e to a power.", |c| {
        apply_complex(c, Complex::exp)
    }),
    math("<floatingpoint T> T log(T f)", LN, |c| {
        apply_real(c, NATURAL_LOG)
    }),
    math("<complex T> T log(T f)", "The natural logarithm.", |c| {
        apply_complex(c, Complex::ln)
    }),
    math("<floatingpoint T> T ln(T f)", LN, |c| {
        apply_real(c, NATURAL_LOG)
    }),
    math("<complex T> T ln(T f)", "The natural logarithm.", |c| {
        apply_complex(c, Complex::ln)
    }),
    math("<floatingpoint T> T log10(T f)", LOG10, |c| {
        apply_real(c, DECIMAL_LOG)
    }),
    math(
        "<complex T> T log10(T f)",
        "The logarithm to base 10.",
        |c| apply_complex(c, Complex::log10),
    ),
    math("<floatingpoint T> T lg(T f)", LOG10, |c| {
        apply_real(c, DECIMAL_LOG)
    }),
    math("<complex T> T lg(T f)", "The logarithm to base 10.", |c| {
        apply_complex(c, Complex::log10)
    }),
];

/// A function in each floating-point type.
pub(super) struct RealFunction {
    pub(super) float32: fn(f32) -> f32,
    pub(super) float64: fn(f64) -> f64,
    pub(super) decimal32: fn(Decimal32) -> Decimal32,
    pub(super) decimal64: fn(Decimal64) -> Decimal64,
    pub(super) decimal128: fn(Decimal128) -> Decimal128,
}

const EXP: RealFunction = RealFunction {
    float32: f32::exp,
    float64: f64::exp,
    decimal32: Decimal32::exp,
    decimal64: Decimal64::exp,
    decimal128: Decimal128::exp,
};

const NATURAL_LOG: RealFunction = RealFunction {
    float32: f32::ln,
    float64: f64::ln,
    decimal32: Decimal32::ln,
    decimal64: Decimal64::ln,
    decimal128: Decimal128::ln,
};

const DECIMAL_LOG: RealFunction = RealFunction {
    float32: f32::log10,
    float64: f64::log10,
    decimal32: Decimal32::log10,
    decimal64: Decimal64::log10,
    decimal128: Decimal128::log10,
};

pub(super) fn apply_real(c: &mut NativeCall<'_>, function: RealFunction) -> NativeResult {
    Ok(match c.arg(0) {
        Value::Float32(x) => Value::Float32((function.float32)(*x)),
        Value::Float64(x) => Value::Float64((function.float64)(*x)),
        Value::Decimal32(x) => Value::Decimal32((function.decimal32)(*x)),
        Value::Decimal64(x) => Value::Decimal64((function.decimal64)(*x)),
        Value::Decimal128(x) => Value::Decimal128((function.decimal128)(*x)),
        other => panic!("{other:?} should be floating-point"),
    })
}

fn apply_complex(c: &mut NativeCall<'_>, function: fn(Complex) -> Complex) -> NativeResult {
    Ok(match *c.arg(0) {
        Value::Complex32(re, im) => {
            let z: [f32; 2] = function([re, im].into()).into();
            z.to_value()
        }
        Value::Complex64(re, im) => {
            let z: [f64; 2] = function([re, im].into()).into();
            z.to_value()
        }
        ref other => panic!("{other:?} should be complex"),
    })
}
