//! Results of the infix and prefix operators, with the values at the edges.

use graph::BinaryOp::{
    self, Add, BitAnd, BitOr, BitXor, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Rem, Shl, Shr, Sub,
};
use graph::{MappedForm, UnaryOp};
use proptest::prelude::*;
use thalweg_eval::{FaultKind, ops};
use tuple::Value::{
    Boolean, Complex64, Decimal64, Enum, Float32, Float64, Int8, Int16, Int32, Int64, Optional,
    RString, Timestamp, UString, Uint8, Uint16, Uint32, Uint64,
};
use tuple::{List, Map, Type, Value};

#[track_caller]
fn gives(op: BinaryOp, left: Value, right: Value, expected: Value) {
    let result = ops::binary(op, &left, &right).expect("no fault");
    assert_eq!(
        format!("{result:?}"),
        format!("{expected:?}"),
        "{left:?} {op:?} {right:?}"
    );
}

fn text(s: &str) -> Value {
    RString(s.into())
}

fn wide(s: &str) -> Value {
    UString(s.into())
}

fn decimal(s: &str) -> Value {
    Decimal64(tuple::Decimal64::from_text(s.as_bytes()).expect("a decimal"))
}

fn stamp(seconds: i64, nanos: u32, machine: i32) -> Value {
    Timestamp(tuple::Timestamp {
        seconds,
        nanos,
        machine,
    })
}

#[test]
fn integers_wrap_around() {
    gives(Add, Int8(127), Int8(1), Int8(-128));
    gives(Sub, Uint8(0), Uint8(1), Uint8(255));
    gives(
        Mul,
        Int16(300),
        Int16(300),
        Int16(300_i16.wrapping_mul(300)),
    );
    gives(Add, Int32(i32::MAX), Int32(1), Int32(i32::MIN));
    gives(Mul, Uint32(u32::MAX), Uint32(u32::MAX), Uint32(1));
    gives(Sub, Int64(i64::MIN), Int64(1), Int64(i64::MAX));
    gives(Add, Uint64(u64::MAX), Uint64(2), Uint64(1));
}

#[test]
fn division_truncates_and_wraps() {
    gives(Div, Int32(-7), Int32(2), Int32(-3));
    gives(Rem, Int32(-7), Int32(2), Int32(-1));
    gives(Rem, Int32(7), Int32(-2), Int32(1));
    gives(Div, Int8(-128), Int8(-1), Int8(-128));
    gives(Rem, Int64(i64::MIN), Int64(-1), Int64(0));
    gives(Div, Uint64(u64::MAX), Uint64(2), Uint64(u64::MAX / 2));
}

#[test]
fn integer_division_by_zero_is_a_fault() {
    for (left, right) in [
        (Int8(1), Int8(0)),
        (Int64(0), Int64(0)),
        (Uint16(9), Uint16(0)),
        (Uint64(9), Uint64(0)),
    ] {
        for op in [Div, Rem] {
            let fault = ops::binary(op, &left, &right).expect_err("a fault");
            assert_eq!(fault.kind(), FaultKind::Division);
            assert_eq!(fault.message(), "integer division by zero");
        }
    }
}

#[test]
fn shifts_count_modulo_the_width() {
    gives(Shl, Int8(1), Int32(7), Int8(-128));
    gives(Shl, Int8(1), Int32(9), Int8(0));
    gives(Shl, Int8(1), Int32(32), Int8(1));
    gives(Shr, Int8(-128), Int32(3), Int8(-16));
    gives(Shr, Uint8(128), Int32(3), Uint8(16));
    gives(Shl, Uint16(0xFFFF), Uint8(4), Uint16(0xFFF0));
    gives(Shl, Int32(1), Int64(33), Int32(2));
    gives(Shl, Int32(1), Int32(-1), Int32(i32::MIN));
    gives(Shl, Int64(1), Int8(-1), Int64(i64::MIN));
    gives(Shr, Int64(-1), Uint64(200), Int64(-1));
    gives(Shr, Uint64(u64::MAX), Int32(63), Uint64(1));
}

