//! Expressions: literals, conditions, optionals, order of evaluation, places of faults.

use graph::{BinaryOp, Expr, ExprKind, MappedForm, Pos, UnaryOp};
use tuple::{List, Map, Set, Type, Value};

use crate::fixture::*;

fn divide_by_zero() -> Expr {
    Expr::binary(BinaryOp::Div, int(1), int(0))
}

fn boxed(kind: fn(Box<Expr>, Box<Expr>) -> ExprKind, left: Expr, right: Expr, ty: Type) -> Expr {
    Expr::new(kind(Box::new(left), Box::new(right)), ty)
}

#[test]
fn literals() {
    let list = ExprKind::List(vec![add(int(1), int(2)), int(9)]);
    assert_eq!(
        eval(&Expr::new(list, list_of(Type::Int32))),
        Ok(ints(&[3, 9]))
    );
    let set = Expr::new(
        ExprKind::Set(vec![int(2), int(1), int(2)]),
        Type::Set(Type::Int32.into(), None),
    );
    let expected = Value::Set([2, 1].map(Value::Int32).into_iter().collect::<Set>());
    assert_eq!(eval(&set), Ok(expected));
    let entries = vec![
        (text("a"), int(1)),
        (text("b"), int(2)),
        (text("a"), int(3)),
    ];
    let map = Expr::new(ExprKind::Map(entries), map_of(Type::RString, Type::Int32));
    let expected = [("a", 3), ("b", 2)].map(|(k, v)| (string(k), Value::Int32(v)));
    assert_eq!(
        eval(&map),
        Ok(Value::Map(expected.into_iter().collect::<Map>()))
    );
}

#[test]
fn literals_of_bounded_types_lose_their_end() {
    let list = ExprKind::List(vec![int(1), int(2), int(3)]);
    let ty = Type::List(Type::Int32.into(), Some(2));
    assert_eq!(eval(&Expr::new(list, ty)), Ok(ints(&[1, 2])));
    let mut joined = add(text("ab"), text("cd"));
    joined.ty = Type::BoundedRString(3);
    assert_eq!(eval(&joined), Ok(string("abc")));
}

#[test]
fn tuples_and_their_attributes() {
    let ty = tuple_of(&[("a", Type::Int32), ("b", Type::RString)]);
    let tuple = Expr::new(ExprKind::Tuple(vec![int(1), text("x")]), ty.clone());
    assert_eq!(eval(&tuple.field("b")), Ok(string("x")));
    let value = Value::Tuple(Box::new([Value::Int32(7), string("y")]));
    assert_eq!(
        eval(&Expr::constant(value, ty).field("a")),
        Ok(Value::Int32(7))
    );
}

#[test]
fn logic_is_short_circuit() {
    let faulty = || less(divide_by_zero(), int(0));
    let and = boxed(ExprKind::And, Expr::boolean(false), faulty(), Type::Boolean);
    assert_eq!(eval(&and), Ok(Value::Boolean(false)));
    let or = boxed(ExprKind::Or, Expr::boolean(true), faulty(), Type::Boolean);
    assert_eq!(eval(&or), Ok(Value::Boolean(true)));
    let and = boxed(ExprKind::And, Expr::boolean(true), faulty(), Type::Boolean);
    assert!(eval(&and).is_err());
    let conditional = ExprKind::Conditional(
        Box::new(Expr::boolean(false)),
        Box::new(divide_by_zero()),
        Box::new(int(5)),
    );
    assert_eq!(
        eval(&Expr::new(conditional, Type::Int32)),
        Ok(Value::Int32(5))
    );
}

#[test]
fn optionals() {
    let some = Expr::new(ExprKind::Wrap(Box::new(int(3))), optional(Type::Int32));
    let null = || Expr::constant(Value::Optional(None), optional(Type::Int32));
    let unwrap = |o: Expr| Expr::new(ExprKind::Unwrap(Box::new(o)), Type::Int32);
    let present = |o: Expr| Expr::new(ExprKind::IsPresent(Box::new(o)), Type::Boolean);
    let or = |o: Expr, e: Expr| boxed(ExprKind::UnwrapOr, o, e, Type::Int32);
    assert_eq!(eval(&unwrap(some.clone())), Ok(Value::Int32(3)));
    assert_eq!(
        eval(&or(some.clone(), divide_by_zero())),
        Ok(Value::Int32(3))
    );
    assert_eq!(eval(&or(null(), int(9))), Ok(Value::Int32(9)));
    assert_eq!(eval(&present(some)), Ok(Value::Boolean(true)));
    assert_eq!(eval(&present(null())), Ok(Value::Boolean(false)));
    let fault = eval(&unwrap(null())).expect_err("a fault");
    assert_eq!(fault.message(), "the optional value is null");
}

#[test]
fn operators_of_every_form() {
    let negated = ExprKind::Unary(UnaryOp::Negate, Box::new(int_list(&[1, 2])));
    assert_eq!(
        eval(&Expr::new(negated, list_of(Type::Int32))),
        Ok(ints(&[-1, -2]))
    );
    let (left, right) = (Box::new(int_list(&[1, 2])), Box::new(int(5)));
    let mapped = ExprKind::Mapped(BinaryOp::Lt, MappedForm::CollectionScalar, left, right);
    let booleans = Value::List(List::Boolean(vec![true, true]));
    assert_eq!(
        eval(&Expr::new(mapped, list_of(Type::Boolean))),
        Ok(booleans)
    );
    let within = boxed(ExprKind::In, int(2), int_list(&[1, 2]), Type::Boolean);
    assert_eq!(eval(&within), Ok(Value::Boolean(true)));
    let slice = ExprKind::Slice(Box::new(text("hello")), Some(Box::new(int(3))), None);
    assert_eq!(eval(&Expr::new(slice, Type::RString)), Ok(string("lo")));
    assert_eq!(eval(&text("12").cast(Type::Int32)), Ok(Value::Int32(12)));
    assert_eq!(
        eval(&index(text("abc"), int(1), Type::RString)),
        Ok(string("b"))
    );
}

#[test]
fn faults_say_where() {
    let pos = |column| Pos {
        file: 1,
        line: 3,
        column,
    };
    let inner = index(int_list(&[1]), int(4), Type::Int32).with_pos(pos(9));
    let fault = eval(&add(int(1), inner).with_pos(pos(5))).expect_err("a fault");
    assert_eq!(fault.pos(), Some(pos(9)));
    assert_eq!(fault.message(), "index 4 is out of range of a list of 1");
}

#[test]
fn operands_are_evaluated_from_left_to_right() {
    let missing = index(int_list(&[]), int(0), Type::Int32);
    let fault = eval(&add(missing, divide_by_zero())).expect_err("a fault");
    assert_eq!(fault.message(), "index 0 is out of range of a list of 0");
}

#[test]
fn an_expression_too_deep_for_the_stack_is_a_fault() {
    let mut deep = int(0);
    // Optimised code takes some hundred bytes of the 252 MB of stack for each level.
    for _ in 0..1_000_000 {
        deep = add(deep, int(1));
    }
    // Dropping it would overflow this thread's stack just as well.
    let deep = std::mem::ManuallyDrop::new(deep);
    let fault = eval(&deep).expect_err("a fault");
    assert_eq!(fault.message(), "function calls are nested too deeply");
}
