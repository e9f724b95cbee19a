//! Constructors of typed statements for lowered operators, and access to their parameters.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::{
    Body, Expr, ExprKind, OperatorNode, OperatorTimers, OutPort, ParamValue, PortIndex, Pos, Stmt,
};
use runtime::LoweredLogic;
use tuple::{TupleType, Type, Value};

/// The logic clause as a body for each input port; `then` adds the operator's own statements.
pub fn after_logic(
    operator: &OperatorNode,
    mut then: impl FnMut(PortIndex, &mut Body) -> Result<(), Fault>,
) -> Result<LoweredLogic, Fault> {
    let mut logic = LoweredLogic {
        state: operator.logic.state.clone(),
        on_punct: on_punct(operator),
        ..LoweredLogic::default()
    };
    for port in (0..operator.inputs.len() as u32).map(PortIndex) {
        let clause = operator.logic.on_tuple.get(port.index()).cloned().flatten();
        let mut body = clause.unwrap_or_default();
        if !body.stmts.is_empty() {
            // `return` ends the clause, not the operator's own statements.
            body.stmts = vec![Stmt::Clause(body.stmts)];
        }
        then(port, &mut body)?;
        logic.on_tuple.push(body);
    }
    Ok(logic)
}

/// The `onPunct` clause of each input port.
pub fn on_punct(operator: &OperatorNode) -> Vec<Option<Body>> {
    let ports = 0..operator.inputs.len();
    let clauses = &operator.logic.on_punct;
    ports
        .map(|port| clauses.get(port).cloned().flatten())
        .collect()
}

/// The first expression of a parameter, if it is given.
pub fn param<'a>(operator: &'a OperatorNode, name: &str) -> Option<&'a Expr> {
    match &operator.param(name)?.value {
        ParamValue::Exprs(exprs) => exprs.first(),
        ParamValue::Literals(_) => None,
    }
}

/// The value of a parameter that is constant when compiling, if it is given.
pub fn constant_param<'a>(operator: &'a OperatorNode, name: &str) -> Option<&'a Value> {
    match &param(operator, name)?.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

/// The custom literal of a parameter, if it is given.
pub fn literal<'a>(operator: &'a OperatorNode, name: &str) -> Option<&'a str> {
    match &operator.param(name)?.value {
        ParamValue::Literals(names) => names.first().map(|name| &**name),
        ParamValue::Exprs(_) => None,
    }
}

/// Timers of an operator that has one, which submits, if a window is flushed or triggered by time.
pub fn period_timers(operator: &OperatorNode) -> OperatorTimers {
    let mut windows = operator
        .inputs
        .iter()
        .filter_map(|port| port.window.as_ref());
    let has_period = windows.any(|window| window.period_s().is_some());
    OperatorTimers::new(has_period, true)
}

/// A statement that submits a tuple to a port.
pub fn submit(port: PortIndex, tuple: Expr) -> Stmt {
    let pos = tuple.pos;
    Stmt::Submit {
        port: constant(Value::Uint32(port.0), Type::Uint32, pos),
        tuple,
        pos,
    }
}

/// A statement that submits a window marker to a port.
pub fn submit_window(port: PortIndex, pos: Pos) -> Stmt {
    Stmt::SubmitPunct {
        port: constant(Value::Uint32(port.0), Type::Uint32, pos),
        mark: constant(Value::Enum(0), punctuation(), pos),
        pos,
    }
}

/// An expression for the marker that an `onPunct` body processes.
pub fn current_punctuation(pos: Pos) -> Expr {
    expr(ExprKind::CurrentPunct, punctuation(), pos)
}

/// The type of punctuation: `enum{WindowMarker,FinalMarker}`.
fn punctuation() -> Type {
    let names = ["WindowMarker", "FinalMarker"].map(Arc::from).to_vec();
    Type::Enum(Arc::new(tuple::EnumType { names }))
}

/// An expression for the input tuple of a port.
pub fn input(operator: &OperatorNode, port: PortIndex) -> Expr {
    Expr {
        kind: ExprKind::Input { port, history: 0 },
        ty: Type::Tuple(operator.inputs[port.index()].schema.clone()),
        pos: operator.pos,
    }
}

/// The tuple that an output clause describes: `attribute` gives the expression of each assignment.
pub fn output(out: &OutPort, pos: Pos, mut attribute: impl FnMut(&Expr) -> Expr) -> Expr {
    let attributes = out.schema.attributes.iter().enumerate();
    let attributes = attributes.map(|(at, declared)| match out.assign.get(at) {
        Some(Some(assigned)) => attribute(assigned),
        _ => default_value(&declared.ty, pos),
    });
    tuple(attributes.collect(), &out.schema, pos)
}

/// A tuple from its attributes.
pub fn tuple(attributes: Vec<Expr>, schema: &Arc<TupleType>, pos: Pos) -> Expr {
    Expr {
        kind: ExprKind::Tuple(attributes),
        ty: Type::Tuple(schema.clone()),
        pos,
    }
}

/// A type's default value.
pub fn default_value(ty: &Type, pos: Pos) -> Expr {
    constant(Value::default_of(ty), ty.clone(), pos)
}

/// An expression of constant value.
pub fn constant(value: Value, ty: Type, pos: Pos) -> Expr {
    let kind = ExprKind::Const(value);
    Expr { kind, ty, pos }
}

/// An expression of any kind.
pub fn expr(kind: ExprKind, ty: Type, pos: Pos) -> Expr {
    Expr { kind, ty, pos }
}

/// The statements under a condition, or without one if none is given.
pub fn guarded(condition: Option<&Expr>, stmts: Vec<Stmt>) -> Vec<Stmt> {
    match condition {
        Some(condition) => vec![Stmt::If(condition.clone(), stmts, Vec::new())],
        None => stmts,
    }
}

/// The fault of a missing parameter, which the compiler should have refused.
pub fn missing_param(name: &str) -> Fault {
    Fault::new(FaultKind::Limit, format!("parameter {name} is missing"))
}
