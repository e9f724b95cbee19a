//! Strings, lists, sets and maps as values of input tuples.

use graph::{BinaryOp, Expr, ExprKind, PortIndex};
use tuple::{Type, Value};

use crate::make::*;
use crate::rig::{Rig, schema};

#[test]
fn strings_compare_and_join() {
    let long = "a string of more than sixteen bytes";
    let words = [
        "",
        "a",
        "ab",
        "b",
        "IBM",
        "IBN",
        "abcdefgh",
        "abcdefghi",
        long,
        "\u{1F600}é",
    ];
    let input = schema([
        ("a", Type::RString),
        ("b", Type::RString),
        ("u", Type::UString),
    ]);
    let mut rig = Rig {
        inputs: vec![(input, 0)],
        ..Rig::default()
    };
    for a in words {
        for b in words {
            let row = Value::Tuple(Box::new([string(a), string(b), ustring(b)]));
            let (x, y) = (attr(0, Type::RString), attr(1, Type::RString));
            let u = attr(2, Type::UString);
            let mut exprs: Vec<Expr> = Vec::new();
            for op in COMPARISONS {
                exprs.push(bin(op, x.clone(), y.clone()));
                exprs.push(bin(op, x.clone(), text(b)));
                exprs.push(bin(
                    op,
                    Expr::constant(ustring(a), Type::UString),
                    u.clone(),
                ));
            }
            exprs.push(add(add(x.clone(), text("-")), add(y.clone(), x.clone())));
            exprs.push(add(u.clone(), u));
            let bounded = |n| Type::BoundedRString(n);
            exprs.push(x.clone().cast(bounded(2)));
            exprs.push(add(x.clone().cast(bounded(3)), y.clone().cast(bounded(3))));
            exprs.push(x.clone().cast(bounded(2)).cast(Type::RString));
            exprs.push(contains(
                x.clone(),
                Expr::constant(
                    list(&Type::RString, [string("a"), string("IBM")]),
                    list_of(Type::RString),
                ),
            ));
            rig.values(exprs, vec![Some(row)]);
        }
    }
}

#[test]
fn strings_are_indexed_and_cut() {
    let input = schema([
        ("s", Type::RString),
        ("u", Type::UString),
        ("b", Type::Blob),
    ]);
    let mut rig = Rig {
        inputs: vec![(input, 0)],
        ..Rig::default()
    };
    let bytes = Value::Blob(vec![9, 8, 7, 6]);
    let row = Value::Tuple(Box::new([string("hello"), ustring("h\u{1F600}llo"), bytes]));
    let sources = [
        attr(0, Type::RString),
        attr(1, Type::UString),
        attr(2, Type::Blob),
    ];
    for source in sources {
        let element = if source.ty == Type::Blob {
            Type::Uint8
        } else {
            source.ty.clone()
        };
        for at in [-1, 0, 3, 4, 5, 100] {
            let e = index(source.clone(), int32(at), element.clone());
            rig.values(vec![e], vec![Some(row.clone())]);
            for upper in [-2, 0, 2, 5, 9] {
                let e = slice(source.clone(), Some(int32(at)), Some(int32(upper)));
                rig.values(vec![e], vec![Some(row.clone())]);
            }
            rig.values(
                vec![slice(source.clone(), None, Some(int32(at)))],
                vec![Some(row.clone())],
            );
            rig.values(
                vec![slice(source.clone(), Some(int32(at)), None)],
                vec![Some(row.clone())],
            );
        }
    }
}

fn collections() -> (Rig, Value) {
    let input = schema([
        ("l", list_of(Type::Int32)),
        ("s", list_of(Type::RString)),
        ("m", map_of(Type::RString, Type::Float64)),
        ("k", map_of(Type::Int16, list_of(Type::Int8))),
        ("e", Type::Set(Type::Uint32.into(), None)),
        ("b", Type::List(Type::Int64.into(), Some(4))),
        ("o", Type::Optional(Type::RString.into())),
        ("n", Type::Optional(Type::Int64.into())),
    ]);
    let row = Value::Tuple(Box::new([
        list(&Type::Int32, [5, -6, 7].map(Value::Int32)),
        list(&Type::RString, ["x", "", "yy"].map(string)),
        map([
            (string("a"), Value::Float64(1.5)),
            (string("b"), Value::Float64(-2.0)),
        ]),
        map([(
            Value::Int16(3),
            list(&Type::Int8, [Value::Int8(1), Value::Int8(2)]),
        )]),
        set([1, 5, 9].map(Value::Uint32)),
        list(&Type::Int64, [10, 20].map(Value::Int64)),
        Value::Optional(Some(Box::new(string("there")))),
        Value::Optional(None),
    ]));
    (
        Rig {
            inputs: vec![(input, 0)],
            ..Rig::default()
        },
        row,
    )
}

