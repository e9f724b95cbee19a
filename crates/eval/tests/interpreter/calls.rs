//! Calls: arguments by value and by reference, recursion, what stays when a callee fails.

use graph::{
    Arg, BinaryOp, Body, Expr, ExprKind, Function, LocalVar, PlaceStep, Pos, StateId, Stmt,
};
use thalweg_eval::{Interpreter, interp};
use tuple::{Type, Value};

use crate::fixture::*;

fn function(name: &str, formals: Vec<LocalVar>, result: Type, stmts: Vec<Stmt>) -> Function {
    Function {
        name: name.into(),
        formals: formals.len() as u32,
        result,
        is_stateful: false,
        body: Body {
            locals: formals,
            stmts,
        },
        pos: Pos::default(),
    }
}

/// `int32 sum(int32 n) { return n == 0 ? 0 : n + sum(n - 1); }`
fn sum() -> Function {
    let n = || local(0, Type::Int32);
    let minus_one = Expr::binary(BinaryOp::Sub, n(), int(1));
    let deeper = add(n(), user(0, vec![Arg::Value(minus_one)], Type::Int32));
    let is_zero = Expr::binary(BinaryOp::Eq, n(), int(0));
    let kind = ExprKind::Conditional(Box::new(is_zero), Box::new(int(0)), Box::new(deeper));
    let result = Expr::new(kind, Type::Int32);
    let formals = vec![LocalVar::new("n", Type::Int32)];
    function(
        "sum",
        formals,
        Type::Int32,
        vec![Stmt::Return(Some(result))],
    )
}

#[test]
fn recursion() {
    let call = |n| user(0, vec![Arg::Value(int(n))], Type::Int32);
    assert_eq!(interp::fold(&call(10), &[], &[sum()]), Ok(Value::Int32(55)));
    let deep = interp::fold(&call(9_000), &[], &[sum()]);
    assert_eq!(deep, Ok(Value::Int32(9_000 * 9_001 / 2)));
    let endless = interp::fold(&call(-1), &[], &[sum()]).expect_err("a fault");
    assert_eq!(endless.message(), "function calls are nested too deeply");
}

#[test]
fn a_thread_without_a_large_stack_faults_in_time() {
    let call = user(0, vec![Arg::Value(int(-1))], Type::Int32);
    let body = Body {
        locals: vec![],
        stmts: vec![Stmt::Expr(call)],
    };
    let (result, _) = run_with(&mut Interpreter::new(&[sum()], &[]), &[], &body);
    let fault = result.expect_err("a fault");
    assert_eq!(fault.message(), "function calls are nested too deeply");
}

/// `void swap(mutable rstring a, mutable rstring b)`
fn swap() -> Function {
    let ty = Type::RString;
    let mut body = Body {
        locals: vec![
            LocalVar::mutable("a", ty.clone()),
            LocalVar::mutable("b", ty.clone()),
        ],
        stmts: vec![],
    };
    let old = body.local("old", ty.clone());
    body.stmts = vec![
        Stmt::Let(old, Some(local(0, ty.clone()))),
        set(local_place(0, ty.clone()), local(1, ty.clone())),
        set(local_place(1, ty.clone()), Expr::local(old, ty)),
    ];
    Function {
        body,
        ..function("swap", vec![], Type::Void, vec![])
    }
}

#[test]
fn formals_by_reference_change_the_caller_s_places() {
    let ty = tuple_of(&[("a", Type::RString), ("b", Type::RString)]);
    let init = Expr::new(ExprKind::Tuple(vec![text("x"), text("y")]), ty.clone());
    let vars = [var("t", ty.clone(), Some(init))];
    let part =
        |at| Arg::Place(state_place(0, ty.clone()).with_step(PlaceStep::Field(at), Type::RString));
    let call = user(0, vec![part(0), part(1)], Type::Void);
    let body = Body {
        locals: vec![],
        stmts: vec![Stmt::Expr(call)],
    };
    let mut swap = swap();
    swap.formals = 2;
    let (result, state) = run_with(&mut Interpreter::new(&[swap], &[]), &vars, &body);
    result.expect("no fault");
    let expected = Value::Tuple(Box::new([string("y"), string("x")]));
    assert_eq!(state.get(StateId(0)), expected);
}

#[test]
fn scalars_by_reference_too() {
    let bump = function(
        "bump",
        vec![LocalVar::mutable("n", Type::Int32)],
        Type::Void,
        vec![add_to(local_place(0, Type::Int32), int(1))],
    );
    let list = list_of(Type::Int32);
    let vars = [
        var("l", list.clone(), Some(int_list(&[1, 2]))),
        var("n", Type::Int32, None),
    ];
    let call = |place| Stmt::Expr(user(0, vec![Arg::Place(place)], Type::Void));
    let element = state_place(0, list).with_step(at(int(1)), Type::Int32);
    let stmts = vec![call(element), call(state_place(1, Type::Int32))];
    let body = Body {
        locals: vec![],
        stmts,
    };
    let (result, state) = run_with(&mut Interpreter::new(&[bump], &[]), &vars, &body);
    result.expect("no fault");
    assert_eq!(state.get(StateId(0)), ints(&[1, 3]));
    assert_eq!(state.get(StateId(1)), Value::Int32(1));
}