#[test]
fn bits() {
    gives(BitAnd, Uint8(0b1100), Uint8(0b1010), Uint8(0b1000));
    gives(BitOr, Int32(-8), Int32(3), Int32(-5));
    gives(BitXor, Int64(-1), Int64(1), Int64(-2));
    gives(BitAnd, Boolean(true), Boolean(false), Boolean(false));
    gives(BitOr, Boolean(true), Boolean(false), Boolean(true));
    gives(BitXor, Boolean(true), Boolean(true), Boolean(false));
}

#[test]
fn floats_are_ieee() {
    gives(Add, Float64(0.1), Float64(0.2), Float64(0.1 + 0.2));
    gives(Div, Float64(1.0), Float64(0.0), Float64(f64::INFINITY));
    gives(Div, Float32(1.0), Float32(3.0), Float32(1.0 / 3.0));
    gives(Mul, Float32(f32::MAX), Float32(2.0), Float32(f32::INFINITY));
    gives(Sub, Float64(0.0), Float64(0.0), Float64(0.0));
}

#[test]
fn comparisons_with_nan_are_false_but_for_unequal() {
    for op in [Lt, Le, Gt, Ge, Eq] {
        gives(op, Float64(f64::NAN), Float64(1.0), Boolean(false));
        gives(op, Float32(f32::NAN), Float32(f32::NAN), Boolean(false));
    }
    gives(Ne, Float64(f64::NAN), Float64(f64::NAN), Boolean(true));
    gives(Eq, Float64(-0.0), Float64(0.0), Boolean(true));
}

#[test]
fn orders() {
    gives(Lt, Boolean(false), Boolean(true), Boolean(true));
    gives(Gt, Enum(2), Enum(1), Boolean(true));
    gives(Lt, text("B"), text("a"), Boolean(true));
    gives(Lt, text("a"), text("ab"), Boolean(true));
    gives(Lt, wide("\u{FFFF}"), wide("\u{10000}"), Boolean(true));
    gives(Ge, stamp(1, 2, 9), stamp(1, 2, 3), Boolean(true));
    gives(Eq, stamp(1, 2, 9), stamp(1, 2, 3), Boolean(true));
    gives(
        Lt,
        Value::Blob(vec![1, 2]),
        Value::Blob(vec![1, 3]),
        Boolean(true),
    );
    gives(Lt, Uint64(1), Uint64(u64::MAX), Boolean(true));
}

#[test]
fn null_equals_null_alone() {
    let null = || Optional(None);
    let some = |x| Optional(Some(Box::new(Int32(x))));
    gives(Eq, null(), null(), Boolean(true));
    gives(Eq, null(), some(0), Boolean(false));
    gives(Ne, some(1), some(2), Boolean(true));
    gives(Eq, some(1), Int32(1), Boolean(true));
    gives(Lt, null(), some(1), Boolean(false));
    gives(Ge, null(), null(), Boolean(false));
}

#[test]
fn decimals_keep_their_scale() {
    gives(Div, decimal("10"), decimal("4"), decimal("2.5"));
    gives(Mul, decimal("1.10"), decimal("2.5"), decimal("2.750"));
    gives(Add, decimal("1.10"), decimal("2.90"), decimal("4.00"));
}

#[test]
fn strings_are_joined() {
    gives(Add, text("ab"), text("cd"), text("abcd"));
    gives(Add, wide("é"), wide("😀"), wide("é😀"));
}

#[test]
fn timestamps_carry_and_keep_the_left_machine() {
    gives(
        Add,
        stamp(1, 600_000_000, 4),
        stamp(2, 600_000_000, 5),
        stamp(4, 200_000_000, 4),
    );
    gives(
        Sub,
        stamp(1, 100_000_000, 4),
        stamp(2, 600_000_000, 5),
        stamp(-2, 500_000_000, 4),
    );
    gives(Sub, stamp(5, 0, 1), stamp(5, 0, 2), stamp(0, 0, 1));
}

