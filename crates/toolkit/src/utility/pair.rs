//! Pair: sends the n-th tuples of several streams one after the other.

use graph::{Cardinality, Misuse, Part};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel};
use runtime::{Build, Make, Operator, OperatorEntry, Outlet};
use tuple::{Punctuation, TupleBuf, TupleRef};

use super::rendezvous::Rendezvous;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
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
        same_schema_as: Some(0),
        ..OutPortModel::DEFAULT
    }],
    params: super::rendezvous::PARAMS,
    allow_any_param: true,
    allows_logic: false,
    verify: Some(verify),
    ..OperatorModel::DEFAULT
};

/// All ports have one schema, besides what holds for the partitions.
fn verify(operator: &graph::Operator) -> Result<(), Misuse> {
    let first = &operator.inputs[0];
    for (at, input) in operator.inputs.iter().enumerate().skip(1) {
        if input.schema != first.schema {
            return Err(Misuse {
                part: Part::Input(at as u32),
                message: format!(
                    "input port `{}` has the schema `{}` and not `{}` like port `{}`",
                    input.name, input.schema, first.schema, first.name
                ),
                help: "all input ports of Pair have the same schema".to_owned(),
            });
        }
    }
    super::rendezvous::verify(operator)
}

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Pair {
        waiting: Rendezvous::new(build)?,
        met: Vec::new(),
    }))
}

struct Pair {
    waiting: Rendezvous,
    met: Vec<TupleBuf>,
}

impl Operator for Pair {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.waiting.arrive(port, tuple, out, &mut self.met)? {
            let mut met = std::mem::take(&mut self.met);
            let mut tuples = met.iter();
            let sent = tuples.try_for_each(|tuple| out.submit(0, tuple.as_ref()));
            self.waiting.release(&mut met);
            self.met = met;
            sent?;
            out.punctuate(0, Punctuation::Window)?;
        }
        Ok(())
    }

    fn has_room(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<bool, Fault> {
        self.waiting.has_room(port, tuple, out)
    }
}
