//! Integers that are made of integers by way of decimals, which compiled code computes in fixed
//! point: at the limits of that, and beyond.

use std::sync::Arc;

use graph::{BinaryOp, Body, Expr, ExprKind, PortIndex};
use proptest::prelude::*;
use tuple::{Decimal64, TupleType, Type, Value};

use crate::make::INTEGERS;
use crate::rig::{Rig, schema, submit};

/// Decimal64 of the attribute `a`, an int64, of `b`, an int32, or of `c`, a uint64.
fn decimal(attribute: u32) -> Expr {
    let types = [Type::Int64, Type::Int32, Type::Uint64];
    let ty = types[attribute as usize].clone();
    Expr::attribute(PortIndex(0), attribute, ty).cast(Type::Decimal64)
}

fn constant(text: &str) -> Expr {
    let value = Decimal64::from_text(text.as_bytes()).expect("a decimal");
    Expr::constant(Value::Decimal64(value), Type::Decimal64)
}

/// Sums and products with one place, many, none, too many; of few digits and of most.
fn trees() -> Vec<Expr> {
    use BinaryOp::{Add, Div, Mul, Sub};
    let (a, b) = (|| decimal(0), || decimal(1));
    let times = |text: &str| Expr::binary(Mul, a(), constant(text));
    let factors = [
        "0.908",
        "-1.25",
        "3",
        "0",
        "-0.00",
        "0.000000000000001",
        "0.0000000000000001",
        "9007199254740991",
        "-9007199254740991",
        "9007199254740992",
        "0.9007199254740991",
        "1e3",
        "1e-300",
        "inf",
        "nan",
        "2047",
        "2048.5",
    ];
    let mut trees: Vec<Expr> = factors.iter().map(|text| times(text)).collect();
    trees.extend(
        factors
            .iter()
            .map(|text| Expr::binary(Mul, constant(text), b())),
    );
    trees.extend([Mul, Add, Sub, Div].map(|op| Expr::binary(op, a(), b())));
    let half = |e| Expr::binary(Mul, e, constant("0.50"));
    trees.extend([
        Expr::binary(Sub, times("0.10"), half(b())),
        Expr::binary(Add, times("0.100"), half(b())),
        Expr::binary(
            Mul,
            Expr::binary(Add, a(), b()),
            Expr::binary(Sub, b(), a()),
        ),
        half(half(Expr::binary(Add, times("0.1"), times("-0.7")))),
        Expr::binary(Mul, decimal(2), constant("0.908")),
        Expr::binary(Sub, times("3"), times("3")),
    ]);
    trees
}

/// Compiled code gives the interpreter's integers, of every type.
fn agree(rows: impl Iterator<Item = (i64, i32)>) {
    let casts = trees().into_iter();
    let casts = casts.flat_map(|tree| INTEGERS.map(|ty| tree.clone().cast(ty)));
    let casts: Vec<Expr> = casts.collect();
    let named = casts.iter().enumerate();
    let output = TupleType::new(named.map(|(at, e)| (format!("a{at}"), e.ty.clone())));
    let output = Arc::new(output);
    let input = [("a", Type::Int64), ("b", Type::Int32), ("c", Type::Uint64)];
    let rig = Rig {
        inputs: vec![(schema(input), 0)],
        outputs: vec![output.clone()],
        ..Rig::default()
    };
    let tuple = Expr::new(ExprKind::Tuple(casts), Type::Tuple(output));
    let body = Body {
        locals: Vec::new(),
        stmts: vec![submit(PortIndex(0), tuple)],
    };
    let row = |(a, b): (i64, i32)| {
        let all = [Value::Int64(a), Value::Int32(b), Value::Uint64(a as u64)];
        vec![Some(Value::Tuple(Box::new(all)))]
    };
    let rows: Vec<_> = rows.map(row).collect();
    rig.agree(&body, &rows);
}

#[test]
fn limits() {
    let end = 1i64 << 53;
    // Where a number, or its product with a constant, begins to have more than 53 bits, 16 digits
    // or 64 bits.
    let limits = [
        end,
        end / 908,
        end / 125,
        end / 3,
        10i64.pow(16),
        i64::MAX / 908,
        end / 2048,
    ];
    let around = limits.into_iter().flat_map(|n| [n - 1, n, n + 1]);
    let a = around.chain([0, 1, 7, 999, 1000, 1001, i64::MAX]);
    let a = a.flat_map(|n| [n, -n]).chain([i64::MIN]);
    let b = [0, 1, -1, 999, -2_000_000, i32::MAX, i32::MIN];
    agree(a.flat_map(|a| b.map(|b| (a, b))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_integers(rows in prop::collection::vec((any::<i64>(), 0..64u32, any::<i32>()), 200)) {
        agree(rows.into_iter().map(|(a, shift, b)| (a >> shift, b)));
    }
}
