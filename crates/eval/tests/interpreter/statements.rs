//! Statements: assignments to places, loops, the ends of clauses.

use graph::{Body, Expr, ExprKind, Place, PlaceStep, StateVar, Stmt};
use tuple::{Map, Type, Value};

use crate::fixture::*;

fn body(stmts: Vec<Stmt>) -> Body {
    Body {
        locals: Vec::new(),
        stmts,
    }
}

fn int_map() -> Type {
    map_of(Type::RString, Type::Int32)
}

fn ages() -> Vec<StateVar> {
    let entries = vec![(text("ann"), int(31))];
    let init = Expr::new(ExprKind::Map(entries), int_map());
    vec![var("ages", int_map(), Some(init))]
}

fn age_of(name: &str) -> Place {
    state_place(0, int_map()).with_step(at(text(name)), Type::Int32)
}

fn map(entries: &[(&str, i32)]) -> Value {
    let entries = entries.iter().map(|&(k, v)| (string(k), Value::Int32(v)));
    Value::Map(entries.collect::<Map>())
}

#[test]
fn a_plain_assignment_inserts_a_key() {
    let result = first_state(&ages(), &body(vec![set(age_of("bob"), int(27))]));
    assert_eq!(result, Ok(map(&[("ann", 31), ("bob", 27)])));
}

#[test]
fn everything_else_needs_the_key() {
    let step = |name| {
        let kind = ExprKind::Increment {
            place: age_of(name),
            is_decrement: false,
            is_prefix: false,
        };
        Stmt::Expr(Expr::new(kind, Type::Int32))
    };
    for stmt in [add_to(age_of("bob"), int(1)), step("bob")] {
        let fault = first_state(&ages(), &body(vec![stmt])).expect_err("a fault");
        assert_eq!(fault.message(), "the map has no key \"bob\"");
    }
    let both = vec![add_to(age_of("ann"), int(1)), step("ann")];
    assert_eq!(first_state(&ages(), &body(both)), Ok(map(&[("ann", 33)])));
}

#[test]
fn a_full_map_drops_new_keys() {
    let ty = Type::Map((Type::RString, Type::Int32).into(), Some(1));
    let vars = [var("m", ty.clone(), None)];
    let place = |key: &str| state_place(0, ty.clone()).with_step(at(text(key)), Type::Int32);
    let stmts = vec![
        set(place("a"), int(1)),
        set(place("b"), int(2)),
        set(place("a"), int(3)),
    ];
    assert_eq!(first_state(&vars, &body(stmts)), Ok(map(&[("a", 3)])));
}

#[test]
fn places_reach_through_maps_lists_and_tuples() {
    let tuple = tuple_of(&[("n", Type::Int32), ("marks", list_of(Type::Int32))]);
    let ty = map_of(Type::Int32, tuple.clone());
    let vars = [var("m", ty.clone(), None)];
    let entry = || state_place(0, ty.clone()).with_step(at(int(1)), tuple.clone());
    let marks = || entry().with_step(PlaceStep::Field(1), list_of(Type::Int32));
    let value = Expr::new(
        ExprKind::Tuple(vec![int(5), int_list(&[7, 8])]),
        tuple.clone(),
    );
    let stmts = vec![
        set(entry(), value),
        add_to(entry().with_step(PlaceStep::Field(0), Type::Int32), int(1)),
        set(marks().with_step(at(int(1)), Type::Int32), int(80)),
        add_to(marks(), int(100)),
    ];
    let expected = Value::Tuple(Box::new([Value::Int32(6), ints(&[107, 180])]));
    let expected = Value::Map([(Value::Int32(1), expected)].into_iter().collect());
    assert_eq!(first_state(&vars, &body(stmts)), Ok(expected));
}

#[test]
fn increments_give_the_value_before_or_after() {
    let vars = [
        var("log", list_of(Type::Int32), None),
        var("n", Type::Int32, None),
    ];
    let step = |down, prefix| {
        let kind = ExprKind::Increment {
            place: state_place(1, Type::Int32),
            is_decrement: down,
            is_prefix: prefix,
        };
        Expr::new(kind, Type::Int32)
    };
    let log = |value: Expr| {
        let place = graph::Arg::Place(state_place(0, list_of(Type::Int32)));
        let args = vec![place, graph::Arg::Value(value)];
        Stmt::Expr(native(APPEND, args, Type::Void))
    };
    let stmts = vec![
        log(step(false, true)),
        log(step(false, false)),
        log(step(true, true)),
        log(step(true, false)),
        log(state(1, Type::Int32)),
    ];
    assert_eq!(first_state(&vars, &body(stmts)), Ok(ints(&[1, 1, 1, 1, 0])));
}

