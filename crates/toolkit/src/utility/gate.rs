//! Gate: passes tuples while at most a given number is not acknowledged.

use eval::{Fault, FaultKind};
use graph::{InPortModel, InvocationError, OperatorModel, OperatorNode as Invocation, PortIndex};
use graph::{InvocationPart, OutPortModel, ParamMode, ParamModel, PunctuationOutputMode};
use runtime::abi::Projection;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{TupleBuf, TupleRef};

use super::held_items::HeldItems;
use crate::verify_params::{exprs, report_misuse};

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Gate",
    doc: "Passes tuples until so many are unacknowledged, then holds up whoever sends more. Tuples \
          of the second input port, which is a control port, acknowledge. Where the thread that \
          sends is the only one that could acknowledge, tuples wait in the operator. Those that \
          still wait when the input has ended are dropped, with a warning.",
    inputs: &[
        InPortModel::DEFAULT,
        InPortModel {
            is_control: true,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "maxUnackedTupleCount",
            ty: INTEGERS,
            mandatory: true,
            doc: "How many tuples may be unacknowledged, from 1.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "numTuplesToAck",
            ty: INTEGERS,
            mode: ParamMode::Expression,
            port: Some(PortIndex(1)),
            doc: "How many tuples a tuple of the control port acknowledges. Default: 1.",
            ..ParamModel::DEFAULT
        },
    ],
    allows_logic: false,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

const INTEGERS: &str = "int32 | uint32 | int64 | uint64 | int8 | uint8 | int16 | uint16";

/// A number that is known is one from 1.
fn verify(operator: &Invocation) -> Result<(), InvocationError> {
    let Some(expr) = exprs(operator, "maxUnackedTupleCount").first() else {
        return Ok(());
    };
    match &expr.kind {
        graph::ExprKind::Const(value) => match value.as_integer() {
            Some(number) if number < 1 => {
                let message = format!("`maxUnackedTupleCount` is {number}");
                let help = "give a number from 1: with less no tuple ever passes";
                report_misuse(InvocationPart::Param("maxUnackedTupleCount"), message, help)
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.set_bounded();
    build.set_keeps_markers();
    let most = build.integer("maxUnackedTupleCount")?.unwrap_or(1);
    if most < 1 {
        let message = format!("maxUnackedTupleCount is {most}, and should be a number from 1");
        return Err(Fault::new(FaultKind::Limit, message));
    }
    Ok(Box::new(Gate {
        unacknowledged_max: most,
        unacknowledged: 0,
        acknowledged_count: build.param_projection("numTuplesToAck")?,
        buffer: TupleBuf::default(),
        held: HeldItems::new("Gate", build.state_memory()),
    }))
}

struct Gate {
    unacknowledged_max: i128,
    unacknowledged: i128,
    /// Number of tuples that a control tuple acknowledges.
    acknowledged_count: Option<Projection>,
    buffer: TupleBuf,
    held: HeldItems,
}

impl Gate {
    /// Never acknowledges more tuples than there are.
    fn acknowledge(&mut self, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        let count = match &mut self.acknowledged_count {
            None => 1,
            Some(count) => {
                let tuples = [None, Some(tuple)];
                count.write(&EvaluationInputs::new(&tuples), out, &mut self.buffer)?;
                let count = self.buffer.as_ref().get(&count.layout, 0);
                count.as_integer().unwrap_or(0).max(0)
            }
        };
        self.unacknowledged -= count.min(self.unacknowledged);
        let Gate {
            unacknowledged,
            unacknowledged_max,
            held,
            ..
        } = self;
        held.release(out, || {
            let has_room = *unacknowledged < *unacknowledged_max;
            *unacknowledged += i128::from(has_room);
            has_room
        })
    }
}

impl Operator for Gate {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if port == PortIndex(1) {
            return self.acknowledge(tuple, out);
        }
        if self.unacknowledged < self.unacknowledged_max {
            self.unacknowledged += 1;
            return out.submit(PortIndex(0), tuple);
        }
        self.held.hold(tuple)
    }

    fn process_window_marker(
        &mut self,
        port: PortIndex,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        match port {
            PortIndex(0) => self.held.pass_window_marker(out),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut dyn Outlet) -> Result<(), Fault> {
        let why = "nobody is left who acknowledges those before";
        self.held.drop_rest(why, out)
    }

    fn has_room(
        &mut self,
        port: PortIndex,
        _: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        Ok(port == PortIndex(1) || self.unacknowledged < self.unacknowledged_max)
    }
}
