//! Constants, tests of special values, parts of complex numbers, random numbers.

use eval::{NativeCall, NativeFn};
use tuple::{List, Value};

use crate::function::arguments::{NativeArguments, NativeResult, checked_count};
use crate::function::entry::math;

pub(super) const FUNCTIONS: &[NativeFn] = &[
    math("float32 nanw()", "Not-a-number as a float32.", |_| {
        Ok(Value::Float32(f32::NAN))
    }),
    math("float64 nanl()", "Not-a-number as a float64.", |_| {
        Ok(Value::Float64(f64::NAN))
    }),
    math("float32 infw()", "Infinity as a float32.", |_| {
        Ok(Value::Float32(f32::INFINITY))
    }),
    math("float64 infl()", "Infinity as a float64.", |_| {
        Ok(Value::Float64(f64::INFINITY))
    }),
    math(
        "float64 PI()",
        "The ratio of a circle's circumference to its diameter.",
        |_| Ok(Value::Float64(std::f64::consts::PI)),
    ),
    math("float32 real(complex32 c)", "The real part.", |c| {
        part(c, true)
    }),
    math("float64 real(complex64 c)", "The real part.", |c| {
        part(c, true)
    }),
    math("float32 imag(complex32 c)", "The imaginary part.", |c| {
        part(c, false)
    }),
    math("float64 imag(complex64 c)", "The imaginary part.", |c| {
        part(c, false)
    }),
    math(
        "<floatingpoint T> boolean isNaN(T f)",
        "Whether the number is not-a-number.",
        |c| Ok(Value::Boolean(is_nan(c.arg(0)))),
    ),
    math(
        "<complex T> boolean isNaN(T f)",
        "Whether a part of the number is not-a-number.",
        |c| Ok(Value::Boolean(is_nan(c.arg(0)))),
    ),
    math(
        "<floatingpoint T> boolean isInf(T f)",
        "Whether the number is infinite, of either sign.",
        |c| Ok(Value::Boolean(is_infinite(c.arg(0)))),
    ),
    math(
        "<complex T> boolean isInf(T f)",
        "Whether a part of the number is infinite, of either sign.",
        |c| Ok(Value::Boolean(is_infinite(c.arg(0)))),
    ),
    math(
        "stateful int32 srand(int32 seed)",
        "Seeds the operator's random numbers: the same seed gives the same numbers. Gives 0.",
        |c| {
            let seed = c.int32(0);
            c.services.seed(seed);
            Ok(Value::Int32(0))
        },
    ),
    math(
        "stateful float64 random()",
        "The next random number, from 0 up to but not including 1.",
        |c| Ok(Value::Float64(c.services.random())),
    ),
    math(
        "stateful list<float64> random(int32 cnt)",
        "The next `cnt` random numbers, each from 0 up to but not including 1.",
        |c| {
            let count = checked_count(c.int32(0))?;
            let numbers = (0..count).map(|_| c.services.random()).collect();
            c.bounded_list(List::Float64(numbers))
        },
    ),
];

fn part(c: &mut NativeCall<'_>, real: bool) -> NativeResult {
    Ok(match c.arg(0) {
        Value::Complex32(re, im) => Value::Float32(if real { *re } else { *im }),
        Value::Complex64(re, im) => Value::Float64(if real { *re } else { *im }),
        other => panic!("{other:?} should be complex"),
    })
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Float32(x) => x.is_nan(),
        Value::Float64(x) => x.is_nan(),
        Value::Decimal32(x) => x.is_nan(),
        Value::Decimal64(x) => x.is_nan(),
        Value::Decimal128(x) => x.is_nan(),
        Value::Complex32(re, im) => re.is_nan() || im.is_nan(),
        Value::Complex64(re, im) => re.is_nan() || im.is_nan(),
        _ => false,
    }
}

fn is_infinite(value: &Value) -> bool {
    match value {
        Value::Float32(x) => x.is_infinite(),
        Value::Float64(x) => x.is_infinite(),
        Value::Decimal32(x) => x.is_infinite(),
        Value::Decimal64(x) => x.is_infinite(),
        Value::Decimal128(x) => x.is_infinite(),
        Value::Complex32(re, im) => re.is_infinite() || im.is_infinite(),
        Value::Complex64(re, im) => re.is_infinite() || im.is_infinite(),
        _ => false,
    }
}
