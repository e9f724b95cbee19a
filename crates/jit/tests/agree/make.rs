//! Short ways to make expressions and statements for tests; each gets a place of its own.

use std::sync::atomic::{AtomicU32, Ordering};

use graph::{
    Arg, BinaryOp, Body, Callee, Expr, ExprKind, Function, FunctionId, LocalId, LocalVar, Place,
    PlaceRoot, PlaceStep, PortIndex, Pos, StateId, StateVar, Stmt,
};
use tuple::{List, Map, RString, Set, Type, UString, Value};

/// The integer types, signed ones first.
pub const INTEGERS: [Type; 8] = [
    Type::Int8,
    Type::Int16,
    Type::Int32,
    Type::Int64,
    Type::Uint8,
    Type::Uint16,
    Type::Uint32,
    Type::Uint64,
];

/// The operators whose result is a boolean.
pub const COMPARISONS: [BinaryOp; 6] = [
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
];

/// A place that no other expression has.
pub fn pos() -> Pos {
    static LINE: AtomicU32 = AtomicU32::new(1);
    Pos {
        file: 0,
        line: LINE.fetch_add(1, Ordering::Relaxed),
        column: 1,
    }
}

pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr::new(kind, ty).with_pos(pos())
}

pub fn int(x: i64) -> Expr {
    Expr::constant(Value::Int64(x), Type::Int64)
}

pub fn int32(x: i32) -> Expr {
    Expr::constant(Value::Int32(x), Type::Int32)
}

pub fn text(s: &str) -> Expr {
    Expr::constant(string(s), Type::RString)
}

pub fn string(s: &str) -> Value {
    Value::RString(RString(s.as_bytes().to_vec()))
}

pub fn ustring(s: &str) -> Value {
    Value::UString(UString(s.encode_utf16().collect()))
}

pub fn list(element: &Type, values: impl IntoIterator<Item = Value>) -> Value {
    Value::List(List::from_values(element, values))
}

pub fn set(values: impl IntoIterator<Item = Value>) -> Value {
    Value::Set(values.into_iter().collect::<Set>())
}

pub fn map(entries: impl IntoIterator<Item = (Value, Value)>) -> Value {
    Value::Map(entries.into_iter().collect::<Map>())
}

pub fn list_of(element: Type) -> Type {
    Type::List(element.into(), None)
}

pub fn map_of(key: Type, value: Type) -> Type {
    Type::Map((key, value).into(), None)
}

pub fn attr(index: u32, ty: Type) -> Expr {
    Expr::attribute(PortIndex(0), index, ty).with_pos(pos())
}

pub fn local(id: u32, ty: Type) -> Expr {
    Expr::local(LocalId(id), ty).with_pos(pos())
}

pub fn state(id: u32, ty: Type) -> Expr {
    Expr::state(StateId(id), ty).with_pos(pos())
}

pub fn bin(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr::binary(op, a, b).with_pos(pos())
}

pub fn add(a: Expr, b: Expr) -> Expr {
    bin(BinaryOp::Add, a, b)
}

pub fn index(base: Expr, at: Expr, ty: Type) -> Expr {
    expr(ExprKind::Index(base.into(), at.into()), ty)
}

pub fn slice(base: Expr, lower: Option<Expr>, upper: Option<Expr>) -> Expr {
    let ty = base.ty.clone();
    expr(
        ExprKind::Slice(base.into(), lower.map(Box::new), upper.map(Box::new)),
        ty,
    )
}

pub fn contains(item: Expr, collection: Expr) -> Expr {
    expr(ExprKind::In(item.into(), collection.into()), Type::Boolean)
}

pub fn tuple(ty: &Type, fields: Vec<Expr>) -> Expr {
    expr(ExprKind::Tuple(fields), ty.clone())
}

pub fn field(base: Expr, name: &str) -> Expr {
    base.field(name).with_pos(pos())
}

pub fn if_else(condition: Expr, yes: Expr, no: Expr) -> Expr {
    let ty = yes.ty.clone();
    expr(
        ExprKind::Conditional(condition.into(), yes.into(), no.into()),
        ty,
    )
}

pub fn call(function: u32, args: Vec<Arg>, ty: Type) -> Expr {
    Expr::call(Callee::User(FunctionId(function)), args, ty).with_pos(pos())
}

pub fn val(e: Expr) -> Arg {
    Arg::Value(e)
}

pub fn by_ref(place: Place) -> Arg {
    Arg::Place(place)
}

