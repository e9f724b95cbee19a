//! Split: submits each tuple to the output ports that an index or a mapping file chooses.

use eval::Fault;
use graph::{
    BinaryOp, Body, Cardinality, Expr, ExprKind, InvocationError, InvocationPart, OperatorNode,
    PortIndex,
};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use graph::{PunctuationOutputMode, Stmt};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::{Type, Value};

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Choose(make),
};

const OUT: OutPortModel = OutPortModel {
    punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
    auto_assignment: true,
    complete_assignment: true,
    same_schema_as: Some(PortIndex(0)),
    ..OutPortModel::DEFAULT
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Split",
    doc: "Sends each tuple to the output ports that an index chooses, or the line of a mapping \
          file that begins with its key. Window markers go to all output ports.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[
        OUT,
        OutPortModel {
            count: Cardinality::Any,
            ..OUT
        },
    ],
    params: &[
        ParamModel {
            name: "index",
            ty: "int32 | uint32 | int64 | uint64 | \
                 list<int32> | list<uint32> | list<int64> | list<uint64>",
            mode: ParamMode::Expression,
            doc: "Output port, or ports; taken modulo their number. A negative one drops.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "file",
            ty: "rstring",
            doc: "The mapping file: lines `key,port,...`; the key `default` takes the rest.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "key",
            mode: ParamMode::Expression,
            doc: "What is looked up in the mapping file.",
            ..ParamModel::DEFAULT
        },
    ],
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// Either `index`, or `file` and `key`.
fn verify(operator: &OperatorNode) -> Result<(), InvocationError> {
    let given = |name: &str| operator.param(name).is_some();
    let wrong = |part: InvocationPart, message: &str| {
        Err(InvocationError {
            part,
            message: message.to_owned(),
            help: "give either index, or file and key".to_owned(),
        })
    };
    match (given("index"), given("file"), given("key")) {
        (true, false, false) | (false, true, true) => Ok(()),
        (true, true, _) => wrong(
            InvocationPart::Param("file"),
            "index and file exclude each other",
        ),
        (true, _, true) => wrong(
            InvocationPart::Param("key"),
            "index and key exclude each other",
        ),
        (false, true, false) => wrong(
            InvocationPart::Param("file"),
            "file needs the parameter key",
        ),
        (false, false, true) => wrong(InvocationPart::Param("key"), "key needs the parameter file"),
        (false, false, false) => wrong(InvocationPart::Head, "Split needs to know where tuples go"),
    }
}

/// Lowers a Split with an index to statements, and builds one with a mapping file.
fn make(operator: &OperatorNode) -> OperatorConstructor {
    if operator.param("index").is_some() {
        OperatorConstructor::Lower(lower)
    } else {
        OperatorConstructor::Build(super::split_map::build)
    }
}

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let index = lower::param(operator, "index").ok_or_else(|| lower::missing_param("index"))?;
    lower::after_logic(operator, |_, body| {
        let stmts = match &index.ty {
            Type::List(element, _) => {
                let each = body.local("each", Type::clone(element));
                let read = lower::expr(ExprKind::Local(each), Type::clone(element), index.pos);
                let route = route(operator, body, &read);
                vec![Stmt::For(each, index.clone(), route)]
            }
            ty => {
                let local = body.local("index", ty.clone());
                let read = lower::expr(ExprKind::Local(local), ty.clone(), index.pos);
                let mut stmts = vec![Stmt::Let(local, Some(index.clone()))];
                stmts.extend(route(operator, body, &read));
                stmts
            }
        };
        body.stmts.extend(stmts);
        Ok(())
    })
}

/// Sends the tuple to the port of an index: none if negative, else modulo the number of ports.
pub fn route(operator: &OperatorNode, body: &mut Body, index: &Expr) -> Vec<Stmt> {
    let pos = index.pos;
    let binary = |op, a: &Expr, b: Expr, ty: Type| {
        lower::expr(
            ExprKind::Binary(op, Box::new(a.clone()), Box::new(b)),
            ty,
            pos,
        )
    };
    let count = operator.outputs.len() as u32;
    let wide = wide_type(&index.ty);
    let count = lower::constant(typed_count(&wide, count), wide.clone(), pos);
    let wider = lower::expr(ExprKind::Cast(Box::new(index.clone())), wide.clone(), pos);
    let port = binary(BinaryOp::Rem, &wider, count, wide);
    let port = lower::expr(ExprKind::Cast(Box::new(port)), Type::Uint32, pos);
    let local = body.local("port", Type::Uint32);
    let read = lower::expr(ExprKind::Local(local), Type::Uint32, pos);
    let mut stmts = vec![Stmt::Let(local, Some(port))];
    stmts.extend(submit_to_chosen(operator, &read));
    if index.ty.is_signed() {
        let zero = lower::default_value(&index.ty, pos);
        let is_port = binary(BinaryOp::Ge, index, zero, Type::Boolean);
        stmts = vec![Stmt::If(is_port, stmts, Vec::new())];
    }
    stmts
}

/// A chain of conditions, so that each submission names its port and can be fused.
fn submit_to_chosen(operator: &OperatorNode, port: &Expr) -> Vec<Stmt> {
    let tuple = || lower::input(operator, PortIndex(0));
    let count = operator.outputs.len() as u32;
    if count > PORTS_IN_CHAIN {
        return vec![Stmt::Submit {
            port: port.clone(),
            tuple: tuple(),
            pos: port.pos,
        }];
    }
    (0..count).rev().fold(Vec::new(), |others, at| {
        let submit = vec![lower::submit(PortIndex(at), tuple())];
        if at == count - 1 {
            return submit;
        }
        let this = lower::constant(Value::Uint32(at), Type::Uint32, port.pos);
        let kind = ExprKind::Binary(BinaryOp::Eq, Box::new(port.clone()), Box::new(this));
        let is_it = lower::expr(kind, Type::Boolean, port.pos);
        vec![Stmt::If(is_it, submit, others)]
    })
}

/// Number of ports up to which each has its own statement; with more, a submission computes its
/// port.
const PORTS_IN_CHAIN: u32 = 16;

/// 64 bits of the same sign: the number of ports fits.
fn wide_type(ty: &Type) -> Type {
    if ty.is_signed() {
        Type::Int64
    } else {
        Type::Uint64
    }
}

fn typed_count(ty: &Type, count: u32) -> Value {
    match ty {
        Type::Int64 => Value::Int64(count.into()),
        _ => Value::Uint64(count.into()),
    }
}