#[test]
fn complex_numbers() {
    gives(
        Mul,
        Complex64(1.0, 2.0),
        Complex64(3.0, -1.0),
        Complex64(5.0, 5.0),
    );
    gives(
        Div,
        Complex64(-4.0, 2.0),
        Complex64(0.0, 2.0),
        Complex64(1.0, 2.0),
    );
    gives(
        Div,
        Complex64(4.0, 2.0),
        Complex64(2.0, 0.0),
        Complex64(2.0, 1.0),
    );
    gives(
        Sub,
        Complex64(1.0, 2.0),
        Complex64(3.0, 2.0),
        Complex64(-2.0, 0.0),
    );
    gives(Eq, Complex64(0.0, 1.0), Complex64(-0.0, 1.0), Boolean(true));
    let by_zero = ops::binary(Div, &Complex64(1.0, -1.0), &Complex64(0.0, 0.0));
    let infinite = Complex64(f64::INFINITY, f64::NEG_INFINITY);
    assert_eq!(by_zero, Ok(infinite));
    let product = ops::binary(
        Mul,
        &Complex64(f64::INFINITY, f64::NAN),
        &Complex64(1.0, 0.0),
    );
    assert!(matches!(product, Ok(Complex64(re, _)) if re.is_infinite()));
}

#[test]
fn prefix_operators() {
    let cases = [
        (UnaryOp::Not, Boolean(true), Boolean(false)),
        (UnaryOp::Negate, Int8(-128), Int8(-128)),
        (UnaryOp::Negate, Uint32(1), Uint32(u32::MAX)),
        (UnaryOp::Negate, Float64(0.0), Float64(-0.0)),
        (UnaryOp::Negate, decimal("1.50"), decimal("-1.50")),
        (UnaryOp::Negate, Complex64(1.0, -2.0), Complex64(-1.0, 2.0)),
        (UnaryOp::Complement, Uint16(1), Uint16(0xFFFE)),
        (UnaryOp::Complement, Int64(0), Int64(-1)),
    ];
    for (op, operand, expected) in cases {
        let result = ops::unary(op, &operand).expect("no fault");
        assert_eq!(format!("{result:?}"), format!("{expected:?}"));
    }
    assert!(ops::unary(UnaryOp::Not, &Int32(1)).is_err());
}

fn int32s(values: &[i32]) -> Value {
    Value::List(List::Int32(values.to_vec()))
}

fn map(entries: &[(i32, i32)]) -> Value {
    let entries = entries.iter().map(|&(k, v)| (Int32(k), Int32(v)));
    Value::Map(entries.collect::<Map>())
}

#[test]
fn operators_map_over_lists() {
    let ty = Type::List(Type::Int32.into(), None);
    let booleans = Type::List(Type::Boolean.into(), None);
    let left = ops::binary_mapped(
        Sub,
        MappedForm::CollectionScalar,
        &int32s(&[5, 7]),
        &Int32(1),
        &ty,
    );
    assert_eq!(left, Ok(int32s(&[4, 6])));
    let right = ops::binary_mapped(
        Sub,
        MappedForm::ScalarCollection,
        &Int32(1),
        &int32s(&[5, 7]),
        &ty,
    );
    assert_eq!(right, Ok(int32s(&[-4, -6])));
    let both = ops::binary_mapped(
        Mul,
        MappedForm::Elementwise,
        &int32s(&[2, 3]),
        &int32s(&[5, 7]),
        &ty,
    );
    assert_eq!(both, Ok(int32s(&[10, 21])));
    let less = ops::binary_mapped(
        Lt,
        MappedForm::ScalarCollection,
        &Int32(6),
        &int32s(&[5, 7]),
        &booleans,
    );
    assert_eq!(less, Ok(Value::List(List::Boolean(vec![false, true]))));
    let empty = ops::binary_mapped(
        Shl,
        MappedForm::ScalarCollection,
        &Int32(6),
        &int32s(&[]),
        &ty,
    );
    assert_eq!(empty, Ok(int32s(&[])));
}

