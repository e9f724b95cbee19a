//! The streams of a program from the sending side: which input ports each output port feeds.

use graph::{InPortId, OperatorId, OutPortId, PortIndex, Program};

use super::loops;

/// The input ports that each stream of a program feeds.
///
/// The consumers of a stream are in order of the program, which is the order in which each tuple is
/// delivered to them.
#[derive(Clone, Debug)]
pub struct StreamConsumers {
    /// By operator and output port.
    consumers: Vec<Vec<Vec<InPortId>>>,
}

impl StreamConsumers {
    /// The consumers of all streams of a program. Sources that the program does not have are left
    /// out.
    pub fn new(program: &Program) -> StreamConsumers {
        let operators = program.operators.iter();
        let mut consumers: Vec<Vec<Vec<InPortId>>> = operators
            .map(|operator| vec![Vec::new(); operator.outputs.len()])
            .collect();
        for (operator, node) in (0..).map(OperatorId).zip(&program.operators) {
            for (port, input) in (0..).map(PortIndex).zip(&node.inputs) {
                for from in &input.sources {
                    let ports = consumers.get_mut(from.operator.0 as usize);
                    let stream = ports.and_then(|ports| ports.get_mut(from.port.index()));
                    if let Some(stream) = stream {
                        stream.push(InPortId { operator, port });
                    }
                }
            }
        }
        StreamConsumers { consumers }
    }

    /// The input ports that a stream feeds; none for a stream that the program does not have.
    pub fn consumers_of(&self, stream: OutPortId) -> &[InPortId] {
        let ports = self.consumers.get(stream.operator.0 as usize);
        let stream = ports.and_then(|ports| ports.get(stream.port.index()));
        stream.map_or(&[], Vec::as_slice)
    }

    /// The streams that leave an operator.
    pub fn streams_of(&self, operator: OperatorId) -> impl Iterator<Item = OutPortId> + use<> {
        let ports = self.consumers.get(operator.0 as usize).map_or(0, Vec::len) as u32;
        (0..ports)
            .map(PortIndex)
            .map(move |port| OutPortId { operator, port })
    }

    /// The loop that each operator stands in, if any: see [`find_loops`](super::find_loops).
    pub fn loops(&self) -> Vec<Option<u32>> {
        let after = self.consumers.iter().map(|ports| {
            let consumers = ports.iter().flatten();
            consumers.map(|to| to.operator.0).collect::<Vec<u32>>()
        });
        loops::find_loops(after.collect())
    }
}
