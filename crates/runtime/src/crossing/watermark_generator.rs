//! Watermarks: generates watermarks from the event times of the tuples that an operator submits.
//!
//! ```text
//!    Trades.0 -> 0 [ submit, then watermark if that has advanced enough ] 0 -> ...
//!    Trades.1 -> 1 [                                                    ] 1 -> ...
//! ```
//! A PE has one behind each operator whose clock says so ([`graph::EventClock`]). All its ports
//! share one watermark: the greatest event time that has passed, less the lag. The watermark
//! follows the tuple that has advanced it, and goes to all ports. It is lowered, so that compiled
//! code goes on through it.

use eval::{Fault, FaultKind};
use graph::{
    Body, EventClock, Expr, ExprKind, InPort, InPortModel, OperatorModel, OperatorNode,
    OutPortModel, PortIndex, Stmt,
};
use tuple::{Type, Value};

use crate::{LoweredLogic, OperatorConstructor, OperatorEntry};

/// The registry's entry of Watermarks.
pub(crate) const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Lower(lower),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.eventtime",
    name: "Watermarks",
    doc: "Makes watermarks of the event times that pass. Inserted behind `@eventTime`.",
    inputs: &[InPortModel::ANY],
    outputs: &[OutPortModel::ANY],
    ..OperatorModel::DEFAULT
};

fn lower(operator: &OperatorNode) -> Result<LoweredLogic, Fault> {
    let clock = operator.clock.as_ref();
    let clock = clock.ok_or_else(|| Fault::new(FaultKind::Limit, "watermarks without a clock"))?;
    let ports = (0..).map(PortIndex).zip(&operator.inputs);
    let on_tuple = ports.map(|(port, input)| on_tuple(operator, clock, port, input));
    Ok(LoweredLogic {
        on_tuple: on_tuple.collect::<Result<_, _>>()?,
        on_punct: vec![None; operator.inputs.len()],
        continues_ports: true,
        ..LoweredLogic::default()
    })
}

/// The statements for a tuple: submit, then advance the watermark.
fn on_tuple(
    operator: &OperatorNode,
    clock: &EventClock,
    port: PortIndex,
    input: &InPort,
) -> Result<Body, Fault> {
    let pos = operator.pos;
    let found = input.schema.find(&clock.attribute);
    let (at, attribute) = found.ok_or_else(|| missing_event_time(&clock.attribute))?;
    let tuple = Expr {
        kind: ExprKind::Input { port, history: 0 },
        ty: Type::Tuple(input.schema.clone()),
        pos,
    };
    let time = Expr::attribute(port, at as u32, attribute.ty.clone()).with_pos(pos);
    let submit = Stmt::Submit {
        port: Expr::constant(Value::Uint32(port.0), Type::Uint32).with_pos(pos),
        tuple,
        pos,
    };
    Ok(Body {
        stmts: vec![submit, Stmt::AdvanceWatermark(time)],
        ..Body::default()
    })
}

fn missing_event_time(attribute: &str) -> Fault {
    let message = format!("a stream has no event time `{attribute}`");
    Fault::new(FaultKind::Limit, message)
}
