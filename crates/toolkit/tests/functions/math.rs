//! `spl.math`.

use eval::FaultKind;
use tuple::{Decimal64, Type, Value};

use crate::harness::*;

#[test]
fn constants_and_special_values() {
    gives("nanw()", &[], float32(f32::NAN));
    gives("nanl()", &[], float64(f64::NAN));
    gives("infw()", &[], float32(f32::INFINITY));
    gives("infl()", &[], float64(f64::INFINITY));
    gives("PI()", &[], float64(std::f64::consts::PI));
    gives("boolean isNaN(T f)", &[float64(f64::NAN)], boolean(true));
    gives("boolean isNaN(T f)", &[float32(1.0)], boolean(false));
    gives("boolean isNaN(T f)", &[tenths(5)], boolean(false));
    gives(
        "<complex T> boolean isNaN(T f)",
        &[complex(0.0, f64::NAN)],
        boolean(true),
    );
    gives(
        "boolean isInf(T f)",
        &[float32(f32::NEG_INFINITY)],
        boolean(true),
    );
    gives(
        "<complex T> boolean isInf(T f)",
        &[complex(f64::INFINITY, 0.0)],
        boolean(true),
    );
    gives("boolean isInf(T f)", &[float64(f64::NAN)], boolean(false));
}

#[test]
fn complex_parts() {
    gives("real(complex64 c)", &[complex(1.0, 2.0)], float64(1.0));
    gives("imag(complex64 c)", &[complex(1.0, 2.0)], float64(2.0));
    let z = Arg(Type::Complex32, Value::Complex32(1.5, -2.5));
    gives("real(complex32 c)", std::slice::from_ref(&z), float32(1.5));
    gives("imag(complex32 c)", &[z], float32(-2.5));
}

#[test]
fn roots() {
    gives("sqrt(T f)", &[int32(17)], int32(4));
    gives("sqrt(T f)", &[uint64(u64::MAX)], uint64(4294967296));
    gives("sqrt(T f)", &[int32(-1)], int32(0));
    gives("sqrt(T f)", &[float64(2.0)], float64(2f64.sqrt()));
    gives("sqrt(T f)", &[float64(-1.0)], float64(-f64::NAN));
    gives(
        "sqrt(T f)",
        &[Arg(
            Type::Decimal64,
            Value::Decimal64(Decimal64::from_i64(16)),
        )],
        Arg(Type::Decimal64, Value::Decimal64(Decimal64::from_i64(4))),
    );
    gives("sqrt(T f)", &[complex(-4.0, 0.0)], complex(0.0, 2.0));
    gives("sqrt(T f)", &[complex(3.0, 4.0)], complex(2.0, 1.0));
    gives("sqrt(T f)", &[complex(0.0, 0.0)], complex(0.0, 0.0));
}

#[test]
fn powers_and_logarithms() {
    gives(
        "pow(T val, T pwr)",
        &[float64(2.0), float64(0.5)],
        float64(2f64.sqrt()),
    );
    gives("pow(T val, T pwr)", &[tenths(20), tenths(30)], tenths(80));
    let integral = "<integral T> T pow(T val, T pwr)";
    gives(integral, &[int32(2), int32(10)], int32(1024));
    gives(integral, &[int8(2), int8(7)], int8(127));
    gives(integral, &[int32(0), int32(-1)], int32(i32::MAX));
    gives(integral, &[uint64(2), uint64(40)], uint64(1 << 40));
    gives(integral, &[int32(2), int32(-1)], int32(0));
    gives(integral, &[int32(-3), int32(3)], int32(-27));
    gives("exp(T val)", &[float64(1.0)], float64(std::f64::consts::E));
    gives("exp(T val)", &[float32(0.0)], float32(1.0));
    for name in ["log(T f)", "ln(T f)"] {
        gives(name, &[float64(std::f64::consts::E)], float64(1.0));
        gives(name, &[float64(0.0)], float64(f64::NEG_INFINITY));
    }
    for name in ["log10(T f)", "lg(T f)"] {
        gives(name, &[float64(1000.0)], float64(3.0));
        gives(name, &[tenths(1000)], tenths(20));
    }
}