fn l() -> Expr {
    attr(0, list_of(Type::Int32))
}

fn s() -> Expr {
    attr(1, list_of(Type::RString))
}

fn m() -> Expr {
    attr(2, map_of(Type::RString, Type::Float64))
}

fn k() -> Expr {
    attr(3, map_of(Type::Int16, list_of(Type::Int8)))
}

fn e() -> Expr {
    attr(4, Type::Set(Type::Uint32.into(), None))
}

fn b() -> Expr {
    attr(5, Type::List(Type::Int64.into(), Some(4)))
}

#[test]
fn elements_are_read() {
    let (mut rig, row) = collections();
    let mut exprs = Vec::new();
    for at in [-1, 0, 2, 3] {
        exprs.push(index(l(), int32(at), Type::Int32));
        exprs.push(index(s(), int32(at), Type::RString));
        exprs.push(index(b(), int(i64::from(at)), Type::Int64));
    }
    for key in ["a", "z"] {
        exprs.push(contains(text(key), m()));
        exprs.push(index(m(), text(key), Type::Float64));
    }
    for key in [3, 4] {
        let key = Expr::constant(Value::Int16(key), Type::Int16);
        let inner = index(k(), key, list_of(Type::Int8));
        exprs.push(index(inner.clone(), int32(1), Type::Int8));
        exprs.push(index(inner, int32(7), Type::Int8));
    }
    for e in exprs {
        rig.values(vec![e], vec![Some(row.clone())]);
    }
}

#[test]
fn collections_are_read_and_made() {
    let (mut rig, row) = collections();
    let constant = |x| Expr::constant(Value::Uint32(x), Type::Uint32);
    let half = Expr::constant(Value::Float64(0.5), Type::Float64);
    let exprs = vec![
        contains(constant(5), e()),
        contains(constant(6), e()),
        contains(int32(7), l()),
        contains(int32(8), l()),
        contains(text("yy"), s()),
        bin(BinaryOp::Eq, l(), l()),
        bin(BinaryOp::Ne, s(), s()),
        bin(BinaryOp::Eq, m(), m()),
        l(),
        s(),
        m(),
        k(),
        e(),
        b(),
        slice(l(), Some(int32(1)), Some(int32(3))),
        slice(s(), None, Some(int32(2))),
        expr(ExprKind::List(vec![int(1), int(2)]), list_of(Type::Int64)),
        expr(
            ExprKind::List(vec![text("q"), index(s(), int32(2), Type::RString)]),
            s().ty,
        ),
        expr(ExprKind::Set(vec![constant(5), constant(5)]), e().ty),
        expr(ExprKind::Map(vec![(text("q"), half)]), m().ty),
    ];
    rig.values(exprs, vec![Some(row)]);
}

#[test]
fn collections_are_cast() {
    let (mut rig, row) = collections();
    let casts = vec![
        l().cast(list_of(Type::RString)),
        l().cast(Type::RString),
        s().cast(Type::RString),
        m().cast(Type::RString),
        b().cast(list_of(Type::Int64)),
        text("17").cast(Type::Int32),
        text("[1,2]").cast(list_of(Type::Int32)),
    ];
    rig.values(casts, vec![Some(row.clone())]);
    rig.values(vec![text("17x").cast(Type::Int32)], vec![Some(row)]);
}

#[test]
fn operators_map_over_lists() {
    use graph::MappedForm::{CollectionScalar, Elementwise, ScalarCollection};
    let (mut rig, row) = collections();
    let l = || attr(0, list_of(Type::Int32));
    let mapped = |op, form, a: Expr, b: Expr, ty: Type| {
        expr(ExprKind::Mapped(op, form, a.into(), b.into()), ty)
    };
    let short = slice(l(), None, Some(int32(2)));
    let exprs = [
        mapped(BinaryOp::Mul, CollectionScalar, l(), int32(3), l().ty),
        mapped(BinaryOp::Sub, ScalarCollection, int32(3), l(), l().ty),
        mapped(BinaryOp::Add, Elementwise, l(), l(), l().ty),
        mapped(
            BinaryOp::Lt,
            CollectionScalar,
            l(),
            int32(6),
            list_of(Type::Boolean),
        ),
        mapped(BinaryOp::Div, CollectionScalar, l(), int32(0), l().ty),
        mapped(BinaryOp::Add, Elementwise, l(), short, l().ty),
    ];
    for e in exprs {
        rig.values(vec![e], vec![Some(row.clone())]);
    }
}

