//! OrderedCall: calls an operator at its rank among the consumers of one stream.
//!
//! Recipients of a stream are called in the order of the consumers that they stand for, and give
//! its tuples positions of their own. Where a sender stands for consumers both before and behind
//! the operator, that is not the consumers' order. Then all recipients share one position, and the
//! operator continues it with its rank among the consumers. The plan says where that is needed;
//! what is submitted is unchanged.

use eval::Fault;
use graph::{InPortModel, OperatorModel, OutPortModel, ParamMode, ParamModel, PortIndex};
use tuple::{EventTime, Punctuation, TupleRef};

use crate::blocking::before_sleep;
use crate::inserted::inserted_operator::InsertedOperator;
use crate::inserted::inserted_outlet::InsertedOutlet;
use crate::{BuildContext, OperatorEntry};

/// The registry's entry of OrderedCall.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::inserted(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "OrderedCall",
    doc: "Calls an operator at its rank among the consumers of a stream. Inserted where streams \
          part whose order counts.",
    inputs: &[InPortModel::DEFAULT],
    outputs: &[OutPortModel {
        same_schema_as: Some(PortIndex(0)),
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

struct OrderedCallOperator {
    rank: u64,
    repeats_position: bool,
    is_repeated_next: bool,
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault> {
    build.set_keeps_watermarks();
    Ok(Box::new(OrderedCallOperator {
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

impl InsertedOperator for OrderedCallOperator {
    fn process(
        &mut self,
        _: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_at_rank(out, |out| out.submit(PortIndex(0), tuple))
    }

    fn process_window_marker(
        &mut self,
        _: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_at_rank(out, |out| {
            out.submit_punctuation(PortIndex(0), Punctuation::Window)
        })
    }

    fn process_watermark(
        &mut self,
        at: EventTime,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_at_rank(out, |out| out.submit_watermark(PortIndex(0), at))
    }

    fn process_final_marker(
        &mut self,
        _: PortIndex,
        out: &mut dyn InsertedOutlet,
    ) -> Result<(), Fault> {
        self.submit_at_rank(out, |out| {
            out.submit_punctuation(PortIndex(0), Punctuation::Final)
        })
    }
}

impl OrderedCallOperator {
    fn submit_at_rank(
        &self,
        out: &mut dyn InsertedOutlet,
        submit: impl FnOnce(&mut dyn InsertedOutlet) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let position = out.order().enter_consumer(self.repeats_position, self.rank);
        let done = submit(out);
        let order = out.order();
        if let Some(position) = position {
            order.leave_consumer(position);
        }
        if !self.is_repeated_next && order.finish_submission() {
            before_sleep::send_progress();
        }
        done
    }
}
