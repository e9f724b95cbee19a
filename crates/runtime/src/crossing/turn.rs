//! Turn: calls an operator in its turn among the senders of one stream.
//!
//! Recipients of a stream are called in the order of the consumers that they stand for, and give
//! its tuples positions of their own. Where a sender stands for consumers both before and behind
//! the operator, that is not the consumers' order. Then all recipients share one position, and the
//! operator continues it with its rank among the consumers. The plan says where a turn is needed;
//! what it submits is unchanged.

use eval::Fault;
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel};
use tuple::{EventTime, Punctuation, TupleRef};

use crate::blocking::before_sleep;
use crate::inserted::inserted_operator::InsertedOperator;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::{BuildContext, OperatorEntry};

/// The registry's entry of Turn.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::inserted(&MODEL, build);

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
            ..boolean_constant("rank")
        },
        ParamModel {
            doc: "Whether the recipient before it has given the tuple its position.",
            ..boolean_constant("repeatsPosition")
        },
        ParamModel {
            doc: "Whether the recipient behind it repeats the position.",
            ..boolean_constant("isRepeatedNext")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn boolean_constant(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "boolean",
        mode: ParamMode::Constant,
        mandatory: true,
        ..ParamModel::DEFAULT
    }
}

struct TurnOperator {
    rank: u64,
    repeats_position: bool,
    is_repeated_next: bool,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault> {
    build.set_keeps_watermarks();
    Ok(Box::new(TurnOperator {
        rank: build
            .param_uint32s("rank")?
            .first()
            .copied()
            .unwrap_or_default()
            .into(),
        repeats_position: build.flag("repeatsPosition", false)?,
        is_repeated_next: build.flag("isRepeatedNext", false)?,
    }))
}

impl InsertedOperator for TurnOperator {
    fn process(
        &mut self,
        _: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_in_turn(out, |out| out.submit(0, tuple))
    }

    fn process_window_marker(&mut self, _: u32, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.submit_in_turn(out, |out| out.submit_punctuation(0, Punctuation::Window))
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_in_turn(out, |out| out.submit_watermark(0, at))
    }

    fn process_final_marker(&mut self, _: u32, out: &mut dyn InsertedOutlet) -> Result<(), Fault> {
        self.submit_in_turn(out, |out| out.submit_punctuation(0, Punctuation::Final))
    }
}

impl TurnOperator {
    fn submit_in_turn(
        &self,
        out: &mut dyn InsertedOutlet,
        submit: impl FnOnce(&mut dyn InsertedOutlet) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let turn = out.order().enter_consumer(self.repeats_position, self.rank);
        let done = submit(out);
        let order = out.order();
        if let Some(turn) = turn {
            order.leave_consumer(turn);
        }
        if !self.is_repeated_next && order.finish_submission() {
            before_sleep::send_progress();
        }
        done
    }
}