#[test]
fn circular_functions() {
    gives("sin(T f)", &[float64(0.0)], float64(0.0));
    gives("cos(T f)", &[float32(0.0)], float32(1.0));
    gives("tan(T f)", &[float64(1.0)], float64(1f64.tan()));
    gives(
        "asin(T f)",
        &[float64(1.0)],
        float64(std::f64::consts::FRAC_PI_2),
    );
    gives("asin(T f)", &[float64(2.0)], float64(2f64.asin()));
    gives("acos(T f)", &[float64(1.0)], float64(0.0));
    gives(
        "atan(T f)",
        &[float64(f64::INFINITY)],
        float64(std::f64::consts::FRAC_PI_2),
    );
}

#[test]
fn rounding() {
    gives("ceil(T f)", &[float64(-1.5)], float64(-1.0));
    gives("ceil(decimal64 f)", &[tenths(11)], tenths(20));
    gives("floor(T f)", &[float64(-1.5)], float64(-2.0));
    gives("round(T f)", &[float64(2.5)], float64(3.0));
    gives("round(T f)", &[float64(-2.5)], float64(-3.0));
    gives("round(T f)", &[float32(0.4)], float32(0.0));
    gives(
        "fmod(T x, T y)",
        &[float64(-7.0), float64(3.0)],
        float64(-1.0),
    );
    gives(
        "fmod(T x, T y)",
        &[float64(1.0), float64(0.0)],
        float64(-f64::NAN),
    );
    gives("T abs(T f)", &[int32(-5)], int32(5));
    gives("T abs(T f)", &[int8(-128)], int8(-128));
    gives("T abs(T f)", &[float64(-0.5)], float64(0.5));
    gives("T abs(T f)", &[tenths(-15)], tenths(15));
    gives("abs(complex64 f)", &[complex(3.0, -4.0)], float64(5.0));
    gives("abs(list<T> f)", &[ints([-1, 2])], ints([1, 2]));
    gives(
        "abs(list<T> f)",
        &[upto(3, ints([-1, 2]))],
        upto(3, ints([1, 2])),
    );
}

#[test]
fn extremes() {
    gives("max(T v1, T v2)", &[r("b"), r("ab")], r("b"));
    gives(
        "min(T v1, T v2)",
        &[boolean(true), boolean(false)],
        boolean(false),
    );
    gives(
        "max(T v1, T v2)",
        &[float64(f64::NAN), float64(1.0)],
        float64(1.0),
    );
    gives("max(list<T> vals)", &[ints([3, 9, -2])], int32(9));
    gives("min(list<T> vals)", &[ints([3, 9, -2])], int32(-2));
    gives("max(list<T> vals)", &[strings(["a", "c", "b"])], r("c"));
    gives("max(list<T> vals)", &[list([ts(1, 5), ts(1, 6)])], ts(1, 6));
    gives("max(list<T> vals)", &[empty(Type::RString)], r(""));
    gives("min(list<T> vals)", &[empty(Type::Float64)], float64(0.0));
    gives(
        "min(list<T> vals)",
        &[list([float64(2.0), float64(f64::NAN)])],
        float64(2.0),
    );
}

