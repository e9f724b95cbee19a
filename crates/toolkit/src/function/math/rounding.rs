//! Rounding, absolute values, remainders.

use eval::NativeFn;
use tuple::{Decimal32, Decimal64, Decimal128, Value};

use super::power::{RealFunction, apply_real};
use crate::function::arguments::NativeArguments;
use crate::function::entry::math;
use crate::function::number::{NumericScalar, numeric};

pub(super) const FUNCTIONS: &[NativeFn] = &[
    math(
        "<float T> T ceil(T f)",
        "The least whole number that is not smaller.",
        |c| apply_real(c, CEIL),
    ),
    math(
        "decimal32 ceil(decimal32 f)",
        "The least whole number that is not smaller.",
        |c| apply_real(c, CEIL),
    ),
    math(
        "decimal64 ceil(decimal64 f)",
        "The least whole number that is not smaller.",
        |c| apply_real(c, CEIL),
    ),
    math(
        "<floatingpoint T> T floor(T f)",
        "The greatest whole number that is not greater.",
        |c| apply_real(c, FLOOR),
    ),
    math(
        "<floatingpoint T> T round(T f)",
        "The nearest whole number, halves away from zero.",
        |c| apply_real(c, ROUND),
    ),
    math(
        "<floatingpoint T> T abs(T f)",
        "The absolute value.",
        |c| numeric!(c.arg_type(0), T => Ok(T::from_value(c.arg(0)).magnitude().to_value())),
    ),
    math(
        "<integral T> T abs(T f)",
        "The absolute value; of the least integer itself.",
        |c| numeric!(c.arg_type(0), T => Ok(T::from_value(c.arg(0)).magnitude().to_value())),
    ),
    math("float32 abs(complex32 f)", "The distance from zero.", |c| {
        Ok(Value::Float32(
            <[f32; 2]>::from_value(c.arg(0)).magnitude()[0],
        ))
    }),
    math("float64 abs(complex64 f)", "The distance from zero.", |c| {
        Ok(Value::Float64(
            <[f64; 2]>::from_value(c.arg(0)).magnitude()[0],
        ))
    }),
    math(
        "<numeric T> list<T> abs(list<T> f)",
        "The absolute values; of complex numbers as complex numbers.",
        |c| {
            let element = c.element_type(0);
            let list = numeric!(element, T => {
                let numbers: &[T] = c.list(0).as_slice().unwrap_or_default();
                T::to_list(numbers.iter().map(|x| x.magnitude()).collect())
            });
            c.bounded_list(list)
        },
    ),
    math(
        "<float T> T fmod(T x, T y)",
        "What remains of `x` after taking away `y` a whole number of times, with the sign of `x`.",
        |c| {
            Ok(match (c.arg(0), c.arg(1)) {
                (Value::Float32(x), Value::Float32(y)) => Value::Float32(x % y),
                (Value::Float64(x), Value::Float64(y)) => Value::Float64(x % y),
                (other, _) => panic!("{other:?} should be a float"),
            })
        },
    ),
];

const CEIL: RealFunction = RealFunction {
    float32: f32::ceil,
    float64: f64::ceil,
    decimal32: Decimal32::ceil,
    decimal64: Decimal64::ceil,
    decimal128: Decimal128::ceil,
};

const FLOOR: RealFunction = RealFunction {
    float32: f32::floor,
    float64: f64::floor,
    decimal32: Decimal32::floor,
    decimal64: Decimal64::floor,
    decimal128: Decimal128::floor,
};

const ROUND: RealFunction = RealFunction {
    float32: f32::round,
    float64: f64::round,
    decimal32: Decimal32::round,
    decimal64: Decimal64::round,
    decimal128: Decimal128::round,
};
