//! Switch: blocks tuples while it is closed.

use eval::Fault;
use graph::PunctuationOutputMode;
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel, PortIndex};
use runtime::abi::Predicate;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::TupleRef;

use super::held_items::HeldItems;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Switch",
    doc: "Passes tuples while it is open, and holds up whoever sends them while it is closed. \
          Tuples of the second input port, which is a control port, open and close it. Where the \
          thread that sends is the only one that could open it, tuples wait in the operator. Those \
          that still wait when the input has ended are dropped, with a warning.",
    inputs: &[
        InPortModel::DEFAULT,
        InPortModel {
            is_control: true,
            ..InPortModel::DEFAULT
        },
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Preserving(PortIndex(0)),
        auto_assignment: true,
        complete_assignment: true,
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "status",
            ty: "boolean",
            mode: ParamMode::Expression,
            mandatory: true,
            port: Some(PortIndex(1)),
            doc: "Whether a tuple of the control port opens the switch, or closes it.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "initialStatus",
            ty: "boolean",
            doc: "Whether the switch is open at first. Default: false.",
            ..ParamModel::DEFAULT
        },
    ],
    ..OperatorModel::DEFAULT
};

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.set_bounded();
    build.set_keeps_markers();
    let held = HeldItems::new("Switch", build.state_memory());
    let status = crate::lower::param(build.operator, "status");
    let status = status.ok_or_else(|| crate::lower::missing_param("status"))?;
    Ok(Box::new(Switch {
        status: build.predicate(status)?,
        is_open: build.flag("initialStatus", false)?,
        held,
    }))
}

struct Switch {
    status: Predicate,
    is_open: bool,
    held: HeldItems,
}

impl Operator for Switch {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if port == PortIndex(1) {
            let tuples = [None, Some(tuple)];
            self.is_open = self.status.holds(&EvaluationInputs::new(&tuples), out)?;
            let is_open = self.is_open;
            return self.held.release(out, || is_open);
        }
        if self.is_open {
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
        let why = "the switch is closed, and nobody is left who opens it";
        self.held.drop_rest(why, out)
    }

    fn has_room(
        &mut self,
        port: PortIndex,
        _: TupleRef<'_>,
        _: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        Ok(port == PortIndex(1) || self.is_open)
    }
}