#[test]
fn sums_and_averages() {
    gives("sum(list<T> vals)", &[ints([1, 2, 3])], int32(6));
    gives(
        "sum(list<T> vals)",
        &[list([int8(100), int8(100)])],
        int8(-56),
    );
    gives(
        "sum(list<T> vals)",
        &[empty(Type::Decimal64)],
        tenths(0).typed(Type::Decimal64),
    );
    gives(
        "sum(list<T> vals)",
        &[list([complex(1.0, 2.0), complex(3.0, -1.0)])],
        complex(4.0, 1.0),
    );
    gives("avg(list<T> vals)", &[ints([1, 2])], int32(1));
    gives("avg(list<T> vals)", &[ints([-1, -2])], int32(-1));
    gives(
        "avg(list<T> vals)",
        &[list([int8(100), int8(120)])],
        int8(110),
    );
    gives(
        "avg(list<T> vals)",
        &[list([float64(1.0), float64(2.0)])],
        float64(1.5),
    );
    gives(
        "avg(list<T> vals)",
        &[list([complex(1.0, 2.0), complex(3.0, 4.0)])],
        complex(2.0, 3.0),
    );
    gives("avg(list<T> vals)", &[empty(Type::Int64)], int64(0));
}

#[test]
fn deviations_have_the_type_of_the_elements() {
    let floats = list([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(float64));
    gives(
        "stddev(list<T> vals)",
        std::slice::from_ref(&floats),
        float64(2.0),
    );
    gives(
        "stddev(list<T> vals, boolean sample)",
        &[floats.clone(), boolean(true)],
        float64((32f64 / 7.0).sqrt()),
    );
    gives(
        "stddev(list<T> vals)",
        &[ints([2, 4, 4, 4, 5, 5, 7, 9])],
        int32(2),
    );
    gives("stddev(list<T> vals)", &[ints([1, 2])], int32(0));
    gives(
        "stddev(list<T> vals)",
        &[empty(Type::Float32)],
        float32(0.0),
    );
    gives(
        "stddev(list<T> vals, boolean sample)",
        &[list([float64(1.0)]), boolean(true)],
        float64(-f64::NAN),
    );
    let kind = faults(
        "stddev(list<T> vals, boolean sample)",
        &[ints([1]), boolean(true)],
        Type::Int32,
        "divided by zero",
    );
    assert_eq!(kind, FaultKind::Division);
}

#[test]
fn ranks() {
    gives(
        "kthelem(list<T> vals, uint32 k)",
        &[ints([5, 1, 3]), uint32(1)],
        int32(3),
    );
    gives(
        "kthelem(list<T> vals, uint32 k)",
        &[strings(["b", "a"]), uint32(0)],
        r("a"),
    );
    faults(
        "kthelem(list<T> vals, uint32 k)",
        &[ints([5]), uint32(1)],
        Type::Int32,
        "index 1",
    );
    gives("median(list<T> vals)", &[ints([5, 1, 3])], int32(3));
    gives("median(list<T> vals)", &[ints([4, 1, 3, 8])], int32(3));
    gives(
        "median(list<T> vals)",
        &[list([float64(1.0), float64(2.0)])],
        float64(1.5),
    );
    gives(
        "median(list<T> vals)",
        &[list([tenths(10), tenths(20)])],
        tenths(15),
    );
    gives(
        "median(list<T> vals)",
        &[strings(["d", "a", "c", "b"])],
        r("c"),
    );
    gives("median(list<T> vals)", &[empty(Type::Timestamp)], ts(0, 0));
}

#[test]
fn random_numbers_repeat_with_the_seed() {
    let mut pe = Pe::default();
    gives_with(&mut pe, "srand(int32 seed)", &[int32(42)], int32(0));
    let (first, _) = run(&mut pe, "random()", &[], &Type::Float64);
    run(&mut pe, "srand(int32 seed)", &[int32(42)], &Type::Int32);
    let (again, _) = run(&mut pe, "random()", &[], &Type::Float64);
    assert!(first.spl_eq(&again));
    let floats = Type::List(Type::Float64.into(), None);
    let (three, _) = run(&mut pe, "random(int32 cnt)", &[int32(3)], &floats);
    assert!(matches!(three, Value::List(l) if l.len() == 3));
    gives_with(
        &mut pe,
        "random(int32 cnt)",
        &[int32(-1)],
        empty(Type::Float64),
    );
    faults(
        "random(int32 cnt)",
        &[int32(i32::MAX)],
        floats,
        "longer than",
    );
}