#[test]
fn optionals_are_looked_into() {
    let (mut rig, row) = collections();
    let o = || attr(6, Type::Optional(Type::RString.into()));
    let n = || attr(7, Type::Optional(Type::Int64.into()));
    let present = |e: Expr| expr(ExprKind::IsPresent(e.into()), Type::Boolean);
    let or = |e: Expr, other: Expr| {
        let ty = other.ty.clone();
        expr(ExprKind::UnwrapOr(e.into(), other.into()), ty)
    };
    let unwrap = |e: Expr, ty: Type| expr(ExprKind::Unwrap(e.into()), ty);
    let wrap = |e: Expr| {
        let ty = Type::Optional(e.ty.clone().into());
        expr(ExprKind::Wrap(e.into()), ty)
    };
    let exprs = vec![
        present(o()),
        present(n()),
        or(o(), text("none")),
        or(n(), int(7)),
        unwrap(o(), Type::RString),
        wrap(text("w")),
        wrap(int(3)),
        o(),
        n(),
        bin(BinaryOp::Eq, o(), wrap(text("there"))),
        bin(BinaryOp::Ne, n(), wrap(int(1))),
    ];
    rig.values(exprs, vec![Some(row.clone())]);
    rig.values(vec![unwrap(n(), Type::Int64)], vec![Some(row)]);
}

#[test]
fn an_empty_slot_is_the_default_tuple() {
    let (mut rig, row) = collections();
    rig.inputs[0].1 = 1;
    let older = |index, ty| {
        expr(
            ExprKind::Attribute {
                port: PortIndex(0),
                history: 1,
                index,
            },
            ty,
        )
    };
    let exprs = vec![
        older(0, list_of(Type::Int32)),
        older(2, map_of(Type::RString, Type::Float64)),
        older(6, Type::Optional(Type::RString.into())),
        attr(6, Type::Optional(Type::RString.into())),
    ];
    rig.values(exprs, vec![Some(row), None]);
}

#[test]
fn conditions_choose_and_stop_early() {
    let input = schema([("x", Type::Int64), ("s", Type::RString)]);
    let mut rig = Rig {
        inputs: vec![(input, 0)],
        ..Rig::default()
    };
    let (x, s) = (|| attr(0, Type::Int64), || attr(1, Type::RString));
    let inverse = || bin(BinaryOp::Gt, bin(BinaryOp::Div, int(6), x()), int(1));
    let and = |a: Expr, b: Expr| expr(ExprKind::And(a.into(), b.into()), Type::Boolean);
    let or = |a: Expr, b: Expr| expr(ExprKind::Or(a.into(), b.into()), Type::Boolean);
    let not_zero = || bin(BinaryOp::Ne, x(), int(0));
    let is_zero = || bin(BinaryOp::Eq, x(), int(0));
    for n in [0, 1, 2, 9] {
        let row = Value::Tuple(Box::new([Value::Int64(n), string("text")]));
        let exprs = vec![
            and(not_zero(), inverse()),
            or(is_zero(), inverse()),
            and(is_zero(), bin(BinaryOp::Lt, x(), int(5))),
            if_else(
                is_zero(),
                int(7),
                bin(BinaryOp::Div, int(6), if_else(is_zero(), int(1), x())),
            ),
            if_else(not_zero(), add(s(), text("?")), s()),
            if_else(
                inverse_or_zero(&x()),
                list_literal(),
                slice(list_literal(), None, Some(int32(1))),
            ),
        ];
        rig.values(exprs, vec![Some(row.clone())]);
        rig.values(
            vec![and(or(is_zero(), not_zero()), inverse())],
            vec![Some(row)],
        );
    }
}

fn inverse_or_zero(x: &Expr) -> Expr {
    bin(BinaryOp::Le, x.clone(), int(1))
}

fn list_literal() -> Expr {
    expr(
        ExprKind::List(vec![int32(3), int32(4)]),
        list_of(Type::Int32),
    )
}
