//! Punctor: adds window markers to a stream.

use eval::Fault;
use graph::{AssignmentMode, Expr, ExprKind, OperatorNode, PortIndex, Stmt};
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use runtime::{LoweredLogic, OperatorConstructor, OperatorEntry};
use tuple::Type;

use crate::lower;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.relational",
    name: "Punctor",
    doc: "Sends each tuple on, with a window marker before or after those that meet a condition. \
          Window markers that come in are dropped.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        assign: AssignmentMode::Expression,
        auto_assignment: true,
        complete_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "punctuate",
            ty: "boolean",
            mode: ParamMode::Expression,
            mandatory: true,
            doc: "Whether a marker goes with this tuple.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "position",
            ty: "PunctuationPosition",
            mode: ParamMode::Literal,
            mandatory: true,
            doc: "Whether the marker comes before or after the tuple.",
            ..ParamModel::DEFAULT
        },
    ],
    enums: &[("PunctuationPosition", &["before", "after"])],
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let punctuate = lower::param(operator, "punctuate");
    let punctuate = punctuate.ok_or_else(|| lower::missing_param("punctuate"))?;
    let is_before = lower::literal(operator, "position") == Some("before");
    lower::after_logic(operator, |_, body| {
        let local = body.local("punctuate", Type::Boolean);
        let condition = lower::expr(ExprKind::Local(local), Type::Boolean, operator.pos);
        let mark = vec![lower::submit_window(PortIndex(0), operator.pos)];
        let mark = lower::guarded(Some(&condition), mark);
        let output = lower::output(&operator.outputs[0], operator.pos, Expr::clone);
        let submit = vec![lower::submit(PortIndex(0), output)];
        body.stmts.push(Stmt::Let(local, Some(punctuate.clone())));
        body.stmts.extend(if is_before {
            [mark, submit].concat()
        } else {
            [submit, mark].concat()
        });
        Ok(())
    })
}
