//! Turn: calls an operator where its call stands among those of senders of the same stream.
//!
//! It hands on everything as it is; see [`super::order`] for what it is there for.

use graph::{Fault, InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use tuple::{EventTime, Punctuation, TupleRef};

use super::{order, quiet};
use crate::{Build, Operator, OperatorEntry, Outlet};

/// The registry's line.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::built(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Turn",
    doc: "Calls an operator in its turn. Inserted where streams part whose order counts.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        same_schema_as: Some(0),
        ..OutPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            ty: "uint32",
            doc: "Where the operator stands among the consumers of the stream.",
            ..constant("rank")
        },
        ParamModel {
            doc: "What was called before has given the tuple its place.",
            ..constant("again")
        },
        ParamModel {
            doc: "What is called behind it gives the tuple the same place.",
            ..constant("more")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn constant(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "boolean",
        mode: ParamMode::Constant,
        mandatory: true,
        ..ParamModel::DEFAULT
    }
}

struct Turn {
    rank: u64,
    is_again: bool,
    has_more: bool,
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    build.keeps_watermarks();
    Ok(Box::new(Turn {
        rank: build
            .numbers("rank")?
            .first()
            .copied()
            .unwrap_or_default()
            .into(),
        is_again: build.flag("again", false)?,
        has_more: build.flag("more", false)?,
    }))
}

impl Operator for Turn {
    fn process(&mut self, _: u32, tuple: TupleRef<'_>, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.take(|| out.submit(0, tuple))
    }

    fn window_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.take(|| out.punctuate(0, Punctuation::Window))
    }

    fn watermark(&mut self, at: EventTime, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.take(|| out.watermark(0, at))
    }

    fn final_marker(&mut self, _: u32, out: &mut dyn Outlet) -> Result<(), Fault> {
        self.take(|| out.punctuate(0, Punctuation::Final))
    }
}

impl Turn {
    fn take(&self, act: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
        let turn = order::turn(self.is_again, self.rank);
        let done = act();
        order::turned(turn);
        if !self.has_more && order::submitted() {
            quiet::say_reached();
        }
        done
    }
}
