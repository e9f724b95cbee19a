//! The registry's entry of Send: its model, and whether it stamps tuples.

use eval::Fault;
use graph::{Cardinality, InPortModel, OperatorModel, ParamMode, ParamModel};

use super::send::SendOperator;
use super::stamping_send::StampingSend;
use crate::inserted::inserted_operator::InsertedOperator;
use crate::{BuildContext, OperatorEntry};

/// The registry's entry of Send.
pub(super) const ENTRY: OperatorEntry = OperatorEntry::inserted(&MODEL, build);

static MODEL: OperatorModel = OperatorModel {
    namespace: "thalweg.transport",
    name: "Send",
    doc: "Takes a stream out of a PE. Inserted where the plan cuts a stream.",
    inputs: &[InPortModel {
        count: Cardinality::Exactly(1),
        ..InPortModel::DEFAULT
    }],
    params: &[
        ParamModel {
            name: "crossing",
            ty: "uint32",
            mode: ParamMode::Constant,
            mandatory: true,
            doc: "The number of the crossing or ring.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            name: "origin",
            ty: "uint32",
            mode: ParamMode::Constant,
            is_list: true,
            doc: "The origins that order the stream: each tuple is sent with its position.",
            ..ParamModel::DEFAULT
        },
        ParamModel {
            doc: "Whether the recipient before it has given the tuple its position.",
            ..boolean_param("repeatsPosition")
        },
        ParamModel {
            doc: "Whether the recipient behind it repeats the position.",
            ..boolean_param("isRepeatedNext")
        },
    ],
    ..OperatorModel::DEFAULT
};

const fn boolean_param(name: &'static str) -> ParamModel {
    ParamModel {
        name,
        ty: "boolean",
        mode: ParamMode::Constant,
        ..ParamModel::DEFAULT
    }
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn InsertedOperator>, Fault> {
    let send = SendOperator::new(build)?;
    Ok(match build.crossing_resources.ends.measures_latency {
        true => Box::new(StampingSend::new(send)),
        false => Box::new(send),
    })
}
