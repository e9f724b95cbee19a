//! Numbers: every operator on every type at its edges.

use graph::{BinaryOp, Expr, ExprKind, PortIndex, Pos, UnaryOp};
use tuple::{Decimal32, Decimal64, Decimal128, Timestamp, Type, Value};

use crate::make::{COMPARISONS, INTEGERS};
use crate::rig::{Rig, schema};

/// Values of a type that are worth trying.
fn samples(ty: &Type) -> Vec<Value> {
    match ty {
        Type::Boolean => vec![Value::Boolean(false), Value::Boolean(true)],
        Type::Int8 => [0, 1, -1, 7, -7, 127, -128].map(Value::Int8).to_vec(),
        Type::Int16 => [0, 1, -1, 300, i16::MAX, i16::MIN]
            .map(Value::Int16)
            .to_vec(),
        Type::Int32 => [0, 1, -1, 33, -100_000, i32::MAX, i32::MIN]
            .map(Value::Int32)
            .to_vec(),
        Type::Int64 => [0, 1, -1, 65, 1 << 40, i64::MAX, i64::MIN]
            .map(Value::Int64)
            .to_vec(),
        Type::Uint8 => [0, 1, 9, 200, 255].map(Value::Uint8).to_vec(),
        Type::Uint16 => [0, 1, 40_000, u16::MAX].map(Value::Uint16).to_vec(),
        Type::Uint32 => [0, 1, 31, 3_000_000_000, u32::MAX]
            .map(Value::Uint32)
            .to_vec(),
        // The greatest ones round to floats, halfway cases included.
        Type::Uint64 => {
            let halfway = [
                0x8000_0000_0000_0400,
                0x8000_0000_0000_0401,
                0x8000_0000_0000_0c00,
            ];
            let simple = [0, 1, 64, 1 << 63, u64::MAX].into_iter();
            simple.chain(halfway).map(Value::Uint64).collect()
        }
        other => floats_and_others(other),
    }
}

fn floats_and_others(ty: &Type) -> Vec<Value> {
    match ty {
        Type::Float32 => {
            let odd = [
                0.0,
                -0.0,
                1.5,
                -2.25,
                3e9,
                -1e20,
                f32::NAN,
                f32::INFINITY,
                1e-40,
            ];
            odd.map(Value::Float32).to_vec()
        }
        Type::Float64 => {
            let odd = [
                0.0,
                -0.0,
                1.5,
                -2.75,
                3e9,
                -1e30,
                f64::NAN,
                f64::NEG_INFINITY,
                255.5,
            ];
            odd.map(Value::Float64).to_vec()
        }
        Type::Decimal32 => ["0", "1.10", "-2.5", "9999999", "nan"]
            .map(|t| decimal(t, Type::Decimal32))
            .to_vec(),
        Type::Decimal64 => ["0", "1.10", "-2.5", "1e300", "inf", "nan"]
            .map(|t| decimal(t, Type::Decimal64))
            .to_vec(),
        Type::Decimal128 => ["0", "1.10", "-2.5", "7", "nan"]
            .map(|t| decimal(t, Type::Decimal128))
            .to_vec(),
        Type::Complex32 => {
            let odd = [(0.0, 0.0), (1.5, -2.0), (f32::NAN, 1.0), (-0.0, 3.0)];
            odd.map(|(re, im)| Value::Complex32(re, im)).to_vec()
        }
        Type::Complex64 => {
            let odd = [(0.0, 0.0), (1.5, -2.0), (f64::INFINITY, 1.0), (-0.0, 3.0)];
            odd.map(|(re, im)| Value::Complex64(re, im)).to_vec()
        }
        Type::Timestamp => {
            let odd = [
                (0, 0, 0),
                (-5, 999_999_999, 1),
                (7, 1, -2),
                (i64::MAX, 5, 0),
            ];
            odd.map(|(seconds, nanos, machine)| {
                Value::Timestamp(Timestamp {
                    seconds,
                    nanos,
                    machine,
                })
            })
            .to_vec()
        }
        other => panic!("no samples of {other}"),
    }
}

fn decimal(text: &str, ty: Type) -> Value {
    match ty {
        Type::Decimal32 => Value::Decimal32(Decimal32::from_text(text.as_bytes()).unwrap()),
        Type::Decimal64 => Value::Decimal64(Decimal64::from_text(text.as_bytes()).unwrap()),
        _ => Value::Decimal128(Decimal128::from_text(text.as_bytes()).unwrap()),
    }
}

fn at(line: u32, e: Expr) -> Expr {
    e.with_pos(Pos {
        file: 0,
        line,
        column: 2,
    })
}

