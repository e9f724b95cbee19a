//! Pair: submits the n-th tuples of several streams one after the other.

use eval::Fault;
use graph::{Cardinality, InvocationError, InvocationPart, PortIndex};
use graph::{InPortModel, OperatorModel, OutPortModel};
use runtime::{BuildContext, Operator, OperatorConstructor, OperatorEntry, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::port_aligner::PortAligner;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Pair",
    doc: "Waits for one tuple on every input port, then sends them in order of the ports, and a \
          window marker. With partitions each waits on its own. Parameters partitionBy0, \
          partitionBy1, ... partition the ports one by one.",
    inputs: &[
        InPortModel {
            count: Cardinality::Exactly(2),
            ..InPortModel::DEFAULT
        },
        InPortModel::ANY,
    ],
    outputs: &[OutPortModel {
        same_schema_as: Some(PortIndex(0)),
        ..OutPortModel::DEFAULT
    }],
    params: super::port_aligner::PARAMS,
    allow_any_param: true,
    allows_logic: false,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// All ports have one schema, besides what holds for the partitions.
fn verify(operator: &graph::OperatorNode) -> Result<(), InvocationError> {
    let first = &operator.inputs[0];
    for (at, input) in operator.inputs.iter().enumerate().skip(1) {
        if input.schema != first.schema {
            return Err(InvocationError {
                part: InvocationPart::Input(PortIndex(at as u32)),
                message: format!(
                    "input port `{}` has the schema `{}` and not `{}` like port `{}`",
                    input.name, input.schema, first.schema, first.name
                ),
                help: "all input ports of Pair have the same schema".to_owned(),
            });
        }
    }
    super::port_aligner::verify(operator)
}

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Pair {
        aligner: PortAligner::new(build)?,
        aligned: Vec::new(),
    }))
}

struct Pair {
    aligner: PortAligner,
    aligned: Vec<TupleBuf>,
}

impl Operator for Pair {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.aligner.add(port, tuple, out, &mut self.aligned)? {
            let mut met = std::mem::take(&mut self.aligned);
            let mut tuples = met.iter();
            let sent = tuples.try_for_each(|tuple| out.submit(PortIndex(0), tuple.as_ref()));
            self.aligner.release(&mut met);
            self.aligned = met;
            sent?;
            out.submit_punctuation(PortIndex(0), Punctuation::Window)?;
        }
        Ok(())
    }

    fn has_room(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        self.aligner.has_room(port, tuple, out)
    }
}
