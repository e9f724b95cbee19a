//! decimal64, of which compiled code does the most ordinary itself: all of it at its edges.

use std::sync::Arc;

use graph::{BinaryOp, Body, Expr, ExprKind, PortIndex, UnaryOp};
use proptest::prelude::*;
use tuple::{Decimal64, TupleType, Type, Value};

use crate::rig::{Rig, schema, submit};

/// Every operator on the attribute `a` and something else.
fn operations(b: &Expr) -> Vec<Expr> {
    use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mul, Ne, Sub};
    let a = || Expr::attribute(PortIndex(0), 0, Type::Decimal64);
    let ops = [Add, Sub, Mul, Div, Lt, Le, Gt, Ge, Eq, Ne];
    let pairs = [(a(), b.clone()), (b.clone(), a())];
    let mut all: Vec<Expr> = pairs
        .iter()
        .flat_map(|(x, y)| ops.map(|op| Expr::binary(op, x.clone(), y.clone())))
        .collect();
    let negated = ExprKind::Unary(UnaryOp::Negate, a().into());
    all.push(Expr::new(negated, Type::Decimal64));
    all
}

/// Compiled code gives the interpreter's bits, where `b` is an attribute or a constant.
fn agree(constant: Option<Decimal64>, pairs: impl Iterator<Item = (Decimal64, Decimal64)>) {
    let input = schema([("a", Type::Decimal64), ("b", Type::Decimal64)]);
    let b = match constant {
        Some(b) => Expr::constant(Value::Decimal64(b), Type::Decimal64),
        None => Expr::attribute(PortIndex(0), 1, Type::Decimal64),
    };
    let exprs = operations(&b);
    let named = exprs.iter().enumerate();
    let output = TupleType::new(named.map(|(at, e)| (format!("a{at}"), e.ty.clone())));
    let output = Arc::new(output);
    let rig = Rig {
        inputs: vec![(input, 0)],
        outputs: vec![output.clone()],
        ..Rig::default()
    };
    let tuple = Expr::new(ExprKind::Tuple(exprs), Type::Tuple(output));
    let body = Body {
        locals: Vec::new(),
        stmts: vec![submit(PortIndex(0), tuple)],
    };
    let row = |(a, b)| {
        let both = [Value::Decimal64(a), Value::Decimal64(b)];
        vec![Some(Value::Tuple(Box::new(both)))]
    };
    let rows: Vec<_> = pairs.map(row).collect();
    rig.agree(&body, &rows);
}

/// Numbers at the ends of what is short, of exponents, of zeros; words that no operation writes.
fn edges() -> Vec<Decimal64> {
    let texts = [
        "0",
        "-0",
        "0.00",
        "-0.00",
        "0e-398",
        "-0e-398",
        "5e-398",
        "-5e-398",
        "1",
        "-1",
        "3",
        "1.10",
        "-1.10",
        "-2.50",
        "2.50",
        "2.5",
        "1e-390",
        "9007199254740991",
        "9007199254740992",
        "-9007199254740991",
        "9999999999999999",
        "-9999999999999999",
        "0.1234567890123456",
        "1e300",
        "1e369",
        "9e384",
        "94906265",
        "94906267",
        "inf",
        "-inf",
        "nan",
        "-nan",
    ];
    let words = [
        0,
        1 << 63,
        0x6C7F_FFFF_FFFF_FFFF,
        0x7800_0000_0000_0007,
        0xFE00_0000_0000_0001,
    ];
    let read = texts.map(|text| text.parse().expect("a decimal"));
    read.into_iter().chain(words.map(Decimal64)).collect()
}

#[test]
fn edges_of_attributes() {
    let edges = edges();
    let pairs = edges
        .iter()
        .flat_map(|&a| edges.iter().map(move |&b| (a, b)));
    agree(None, pairs);
}

#[test]
fn edges_of_constants() {
    for b in edges() {
        agree(Some(b), edges().into_iter().map(|a| (a, b)));
    }
}

/// Any words, and numbers of which many have one exponent and few digits.
fn decimals() -> impl Strategy<Value = Decimal64> {
    let sign = any::<bool>();
    let money = (sign, 0..1_000_000u64, -3..1i32);
    let long = (
        sign,
        9_000_000_000_000_000..10_000_000_000_000_000u64,
        -3..1i32,
    );
    let scaled =
        |(negative, coefficient, exponent)| Decimal64::scaled(negative, coefficient, exponent);
    prop_oneof![
        3 => money.prop_map(scaled),
        2 => long.prop_map(scaled),
        1 => any::<u64>().prop_map(Decimal64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn any_of_them(
        pairs in prop::collection::vec((decimals(), decimals()), 200),
        constant in decimals(),
    ) {
        agree(None, pairs.iter().copied());
        agree(Some(constant), pairs.into_iter());
    }
}
