//! Barrier: joins the n-th tuples of several streams into one.

use eval::Fault;
use graph::{AssignmentMode, Cardinality, PortIndex, PunctuationOutputMode};
use graph::{InPortModel, OperatorModel, OutPortModel};
use runtime::abi::Projection;
use runtime::{
    BuildContext, EvaluationInputs, Operator, OperatorConstructor, OperatorEntry, Outlet,
};
use tuple::{TupleBuf, TupleRef};

use super::port_aligner::PortAligner;

/// Entry of the registry of operators.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    constructor: OperatorConstructor::Build(build),
};

static MODEL: OperatorModel = OperatorModel {
    namespace: "spl.utility",
    name: "Barrier",
    doc: "Waits for one tuple on every input port, then sends one tuple made from them. With \
          partitions each waits on its own. Parameters partitionBy0, partitionBy1, ... partition \
          the ports one by one.",
    inputs: &[
        InPortModel {
            count: Cardinality::Exactly(2),
            ..InPortModel::DEFAULT
        },
        InPortModel::ANY,
    ],
    outputs: &[OutPortModel {
        punctuation: PunctuationOutputMode::Free,
        assign: AssignmentMode::Expression,
        auto_assignment: true,
        complete_assignment: true,
        ..OutPortModel::DEFAULT
    }],
    params: super::port_aligner::PARAMS,
    allow_any_param: true,
    allows_logic: false,
    verify: Some(super::port_aligner::verify),
    ..OperatorModel::DEFAULT
};

fn build(build: &mut BuildContext<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Barrier {
        aligner: PortAligner::new(build)?,
        output: build.output_projection(PortIndex(0))?,
        aligned: Vec::new(),
        output_tuple: TupleBuf::default(),
    }))
}

struct Barrier {
    aligner: PortAligner,
    output: Projection,
    aligned: Vec<TupleBuf>,
    output_tuple: TupleBuf,
}

impl Operator for Barrier {
    fn process(
        &mut self,
        port: PortIndex,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.aligner.add(port, tuple, out, &mut self.aligned)? {
            let inputs: Vec<_> = self
                .aligned
                .iter()
                .map(|tuple| Some(tuple.as_ref()))
                .collect();
            let written =
                self.output
                    .write(&EvaluationInputs::new(&inputs), out, &mut self.output_tuple);
            drop(inputs);
            self.aligner.release(&mut self.aligned);
            written?;
            out.submit_owned(PortIndex(0), &mut self.output_tuple)?;
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