pub fn local_place(id: u32, ty: Type) -> Place {
    Place {
        pos: pos(),
        ..Place::new(PlaceRoot::Local(LocalId(id)), ty)
    }
}

pub fn state_place(id: u32, ty: Type) -> Place {
    Place {
        pos: pos(),
        ..Place::new(PlaceRoot::State(StateId(id)), ty)
    }
}

pub fn at(place: Place, index: Expr, ty: Type) -> Place {
    place.with_step(PlaceStep::Index(index), ty)
}

pub fn part(place: Place, index: u32, ty: Type) -> Place {
    place.with_step(PlaceStep::Field(index), ty)
}

pub fn set_to(place: Place, value: Expr) -> Stmt {
    Stmt::Expr(Expr::assign(place, value).with_pos(pos()))
}

pub fn add_to(place: Place, value: Expr) -> Stmt {
    op_to(BinaryOp::Add, place, value)
}

pub fn op_to(op: BinaryOp, place: Place, value: Expr) -> Stmt {
    Stmt::Expr(expr(
        ExprKind::AssignOp(op, place, value.into()),
        Type::Void,
    ))
}

pub fn step(place: Place, down: bool, prefix: bool) -> Expr {
    let ty = place.ty.clone();
    expr(
        ExprKind::Increment {
            place,
            is_decrement: down,
            is_prefix: prefix,
        },
        ty,
    )
}

pub fn let_(id: u32, value: Expr) -> Stmt {
    Stmt::Let(LocalId(id), Some(value))
}

pub fn for_(id: u32, collection: Expr, body: Vec<Stmt>) -> Stmt {
    Stmt::For(LocalId(id), collection, body)
}

pub fn ret(value: Expr) -> Stmt {
    Stmt::Return(Some(value))
}

pub fn var(name: &str, ty: Type) -> StateVar {
    StateVar {
        name: name.into(),
        ty,
        init: None,
    }
}

/// A body with these local variables.
pub fn body<const N: usize>(locals: [Type; N], stmts: Vec<Stmt>) -> Body {
    let locals = locals.into_iter().map(|ty| LocalVar::new("v", ty));
    Body {
        locals: locals.collect(),
        stmts,
    }
}

/// A function: formals, other locals, result, statements.
pub fn function(
    name: &str,
    formals: Vec<LocalVar>,
    locals: Vec<Type>,
    result: Type,
    stmts: Vec<Stmt>,
) -> Function {
    let count = formals.len() as u32;
    let rest = locals.into_iter().map(|ty| LocalVar::new("v", ty));
    Function {
        name: name.into(),
        formals: count,
        result,
        is_stateful: false,
        body: Body {
            locals: formals.into_iter().chain(rest).collect(),
            stmts,
        },
        pos: pos(),
    }
}

/// A stream of every sort of scalar that the normal codec has with a fixed length, at odd places.
pub fn scalars() -> Type {
    let level = tuple::EnumType {
        names: ["low", "high", "top"].map(Into::into).to_vec(),
    };
    Type::Tuple(crate::rig::schema([
        ("flag", Type::Boolean),
        ("n", Type::Int64),
        ("small", Type::Int8),
        ("x", Type::Float64),
        ("short", Type::Uint16),
        ("level", Type::Enum(level.into())),
        ("half", Type::Float32),
        ("tiny", Type::Uint8),
        ("stamp", Type::Timestamp),
        ("z", Type::Complex64),
        ("word", Type::Int32),
        ("w", Type::Complex32),
        ("last", Type::Uint64),
    ]))
}

/// The tuple number `n` of that stream.
pub fn scalar_tuple(n: i64) -> Value {
    let x = n as f64 / 3.0;
    Value::Tuple(Box::new([
        Value::Boolean(n % 3 == 0),
        Value::Int64(n << 40 | 0x01_0203),
        Value::Int8(n as i8),
        Value::Float64(x),
        Value::Uint16(n as u16 ^ 0xA5C3),
        Value::Enum(n.rem_euclid(3) as u32),
        Value::Float32(-x as f32),
        Value::Uint8(!n as u8),
        Value::Timestamp(tuple::Timestamp {
            seconds: -n,
            nanos: (n as u32).wrapping_mul(7),
            machine: 3 - n as i32,
        }),
        Value::Complex64(x, -0.0),
        Value::Int32(-(n as i32)),
        Value::Complex32(1.0, x as f32),
        Value::Uint64(!n as u64),
    ]))
}
