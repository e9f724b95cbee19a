//! The streams of a program from the sending side: which input ports each output port feeds.

use super::loops;
use crate::{OperatorId, OutPortId, Program};

/// Who consumes what, by operator and output port.
///
/// Consumers are in order of the program: it is the order in which a tuple is handed to them.
#[derive(Clone, Debug)]
pub struct StreamConsumers {
    consumers: Vec<Vec<Vec<InPortId>>>,
}

/// An input port that a stream feeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InPortId {
    /// The operator.
    pub operator: OperatorId,
    /// Its input port.
    pub port: u32,
}

impl StreamConsumers {
    /// The streams of a program.
    pub fn new(program: &Program) -> StreamConsumers {
        let operators = program.operators.iter();
        let mut consumers: Vec<Vec<Vec<InPortId>>> = operators
            .map(|operator| vec![Vec::new(); operator.outputs.len()])
            .collect();
        for (operator, o) in (0..).map(OperatorId).zip(&program.operators) {
            for (port, input) in (0..).zip(&o.inputs) {
                for from in &input.sources {
                    let ports = consumers.get_mut(from.operator.0 as usize);
                    let stream = ports.and_then(|ports| ports.get_mut(from.port as usize));
                    if let Some(stream) = stream {
                        stream.push(InPortId { operator, port });
                    }
                }
            }
        }
        StreamConsumers { consumers }
    }

    /// What a stream feeds.
    pub fn consumers_of(&self, stream: OutPortId) -> &[InPortId] {
        let ports = self.consumers.get(stream.operator.0 as usize);
        let stream = ports.and_then(|ports| ports.get(stream.port as usize));
        stream.map_or(&[], Vec::as_slice)
    }

    /// The streams that leave an operator.
    pub fn streams_of(&self, operator: OperatorId) -> impl Iterator<Item = OutPortId> + use<> {
        let ports = self.consumers.get(operator.0 as usize).map_or(0, Vec::len) as u32;
        (0..ports).map(move |port| OutPortId { operator, port })
    }

    /// The loop that each operator stands in, if any. Operators of one loop have the same number;
    /// loops that touch are one.
    pub fn loops(&self) -> Vec<Option<u32>> {
        let after = self.consumers.iter().map(|ports| {
            let consumers = ports.iter().flatten();
            consumers.map(|to| to.operator.0).collect()
        });
        loops::find_loops(after.collect())
    }
}
