//! The names of inserted operators, in messages, counters and printed plans.
//!
//! Names of a program hold no blanks and these do, so that no two are equal.

use super::{Crossing, InPortId, Merge, PeAssignment, PeId, Plan, ReceiverPlan, ThreadedPort};
use crate::{OutPortId, PortIndex, Program};

impl Program {
    /// The name of a crossing's sender: `Trades -> pe 1`.
    pub fn sender_name(&self, crossing: &Crossing) -> String {
        let to: Vec<_> = crossing.to.iter().map(PeId::to_string).collect();
        format!(
            "{} -> pe {}",
            self.stream_name(crossing.from),
            shortened_list(&to)
        )
    }

    /// The name of a receiver: `pe 0 -> Trades`.
    pub fn receiver_name(
        &self,
        plan: &Plan,
        pe_assignment: &PeAssignment,
        receiver: &ReceiverPlan,
    ) -> String {
        let streams = receiver.crossings.iter().map(|&crossing_id| {
            let from = plan.crossing(crossing_id).from;
            let pe = pe_assignment
                .pe_of(from.operator)
                .map_or("?".into(), |pe| pe.to_string());
            format!("pe {pe} -> {}", self.stream_name(from))
        });
        shortened_list(&streams.collect::<Vec<_>>())
    }

    /// The name of a merge: `merge of Bargains`; with ports, if the operator has others too.
    pub fn merge_name(&self, merge: &Merge) -> String {
        let operators = merge.operators.iter();
        let names: Vec<_> = operators
            .map(|id| self.operators[id.0 as usize].name.to_string())
            .collect();
        let consumers = merge.inputs.iter().flat_map(|input| &input.consumers);
        let ports: Vec<PortIndex> = consumers.map(|to| to.port).collect();
        let mut distinct = ports.clone();
        distinct.sort_unstable();
        distinct.dedup();
        match (&merge.operators[..], &ports[..]) {
            (_, [port]) => format!("merge of {}.{port}", shortened_list(&names)),
            // The operator's other ports may have merges too.
            ([id], _) if distinct.len() < self.operators[id.0 as usize].inputs.len() => {
                let ports: Vec<_> = distinct.iter().map(PortIndex::to_string).collect();
                format!("merge of {}.{}", shortened_list(&names), ports.join("+"))
            }
            _ => format!("merge of {}", shortened_list(&names)),
        }
    }

    /// The name of the ring that brings a stream to a merge: `Averages -> merge of Bargains`; with
    /// the port, if the merge takes the stream for several.
    pub fn ring_name(&self, from: OutPortId, to: InPortId, merge: &Merge) -> String {
        let name = format!("{} -> {}", self.stream_name(from), self.merge_name(merge));
        let mut inputs = merge.inputs.iter();
        match inputs.find(|input| input.from == from) {
            Some(input) if input.consumers.len() > 1 => {
                format!("{name} port {}", self.port_name(to))
            }
            _ => name,
        }
    }

    /// The name of an ordered call of one of a stream's consumers: `ordered call of Filter.0 for
    /// Trades`.
    pub fn ordered_call_name(&self, from: OutPortId, to: InPortId) -> String {
        format!(
            "ordered call of {} for {}",
            self.port_name(to),
            self.stream_name(from)
        )
    }

    fn port_name(&self, to: InPortId) -> String {
        format!(
            "{}.{}",
            self.operators[to.operator.0 as usize].name, to.port
        )
    }

    /// The name of a threaded port's queue: `queue of Filter.0`.
    pub fn queue_name(&self, queue: &ThreadedPort) -> String {
        let operator = &self.operators[queue.operator.0 as usize];
        format!("queue of {}.{}", operator.name, queue.port)
    }
}

/// The first names of a list and the count of the others, so that a name built from it stays short.
fn shortened_list(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names.len() {
        count if count > SHOWN + 1 => {
            let shown = names[..SHOWN].join(", ");
            format!("{shown} and {} more", count - SHOWN)
        }
        _ => names.join(", "),
    }
}
