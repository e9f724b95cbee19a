//! Short constructors of typed expressions, for tests.

use graph::{BinaryOp, Expr, ExprKind, LocalId, PortIndex, Pos, StateId, Stmt};
use tuple::{Type, Value};

/// A place that messages can be told by.
pub const TEST_POS: Pos = Pos {
    file: 0,
    line: 1,
    column: 1,
};

/// An expression of any form.
pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    let pos = TEST_POS;
    Expr { kind, ty, pos }
}

/// A constant of a type.
pub fn constant(value: Value, ty: Type) -> Expr {
    expr(ExprKind::Const(value), ty)
}

/// A constant of type int64.
pub fn int64(value: i64) -> Expr {
    constant(Value::Int64(value), Type::Int64)
}

/// A constant of type int32.
pub fn int32(value: i32) -> Expr {
    constant(Value::Int32(value), Type::Int32)
}

/// A constant of type uint32.
pub fn uint32(value: u32) -> Expr {
    constant(Value::Uint32(value), Type::Uint32)
}

/// A constant of type float64.
pub fn float64(value: f64) -> Expr {
    constant(Value::Float64(value), Type::Float64)
}

/// A constant of type boolean.
pub fn boolean(value: bool) -> Expr {
    constant(Value::Boolean(value), Type::Boolean)
}

/// A constant of type rstring.
pub fn rstring(value: &str) -> Expr {
    constant(Value::RString(value.into()), Type::RString)
}

/// An attribute of the current tuple of an input port.
pub fn attribute(port: PortIndex, index: u32, ty: Type) -> Expr {
    history_attribute(port, 0, index, ty)
}

/// An attribute of an earlier tuple of an input port.
pub fn history_attribute(port: PortIndex, history: u32, index: u32, ty: Type) -> Expr {
    let kind = ExprKind::Attribute {
        port,
        history,
        index,
    };
    expr(kind, ty)
}

/// The value of a state variable.
pub fn state(id: u32, ty: Type) -> Expr {
    expr(ExprKind::State(StateId(id)), ty)
}

/// The value of a local variable.
pub fn local(id: u32, ty: Type) -> Expr {
    expr(ExprKind::Local(LocalId(id)), ty)
}

/// `a op b` on two values of one type.
pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let ty = if op.is_comparison() {
        Type::Boolean
    } else {
        a.ty.clone()
    };
    expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty)
}

/// The sum `a + b`.
pub fn add(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Add, a, b)
}

/// The remainder `a % b`.
pub fn rem(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Rem, a, b)
}

/// The quotient `a / b`.
pub fn div(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Div, a, b)
}

/// The comparison `a < b`.
pub fn lt(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Lt, a, b)
}

/// The comparison `a == b`.
pub fn eq(a: Expr, b: Expr) -> Expr {
    binary(BinaryOp::Eq, a, b)
}

/// A tuple from its attributes.
pub fn tuple(names: &[&str], attributes: Vec<Expr>) -> Expr {
    let types = attributes.iter().map(|a| a.ty.clone());
    let named = names.iter().copied().zip(types);
    let ty = Type::Tuple(tuple::TupleType::new(named).into());
    expr(ExprKind::Tuple(attributes), ty)
}

/// The statement `state = value;`.
pub fn set_state(id: u32, value: Expr) -> Stmt {
    let place = graph::Place {
        root: graph::PlaceRoot::State(StateId(id)),
        steps: Vec::new(),
        ty: value.ty.clone(),
        pos: TEST_POS,
    };
    Stmt::Expr(expr(ExprKind::Assign(place, Box::new(value)), Type::Void))
}

/// The statement `submit(tuple, port);`.
pub fn submit(port: PortIndex, tuple: Expr) -> Stmt {
    Stmt::Submit {
        port: uint32(port.0),
        tuple,
        pos: TEST_POS,
    }
}

/// `submit(Sys.WindowMarker, port);`, or the final marker.
pub fn submit_mark(port: PortIndex, mark: tuple::Punctuation) -> Stmt {
    let names = ["WindowMarker", "FinalMarker"].map(Into::into).to_vec();
    let ty = Type::Enum(std::sync::Arc::new(tuple::EnumType { names }));
    Stmt::SubmitPunct {
        port: uint32(port.0),
        mark: constant(Value::Enum(mark as u32), ty),
        pos: TEST_POS,
    }
}

/// A body of statements with local variables.
pub fn body(locals: &[Type], stmts: Vec<Stmt>) -> graph::Body {
    let mut body = graph::Body::default();
    for (at, ty) in locals.iter().enumerate() {
        body.local(format!("l{at}"), ty.clone());
    }
    body.stmts = stmts;
    body
}
