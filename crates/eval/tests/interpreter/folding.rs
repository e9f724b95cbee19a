//! Constant folding: what it computes and what it refuses.

use graph::{Body, Expr, ExprKind, Function, LocalId, Pos, Stmt};
use thalweg_eval::{FaultKind, interp};
use tuple::Type;

use crate::fixture::*;

#[test]
fn functions_of_the_library_are_called() {
    let size = native(
        SIZE,
        vec![graph::Arg::Value(int_list(&[4, 5]))],
        Type::Int32,
    );
    assert_eq!(eval(&size), Ok(tuple::Value::Int32(2)));
}

#[test]
fn services_are_refused() {
    let fault = eval(&native(RANDOM, vec![], Type::Float64)).expect_err("a fault");
    assert_eq!(
        fault.message(),
        "a random number is not possible in a constant expression"
    );
    assert_eq!(fault.kind(), FaultKind::Limit);
}

#[test]
fn endless_loops_are_given_up() {
    let endless = Function {
        name: "endless".into(),
        formals: 0,
        result: Type::Int32,
        is_stateful: false,
        body: Body {
            locals: vec![],
            stmts: vec![
                Stmt::While(Expr::boolean(true), vec![]),
                Stmt::Return(Some(int(1))),
            ],
        },
        pos: Pos::default(),
    };
    let fault = interp::fold(&user(0, vec![], Type::Int32), &[], &[endless]).expect_err("a fault");
    assert_eq!(
        fault.message(),
        "the constant expression takes too many steps to compute"
    );
}

#[test]
fn variables_are_no_constants() {
    for kind in [
        ExprKind::Local(LocalId(0)),
        ExprKind::State(graph::StateId(3)),
    ] {
        for ty in [Type::Int32, Type::RString] {
            let fault = eval(&Expr::new(kind.clone(), ty)).expect_err("a fault");
            assert_eq!(fault.kind(), FaultKind::Limit);
        }
    }
    assert!(eval(&Expr::new(ExprKind::CurrentPunct, Type::Boolean)).is_err());
}
