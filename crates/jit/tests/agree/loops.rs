//! Loops: how often they turn, and what is read in them.

use graph::{BinaryOp, Expr, ExprKind, LocalVar, Stmt};
use tuple::{Type, Value};

use crate::make::*;
use crate::rig::{Rig, schema};

/// A program that is given a number.
pub fn rig(state: Vec<graph::StateVar>) -> Rig {
    Rig {
        state,
        inputs: vec![(schema([("n", Type::Int64)]), 0)],
        ..Rig::default()
    }
}

pub fn row(n: i64) -> Vec<Option<Value>> {
    vec![Some(Value::Tuple(Box::new([Value::Int64(n)])))]
}

pub fn n() -> Expr {
    attr(0, Type::Int64)
}

pub fn i() -> Expr {
    local(0, Type::Int64)
}

/// `while (i < n) { ...; i++; }`
pub fn count(mut stmts: Vec<Stmt>) -> Vec<Stmt> {
    stmts.push(add_to(local_place(0, Type::Int64), int(1)));
    let condition = bin(BinaryOp::Lt, i(), n());
    vec![let_(0, int(0)), Stmt::While(condition, stmts)]
}

#[test]
fn loops_end_where_they_should() {
    let rig = rig(vec![var("turns", Type::Int64)]);
    let turn = || add_to(state_place(0, Type::Int64), int(1));
    let is = |op, x| bin(op, i(), int(x));
    let inner = |stmts| {
        vec![
            let_(1, int(0)),
            Stmt::While(
                bin(BinaryOp::Lt, local(1, Type::Int64), i()),
                [vec![add_to(local_place(1, Type::Int64), int(1))], stmts].concat(),
            ),
        ]
    };
    let bodies = [
        vec![turn()],
        vec![
            Stmt::If(is(BinaryOp::Gt, 3), vec![Stmt::Break], vec![]),
            turn(),
        ],
        vec![Stmt::If(
            is(BinaryOp::Gt, 3),
            vec![Stmt::Return(None)],
            vec![turn()],
        )],
        inner(vec![turn()]),
        inner(vec![
            Stmt::If(is(BinaryOp::Eq, 2), vec![Stmt::Continue], vec![]),
            turn(),
        ]),
        inner(vec![Stmt::If(
            is(BinaryOp::Eq, 2),
            vec![Stmt::Break],
            vec![turn()],
        )]),
        inner(vec![Stmt::If(
            is(BinaryOp::Eq, 2),
            vec![turn(), Stmt::Return(None)],
            vec![],
        )]),
        vec![Stmt::Break],
    ];
    for stmts in bodies {
        let b = body([Type::Int64, Type::Int64], count(stmts));
        rig.agree(&b, &[row(-1), row(0), row(1), row(9)]);
    }
    let endless = Stmt::While(
        Expr::constant(Value::Boolean(true), Type::Boolean),
        vec![Stmt::If(
            bin(BinaryOp::Ge, state(0, Type::Int64), n()),
            vec![Stmt::Break],
            vec![Stmt::Continue],
        )],
    );
    rig.agree(&body([], vec![endless]), &[row(0)]);
}

#[test]
fn a_condition_may_do_things() {
    let mut rig = rig(vec![var("asked", Type::Int64), var("turns", Type::Int64)]);
    let formal = LocalVar::new("x", Type::Int64);
    rig.functions = vec![function(
        "isSmall",
        vec![formal],
        vec![],
        Type::Boolean,
        vec![ret(bin(BinaryOp::Lt, local(0, Type::Int64), int(50)))],
    )];
    let asked = step(state_place(0, Type::Int64), false, true);
    let small = call(0, vec![val(add(asked.clone(), n()))], Type::Boolean);
    let below = bin(BinaryOp::Lt, asked, n());
    for condition in [small, below] {
        let turns = || state_place(1, Type::Int64);
        let stmts = vec![
            add_to(turns(), int(1)),
            Stmt::If(
                bin(
                    BinaryOp::Eq,
                    bin(BinaryOp::Rem, state(1, Type::Int64), int(7)),
                    int(3),
                ),
                vec![Stmt::Continue],
                vec![],
            ),
            Stmt::If(
                bin(
                    BinaryOp::Eq,
                    bin(BinaryOp::Rem, state(1, Type::Int64), int(40)),
                    int(39),
                ),
                vec![Stmt::Break],
                vec![],
            ),
        ];
        let b = body([], vec![Stmt::While(condition, stmts)]);
        rig.agree(&b, &[row(3), row(20), row(60), row(100)]);
    }
}

#[test]
fn what_a_loop_reads_may_not_be_there() {
    // Nothing may be read before it is known to be: not from empty lists, not of absent optionals.
    let input = schema([
        ("n", Type::Int64),
        ("list", list_of(Type::Int64)),
        ("words", list_of(Type::RString)),
        ("maybe", Type::Optional(Type::RString.into())),
    ]);
    let rig = Rig {
        state: vec![var("sum", Type::Int64), var("text", Type::RString)],
        inputs: vec![(input, 0)],
        ..Rig::default()
    };
    let (numbers, words) = (list_of(Type::Int64), list_of(Type::RString));
    let maybe = Type::Optional(Type::RString.into());
    let present = expr(
        ExprKind::IsPresent(attr(3, maybe.clone()).into()),
        Type::Boolean,
    );
    let content = expr(ExprKind::Unwrap(attr(3, maybe).into()), Type::RString);
    let text = || state_place(1, Type::RString);
    let b = body(
        [Type::Int64, Type::Int64, Type::RString],
        count(vec![
            Stmt::If(
                present,
                vec![add_to(text(), content)],
                vec![Stmt::If(
                    bin(BinaryOp::Gt, i(), int(2)),
                    vec![
                        add_to(
                            state_place(0, Type::Int64),
                            index(attr(1, numbers.clone()), int(2), Type::Int64),
                        ),
                        add_to(text(), index(attr(2, words.clone()), int(1), Type::RString)),
                    ],
                    vec![],
                )],
            ),
            for_(
                1,
                attr(1, numbers),
                vec![add_to(state_place(0, Type::Int64), local(1, Type::Int64))],
            ),
            for_(
                2,
                attr(2, words),
                vec![add_to(text(), local(2, Type::RString))],
            ),
        ]),
    );
    let row = |n: i64, numbers: &[i64], words: &[&str], maybe: Option<&str>| {
        vec![Some(Value::Tuple(Box::new([
            Value::Int64(n),
            list(&Type::Int64, numbers.iter().map(|&x| Value::Int64(x))),
            list(&Type::RString, words.iter().map(|word| string(word))),
            Value::Optional(maybe.map(|word| Box::new(string(word)))),
        ])))]
    };
    let rows = [
        vec![None],
        row(3, &[], &[], None),
        row(9, &[], &[], None),
        row(9, &[1, 2, 3], &["a"], None),
        row(9, &[1, 2, 3], &["a", "b"], None),
        row(9, &[1, 2], &[], Some("present")),
    ];
    rig.agree(&b, &rows);
}