/// All pairs of samples through all operators; operands are attributes and, once more, constants.
fn all_pairs(ty: &Type, right: &Type, ops: &[BinaryOp]) {
    let input = schema([("a", ty.clone()), ("b", right.clone())]);
    let mut rig = Rig {
        inputs: vec![(input, 0)],
        ..Rig::default()
    };
    for a in samples(ty) {
        for b in samples(right) {
            for &op in ops {
                let left = Expr::attribute(PortIndex(0), 0, ty.clone());
                let row = Value::Tuple(Box::new([a.clone(), b.clone()]));
                let by_attribute = Expr::binary(
                    op,
                    left.clone(),
                    Expr::attribute(PortIndex(0), 1, right.clone()),
                );
                let by_constant = Expr::binary(op, left, Expr::constant(b.clone(), right.clone()));
                rig.values(vec![at(1, by_attribute)], vec![Some(row.clone())]);
                rig.values(vec![at(2, by_constant)], vec![Some(row)]);
            }
        }
    }
}

#[test]
fn integers_wrap_and_check_divisors() {
    use BinaryOp::{Add, BitAnd, BitOr, BitXor, Div, Mul, Rem, Sub};
    for ty in INTEGERS {
        all_pairs(&ty, &ty, &[Add, Sub, Mul, Div, Rem, BitAnd, BitOr, BitXor]);
    }
}

#[test]
fn shifts_count_modulo_the_width() {
    for ty in INTEGERS {
        for amount in [Type::Int8, Type::Uint32, Type::Int64] {
            all_pairs(&ty, &amount, &[BinaryOp::Shl, BinaryOp::Shr]);
        }
    }
}

#[test]
fn floats_and_decimals_and_complex_numbers() {
    use BinaryOp::{Add, Div, Mul, Sub};
    for ty in [
        Type::Float32,
        Type::Float64,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
        Type::Complex32,
        Type::Complex64,
    ] {
        all_pairs(&ty, &ty, &[Add, Sub, Mul, Div]);
    }
}

#[test]
fn scalars_compare() {
    for ty in INTEGERS {
        all_pairs(&ty, &ty, &COMPARISONS);
    }
    for ty in [
        Type::Boolean,
        Type::Float32,
        Type::Float64,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
        Type::Timestamp,
    ] {
        all_pairs(&ty, &ty, &COMPARISONS);
    }
    for ty in [Type::Complex32, Type::Complex64] {
        all_pairs(&ty, &ty, &[BinaryOp::Eq, BinaryOp::Ne]);
    }
}

#[test]
fn timestamps_carry() {
    all_pairs(
        &Type::Timestamp,
        &Type::Timestamp,
        &[BinaryOp::Add, BinaryOp::Sub],
    );
}

#[test]
fn prefix_operators() {
    let numbers = INTEGERS
        .into_iter()
        .chain([Type::Float64, Type::Decimal64, Type::Complex32]);
    let negated = numbers.map(|ty| (UnaryOp::Negate, ty));
    let others = INTEGERS.into_iter().map(|ty| (UnaryOp::Complement, ty));
    let others = others.chain([(UnaryOp::Not, Type::Boolean)]);
    for (op, ty) in negated.chain(others) {
        let input = schema([("a", ty.clone())]);
        let mut rig = Rig {
            inputs: vec![(input, 0)],
            ..Rig::default()
        };
        for a in samples(&ty) {
            let operand = Box::new(Expr::attribute(PortIndex(0), 0, ty.clone()));
            let e = Expr::new(ExprKind::Unary(op, operand), ty.clone());
            rig.values(vec![e], vec![Some(Value::Tuple(Box::new([a])))]);
        }
    }
}

#[test]
fn numbers_convert() {
    let numbers = INTEGERS.into_iter().chain([
        Type::Float32,
        Type::Float64,
        Type::Decimal32,
        Type::Decimal64,
        Type::Decimal128,
    ]);
    let numbers: Vec<Type> = numbers.collect();
    for from in &numbers {
        let input = schema([("a", from.clone())]);
        let mut rig = Rig {
            inputs: vec![(input, 0)],
            ..Rig::default()
        };
        for a in samples(from) {
            let source = Expr::attribute(PortIndex(0), 0, from.clone());
            let mut casts: Vec<Expr> = numbers
                .iter()
                .map(|to| source.clone().cast(to.clone()))
                .collect();
            casts.push(source.clone().cast(Type::RString));
            casts.push(source.cast(Type::UString));
            rig.values(casts, vec![Some(Value::Tuple(Box::new([a])))]);
        }
    }
}