#[test]
fn library_functions_change_in_place_within_bounds() {
    let ty = Type::List(Type::Int32.into(), Some(2));
    let vars = [var("l", ty.clone(), None)];
    let append = |x| {
        let args = vec![Arg::Place(state_place(0, ty.clone())), Arg::Value(int(x))];
        Stmt::Expr(native(APPEND, args, Type::Void))
    };
    let body = Body {
        locals: vec![],
        stmts: vec![append(1), append(2), append(3)],
    };
    assert_eq!(first_state(&vars, &body), Ok(ints(&[1, 2])));
}

#[test]
fn one_variable_may_be_several_arguments() {
    let vars = [var("s", Type::RString, Some(text("ab")))];
    let s = || Arg::Value(state(0, Type::RString));
    let joined = native(
        JOIN,
        vec![s(), s(), Arg::Value(text("-")), s(), s()],
        Type::RString,
    );
    let body = Body {
        locals: vec![],
        stmts: vec![set(state_place(0, Type::RString), joined)],
    };
    assert_eq!(first_state(&vars, &body), Ok(string("abab-abab")));
}

#[test]
fn arguments_come_back_from_a_callee_that_fails() {
    let vars = [var("s", Type::RString, Some(text("ab")))];
    let call = native(
        FAIL,
        vec![Arg::Place(state_place(0, Type::RString))],
        Type::Void,
    );
    let body = Body {
        locals: vec![],
        stmts: vec![Stmt::Expr(call)],
    };
    let (result, state) = run_with(&mut Interpreter::new(&[], NATIVES), &vars, &body);
    assert_eq!(result.expect_err("a fault").message(), "it failed");
    assert_eq!(state.get(StateId(0)), string("changed"));
}

#[test]
fn arguments_come_back_when_a_later_one_is_missing() {
    let map = map_of(Type::Int32, Type::RString);
    let vars = [
        var("s", Type::RString, Some(text("ab"))),
        var("m", map.clone(), None),
    ];
    let missing = state_place(1, map).with_step(at(int(7)), Type::RString);
    let args = vec![
        Arg::Place(state_place(0, Type::RString)),
        Arg::Place(missing),
    ];
    let mut swap = swap();
    swap.formals = 2;
    let body = Body {
        locals: vec![],
        stmts: vec![Stmt::Expr(user(0, args, Type::Void))],
    };
    let (result, state) = run_with(&mut Interpreter::new(&[swap], &[]), &vars, &body);
    assert_eq!(
        result.expect_err("a fault").message(),
        "the map has no key 7"
    );
    assert_eq!(state.get(StateId(0)), string("ab"));
}

#[test]
fn a_loop_over_a_variable_may_lend_it() {
    let ty = list_of(Type::Int32);
    let vars = [
        var("sum", Type::Int32, None),
        var("l", ty.clone(), Some(int_list(&[1, 2, 3]))),
    ];
    let mut body = Body::default();
    let x = body.local("x", Type::Int32);
    let size = native(SIZE, vec![Arg::Value(state(1, ty.clone()))], Type::Int32);
    let turn = vec![add_to(
        state_place(0, Type::Int32),
        add(Expr::local(x, Type::Int32), size),
    )];
    body.stmts = vec![Stmt::For(x, state(1, ty), turn)];
    assert_eq!(first_state(&vars, &body), Ok(Value::Int32(6 + 9)));
}

#[test]
fn a_large_variable_is_not_copied() {
    let ty = map_of(Type::Int32, list_of(Type::Int32));
    let init = (0..2_000).map(|k| (Value::Int32(k), ints(&[k; 100])));
    let init = Expr::constant(Value::Map(init.collect()), ty.clone());
    let vars = [
        var("sum", Type::Int64, None),
        var("m", ty.clone(), Some(init)),
    ];
    let mut body = Body::default();
    let n = body.local("n", Type::Int32);
    let key = || Expr::binary(BinaryOp::Rem, Expr::local(n, Type::Int32), int(2_000));
    let list = || index(state(1, ty.clone()), key(), list_of(Type::Int32));
    let size = native(SIZE, vec![Arg::Value(list())], Type::Int32);
    let element = index(list(), int(99), Type::Int32);
    let turn = vec![
        add_to(
            state_place(0, Type::Int64),
            add(size, element).cast(Type::Int64),
        ),
        add_to(local_place(n.0, Type::Int32), int(1)),
    ];
    let condition = less(Expr::local(n, Type::Int32), int(20_000));
    body.stmts = vec![Stmt::Let(n, Some(int(0))), Stmt::While(condition, turn)];
    // 20,000 copies of 800 kB would take longer than anybody waits.
    let expected = 20_000 * 100 + 10 * (0..2_000).sum::<i64>();
    assert_eq!(first_state(&vars, &body), Ok(Value::Int64(expected)));
}
