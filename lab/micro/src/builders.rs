//! Short constructors of expressions and statements.

use std::sync::Arc;

pub use graph::BinaryOp::{Add, BitAnd, BitXor, Div, Eq, Lt, Mul, Rem, Shr, Sub};
use graph::{
    Arg, BinaryOp, Body, Callee, Expr, ExprKind, FunctionId, LocalId, LocalVar, Place, PlaceStep,
    PortIndex, StateId, StateVar, Stmt,
};
use tuple::{RString, TupleType, Type, Value};

/// A constant of type int64.
pub fn int(x: i64) -> Expr {
    Expr::constant(Value::Int64(x), Type::Int64)
}

/// A constant of type rstring.
pub fn text(s: &str) -> Expr {
    Expr::constant(string(s), Type::RString)
}

/// A value of type rstring.
pub fn string(s: &str) -> Value {
    Value::RString(RString(s.as_bytes().to_vec()))
}

/// A schema of attributes with their types.
pub fn schema<const N: usize>(attributes: [(&str, Type); N]) -> Arc<TupleType> {
    Arc::new(TupleType::new(attributes))
}

/// The type of unbounded lists of `element`.
pub fn list_of(element: Type) -> Type {
    Type::List(element.into(), None)
}

/// The type of unbounded maps from `key` to `value`.
pub fn map_of(key: Type, value: Type) -> Type {
    Type::Map((key, value).into(), None)
}

/// An attribute of the input tuple.
pub fn attr(index: u32, ty: Type) -> Expr {
    Expr::attribute(PortIndex(0), index, ty)
}

/// Reads local variable number `id`.
pub fn local(id: u32, ty: Type) -> Expr {
    Expr::local(LocalId(id), ty)
}

/// Reads state variable number `id`.
pub fn state(id: u32, ty: Type) -> Expr {
    Expr::state(StateId(id), ty)
}

/// Applies an infix operator to two operands.
pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b)
}

/// Reads an element of a list or map: `base[at]`.
pub fn index(base: Expr, at: Expr, ty: Type) -> Expr {
    Expr::new(ExprKind::Index(base.into(), at.into()), ty)
}

/// Calls user function number `function`.
pub fn call<const N: usize>(function: u32, args: [Expr; N], ty: Type) -> Expr {
    Expr::call(Callee::User(FunctionId(function)), args.map(Arg::Value), ty)
}

/// A tuple of these fields.
pub fn tuple(ty: &Type, fields: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Tuple(fields), ty.clone())
}

/// Local variable number `id` as the target of an assignment.
pub fn local_place(id: u32, ty: Type) -> Place {
    Place::local(LocalId(id), ty)
}

/// State variable number `id` as the target of an assignment.
pub fn state_place(id: u32, ty: Type) -> Place {
    Place::state(StateId(id), ty)
}

/// Attribute number `index` of a place.
pub fn attribute_place(place: Place, index: u32, ty: Type) -> Place {
    place.with_step(PlaceStep::Field(index), ty)
}

/// The statement `place = value`.
pub fn assign(place: Place, value: Expr) -> Stmt {
    Stmt::Expr(Expr::assign(place, value))
}

/// The statement `place op= value`.
pub fn assign_op(op: BinaryOp, place: Place, value: Expr) -> Stmt {
    Stmt::Expr(Expr::new(
        ExprKind::AssignOp(op, place, value.into()),
        Type::Void,
    ))
}

/// The statement `T local = value`.
pub fn let_(id: u32, value: Expr) -> Stmt {
    Stmt::Let(LocalId(id), Some(value))
}

/// A loop over a collection.
pub fn for_(id: u32, collection: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For(LocalId(id), collection, body)
}

/// The statement `for i in 0 .. n`, where local variable 0 is `i` and attribute 0 of the input is
/// `n`.
pub fn count_to_n(mut body: Vec<Stmt>) -> Vec<Stmt> {
    let i = || local(0, Type::Int64);
    body.push(assign_op(Add, local_place(0, Type::Int64), int(1)));
    vec![
        let_(0, int(0)),
        Stmt::While(binary(Lt, i(), attr(0, Type::Int64)), body),
    ]
}

/// The statement `submit(tuple, port)`.
pub fn submit(port: PortIndex, tuple: Expr) -> Stmt {
    let port = Expr::constant(Value::Uint32(port.0), Type::Uint32);
    Stmt::Submit {
        port,
        tuple,
        pos: graph::Pos::default(),
    }
}

/// The declaration of a state variable.
pub fn var(name: &str, ty: Type) -> StateVar {
    StateVar {
        name: name.into(),
        ty,
        init: None,
    }
}

/// A body with local variables of these types.
pub fn body<const N: usize>(locals: [Type; N], stmts: Vec<Stmt>) -> Body {
    let locals = locals.into_iter().map(|ty| LocalVar::new("v", ty));
    Body {
        locals: locals.collect(),
        stmts,
    }
}
