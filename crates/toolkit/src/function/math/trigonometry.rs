//! Circular functions and their inverses, in radians.

use eval::{NativeCall, NativeFn};
use tuple::Value;

use crate::function::arguments::{NativeArguments, NativeResult};
use crate::function::entry::math;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    math(
        "<float T> T sin(T f)",
        "The sine of an angle in radians.",
        |c| apply_float(c, f32::sin, f64::sin),
    ),
    math(
        "<float T> T cos(T f)",
        "The cosine of an angle in radians.",
        |c| apply_float(c, f32::cos, f64::cos),
    ),
    math(
        "<float T> T tan(T f)",
        "The tangent of an angle in radians.",
        |c| apply_float(c, f32::tan, f64::tan),
    ),
    math(
        "<float T> T asin(T f)",
        "The angle in radians, -PI/2 to PI/2, of a sine.",
        |c| apply_float(c, f32::asin, f64::asin),
    ),
    math(
        "<float T> T acos(T f)",
        "The angle in radians, 0 to PI, of a cosine.",
        |c| apply_float(c, f32::acos, f64::acos),
    ),
    math(
        "<float T> T atan(T f)",
        "The angle in radians, -PI/2 to PI/2, of a tangent.",
        |c| apply_float(c, f32::atan, f64::atan),
    ),
];

fn apply_float(
    c: &mut NativeCall<'_>,
    narrow: fn(f32) -> f32,
    wide: fn(f64) -> f64,
) -> NativeResult {
    Ok(match c.arg(0) {
        Value::Float32(x) => Value::Float32(narrow(*x)),
        Value::Float64(x) => Value::Float64(wide(*x)),
        other => panic!("{other:?} should be a float"),
    })
}
