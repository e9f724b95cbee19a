//! ParallelSplitter: distributes the tuples of a stream to the channels of a parallel region.
//!
//! The compiler puts it before each input port of an invocation that is `@parallel`.

use std::sync::Arc;

use eval::Fault;
use graph::{
    Arg, BinaryOp, Callee, Cardinality, Expr, ExprKind, OperatorNode, Place, PortIndex,
    PunctuationOutputMode,
};
use graph::{
    InPortModel, OperatorModel, OperatorRole, OutPortModel, ParamMode, ParamModel, PlaceRoot,
};
use graph::{NativeId, StateId, StateVar, Stmt};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::{TupleType, Type};

use super::split::route;
use crate::function::functions;
use crate::lower;
use crate::verify_params::exprs;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility.internal",
    name: "ParallelSplitter",
    doc: "Deals the tuples of a stream out to the channels of a parallel region: in turn, by the \
          hash code of a key, or all to all. Window markers go to all channels.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        count: Cardinality::Any,
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "key",
            mode: ParamMode::Expression,
            is_list: true,
            doc: "Tuples with equal keys go to the same channel. Default: each channel in turn.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "broadcast",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether every channel gets every tuple. Default: false.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "dropMarkers",
            ty: "boolean",
            mode: ParamMode::Constant,
            doc: "Whether window markers end here. Default: false.",
            ..ParamModel::DEFAULT
        },
    ],
    role: OperatorRole::Splitter,
    ..OperatorModel::DEFAULT
};

/// The statements, and the turn as state.
pub fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let in_turn = operator.param("key").is_none() && operator.param("broadcast").is_none();
    let id = channel_state(operator);
    let next = lower::expr(ExprKind::State(id), Type::Uint64, operator.pos);
    let mut logic = lower::after_logic(operator, |_, body| {
        let stmts = if operator.param("broadcast").is_some() {
            let ports = (0..operator.outputs.len() as u32).map(PortIndex);
            let tuple = || lower::input(operator, PortIndex(0));
            ports.map(|port| lower::submit(port, tuple())).collect()
        } else if in_turn {
            // Before the tuple is submitted, because it may return through a loop.
            let turn = body.local("turn", Type::Uint64);
            let read = lower::expr(ExprKind::Local(turn), Type::Uint64, operator.pos);
            let mut stmts = vec![
                Stmt::Let(turn, Some(next.clone())),
                advance_channel(operator),
            ];
            stmts.extend(route(operator, body, &read));
            stmts
        } else {
            let index = hash(operator, exprs(operator, "key"))?;
            let local = body.local("hash", Type::Uint64);
            let read = lower::expr(ExprKind::Local(local), Type::Uint64, operator.pos);
            let mut stmts = vec![Stmt::Let(local, Some(index))];
            stmts.extend(route(operator, body, &read));
            stmts
        };
        body.stmts.extend(stmts);
        Ok(())
    })?;
    if in_turn {
        logic.state.push(StateVar {
            name: "next".into(),
            ty: Type::Uint64,
            init: None,
        });
    }
    logic.keeps_markers = operator.param("dropMarkers").is_some();
    Ok(logic)
}

/// The state variable of the turn, behind those of a logic clause.
fn channel_state(operator: &OperatorNode) -> StateId {
    StateId(operator.logic.state.len() as u32)
}

/// `next = (next + 1) % channels`
fn advance_channel(operator: &OperatorNode) -> Stmt {
    let pos = operator.pos;
    let uint64 = |value| lower::constant(tuple::Value::Uint64(value), Type::Uint64, pos);
    let binary = |op, a, b| {
        let kind = ExprKind::Binary(op, Box::new(a), Box::new(b));
        lower::expr(kind, Type::Uint64, pos)
    };
    let id = channel_state(operator);
    let next = lower::expr(ExprKind::State(id), Type::Uint64, pos);
    let after = binary(BinaryOp::Add, next, uint64(1));
    let after = binary(BinaryOp::Rem, after, uint64(operator.outputs.len() as u64));
    let place = Place {
        root: PlaceRoot::State(id),
        steps: Vec::new(),
        ty: Type::Uint64,
        pos,
    };
    let kind = ExprKind::Assign(place, Box::new(after));
    Stmt::Expr(lower::expr(kind, Type::Void, pos))
}

/// The hash code of a key: that of its value, or of a tuple of its values.
fn hash(operator: &OperatorNode, key: &[Expr]) -> Result<Expr, Fault> {
    let pos = operator.pos;
    let value = match key {
        [one] => one.clone(),
        several => {
            let named = (0..)
                .zip(several)
                .map(|(at, e): (u32, _)| (format!("_{at}"), e.ty.clone()));
            let schema = Arc::new(TupleType::new(named));
            lower::tuple(several.to_vec(), &schema, pos)
        }
    };
    let all = functions();
    let at = all.iter().position(|f| f.prototype.contains(" hashCode("));
    let at = at.ok_or_else(|| lower::missing_param("hashCode"))?;
    let callee = Callee::Native(NativeId(at as u32));
    let kind = ExprKind::Call(callee, vec![Arg::Value(value)]);
    Ok(lower::expr(kind, Type::Uint64, pos))
}