#[test]
fn strings_grow_in_place_up_to_their_bound() {
    let vars = [var("s", Type::BoundedRString(5), None)];
    let place = || state_place(0, Type::BoundedRString(5));
    let stmts = vec![add_to(place(), text("abc")), add_to(place(), text("def"))];
    assert_eq!(first_state(&vars, &body(stmts)), Ok(string("abcde")));
}

/// `for (T x in collection) { sum += x; }` over a state variable of the collection's type.
fn concatenated(collection: Value, ty: Type) -> Result<Value, thalweg_eval::Fault> {
    let item = match &ty {
        Type::UString => Type::UString,
        _ => Type::RString,
    };
    let vars = [
        var("all", item.clone(), None),
        var(
            "c",
            ty.clone(),
            Some(Expr::constant(collection, ty.clone())),
        ),
    ];
    let mut body = Body::default();
    let x = body.local("x", item.clone());
    let turn = add_to(state_place(0, item.clone()), Expr::local(x, item));
    body.stmts = vec![Stmt::For(x, state(1, ty), vec![turn])];
    first_state(&vars, &body)
}

#[test]
fn loops_over_every_kind_of_collection() {
    let words = ["a", "b", "c"].map(string);
    let list = Value::List(tuple::List::Any(words.to_vec()));
    assert_eq!(
        concatenated(list, list_of(Type::RString)),
        Ok(string("abc"))
    );
    let set = Value::Set(words.iter().cloned().collect());
    let ty = Type::Set(Type::RString.into(), None);
    assert_eq!(concatenated(set, ty), Ok(string("abc")));
    assert_eq!(
        concatenated(map(&[("x", 1), ("y", 2)]), int_map()),
        Ok(string("xy"))
    );
    assert_eq!(concatenated(string("pq"), Type::RString), Ok(string("pq")));
    let wide = Value::UString("é😀".into());
    assert_eq!(concatenated(wide.clone(), Type::UString), Ok(wide));
}

#[test]
fn break_and_continue() {
    let vars = [var("sum", Type::Int32, None)];
    let mut body = Body::default();
    let x = body.local("x", Type::Int32);
    let value = || Expr::local(x, Type::Int32);
    let is = |n| Expr::binary(graph::BinaryOp::Eq, value(), int(n));
    let turn = vec![
        Stmt::If(is(2), vec![Stmt::Continue], vec![]),
        Stmt::If(is(4), vec![Stmt::Break], vec![]),
        add_to(state_place(0, Type::Int32), value()),
    ];
    body.stmts = vec![Stmt::For(x, int_list(&[1, 2, 3, 4, 5]), turn)];
    assert_eq!(first_state(&vars, &body), Ok(Value::Int32(4)));
}

#[test]
fn while_loops_and_locals() {
    let vars = [var("sum", Type::Int32, None)];
    let mut body = Body::default();
    let n = body.local("n", Type::Int32);
    let fresh = body.local("fresh", Type::Int32);
    let place = |id| Place::local(id, Type::Int32);
    let turn = vec![
        Stmt::Let(fresh, None),
        add_to(place(fresh), int(2)),
        add_to(state_place(0, Type::Int32), Expr::local(fresh, Type::Int32)),
        add_to(place(n), int(1)),
    ];
    let condition = less(Expr::local(n, Type::Int32), int(10));
    body.stmts = vec![Stmt::Let(n, Some(int(0))), Stmt::While(condition, turn)];
    assert_eq!(first_state(&vars, &body), Ok(Value::Int32(20)));
}

#[test]
fn return_leaves_only_its_clause() {
    let vars = [var("n", Type::Int32, None)];
    let bump = |by| add_to(state_place(0, Type::Int32), int(by));
    let clause = vec![
        bump(1),
        Stmt::If(Expr::boolean(true), vec![Stmt::Return(None)], vec![]),
        bump(10),
    ];
    let stmts = vec![
        Stmt::Clause(clause),
        bump(100),
        Stmt::Return(None),
        bump(1000),
    ];
    assert_eq!(first_state(&vars, &body(stmts)), Ok(Value::Int32(101)));
}

#[test]
fn state_keeps_what_happened_before_a_fault() {
    let vars = [var("n", Type::Int32, None)];
    let fault = Expr::binary(graph::BinaryOp::Div, int(1), int(0));
    let stmts = vec![set(state_place(0, Type::Int32), int(5)), Stmt::Expr(fault)];
    let mut interpreter = thalweg_eval::Interpreter::new(&[], &[]);
    let (result, state) = run_with(&mut interpreter, &vars, &body(stmts));
    assert!(result.is_err());
    assert_eq!(state.get(graph::StateId(0)), Value::Int32(5));
}
