//! Barrier: joins the n-th tuples of several streams into one.

use graph::{Assignment, Cardinality, PunctuationOut};
use graph::{Fault, InPortModel, OperatorModel, OutPortModel};
use runtime::abi::Projection;
use runtime::{Build, Make, Operator, OperatorEntry, Outlet, Row};
use tuple::{TupleBuf, TupleRef};

use super::rendezvous::Rendezvous;

/// The registry's line.
pub const ENTRY: OperatorEntry = OperatorEntry {
    model: &MODEL,
    make: Make::Build(build),
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
        punctuation: PunctuationOut::Free,
        assign: Assignment::Expression,
        forwards: true,
        complete: true,
        ..OutPortModel::DEFAULT
    }],
    params: super::rendezvous::PARAMS,
    allow_any_param: true,
    allows_logic: false,
    verify: Some(super::rendezvous::verify),
    ..OperatorModel::DEFAULT
};

fn build(build: &mut Build<'_>) -> Result<Box<dyn Operator>, Fault> {
    Ok(Box::new(Barrier {
        waiting: Rendezvous::new(build)?,
        output: build.output(0)?,
        met: Vec::new(),
        joined: TupleBuf::default(),
    }))
}

struct Barrier {
    waiting: Rendezvous,
    output: Projection,
    met: Vec<TupleBuf>,
    joined: TupleBuf,
}

impl Operator for Barrier {
    fn process(
        &mut self,
        port: u32,
        tuple: TupleRef<'_>,
        out: &mut dyn Outlet,
    ) -> Result<(), Fault> {
        if self.waiting.arrive(port, tuple, out, &mut self.met)? {
            let row: Vec<_> = self.met.iter().map(|tuple| Some(tuple.as_ref())).collect();
            let written = self.output.write(&Row::new(&row), out, &mut self.joined);
            drop(row);
            self.waiting.release(&mut self.met);
            written?;
            out.submit_made(0, &mut self.joined)?;
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