#[test]
fn dotted_operators_need_partners() {
    let ty = Type::List(Type::Int32.into(), None);
    let fault = ops::binary_mapped(
        Add,
        MappedForm::Elementwise,
        &int32s(&[1]),
        &int32s(&[1, 2]),
        &ty,
    );
    let sentence = "a dotted operator needs lists of equal length, not 1 and 2";
    assert_eq!(fault.expect_err("a fault").message(), sentence);

    let ty = Type::Map((Type::Int32, Type::Int32).into(), None);
    let sum = ops::binary_mapped(
        Add,
        MappedForm::Elementwise,
        &map(&[(1, 5)]),
        &map(&[(2, 9), (1, 1)]),
        &ty,
    );
    assert_eq!(sum, Ok(map(&[(1, 6)])));
    let fault = ops::binary_mapped(
        Add,
        MappedForm::Elementwise,
        &map(&[(1, 5)]),
        &map(&[(2, 9)]),
        &ty,
    );
    let sentence = "the map to the right of a dotted operator has no key 1";
    assert_eq!(fault.expect_err("a fault").message(), sentence);
}

#[test]
fn an_operator_maps_over_the_values_of_a_map() {
    let ty = Type::Map((Type::Int32, Type::Int32).into(), None);
    let sum = ops::binary_mapped(
        Add,
        MappedForm::CollectionScalar,
        &map(&[(1, 5), (2, 6)]),
        &Int32(10),
        &ty,
    );
    assert_eq!(sum, Ok(map(&[(1, 15), (2, 16)])));
    assert_eq!(
        ops::unary(UnaryOp::Negate, &map(&[(1, 5)])),
        Ok(map(&[(1, -5)]))
    );
    assert_eq!(
        ops::unary(UnaryOp::Negate, &int32s(&[5, -1])),
        Ok(int32s(&[-5, 1]))
    );
}

fn binary(op: BinaryOp, left: &Value, right: &Value) -> Value {
    ops::binary(op, left, right).expect("no fault")
}

proptest! {
    #[test]
    fn subtraction_undoes_addition(a: i64, b: i64) {
        let sum = binary(Add, &Int64(a), &Int64(b));
        prop_assert_eq!(binary(Sub, &sum, &Int64(b)), Int64(a));
    }

    #[test]
    fn quotient_and_remainder_make_the_number(a: i16, b: i16) {
        prop_assume!(b != 0);
        let quotient = binary(Div, &Int16(a), &Int16(b));
        let product = binary(Mul, &quotient, &Int16(b));
        let remainder = binary(Rem, &Int16(a), &Int16(b));
        prop_assert_eq!(binary(Add, &product, &remainder), Int16(a));
    }

    #[test]
    fn narrow_shifts_are_those_of_32_bits(a: i8, amount in 0..32_u32) {
        let shifted = binary(Shl, &Int8(a), &Uint32(amount));
        prop_assert_eq!(shifted, Int8((i32::from(a) << amount) as i8));
        let shifted = binary(Shr, &Int8(a), &Uint32(amount));
        prop_assert_eq!(shifted, Int8((i32::from(a) >> amount) as i8));
    }

    #[test]
    fn exactly_one_of_less_equal_greater(a: u32, b: u32) {
        let holds = [Lt, Eq, Gt].map(|op| ops::compare(op, &Uint32(a), &Uint32(b)));
        prop_assert_eq!(holds.iter().filter(|&&h| h).count(), 1);
        prop_assert_eq!(ops::compare(Le, &Uint32(a), &Uint32(b)), holds[0] || holds[1]);
    }

    #[test]
    fn mapping_is_element_by_element(a in proptest::collection::vec(any::<i32>(), 0..9), b: i32) {
        let ty = Type::List(Type::Int32.into(), None);
        let mapped = ops::binary_mapped(Mul, MappedForm::CollectionScalar, &int32s(&a), &Int32(b), &ty);
        let expected: Vec<i32> = a.iter().map(|x| x.wrapping_mul(b)).collect();
        prop_assert_eq!(mapped, Ok(int32s(&expected)));
    }
}
