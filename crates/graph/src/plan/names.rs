//! What the inserted operators are called, in messages, counters and printed plans.
//!
//! Names of a program hold no blanks, so that these are never the same.

use super::{Consumer, Crossing, Homes, Merge, Plan, Program, Receiver, ThreadedPort};
use crate::Edge;

impl Program {
    /// The sender of a crossing: `Trades -> pe 1`.
    pub fn sender_name(&self, crossing: &Crossing) -> String {
        let to: Vec<_> = crossing.to.iter().map(u32::to_string).collect();
        format!("{} -> pe {}", self.stream_name(crossing.from), listed(&to))
    }

    /// A receiver of a plan: `pe 0 -> Trades`.
    pub fn receiver_name(&self, plan: &Plan, homes: &Homes, receiver: &Receiver) -> String {
        let streams = receiver.links.iter().map(|&link| {
            let from = plan.crossings[link as usize].from;
            let pe = homes
                .of(from.operator)
                .map_or("?".into(), |pe| pe.to_string());
            format!("pe {pe} -> {}", self.stream_name(from))
        });
        listed(&streams.collect::<Vec<_>>())
    }

    /// The thread that takes streams in order: `merge of Bargains`.
    pub fn merge_name(&self, merge: &Merge) -> String {
        let operators = merge.operators.iter();
        let names: Vec<_> = operators
            .map(|id| self.operators[id.0 as usize].name.to_string())
            .collect();
        let consumers = merge.inputs.iter().flat_map(|input| &input.consumers);
        let ports: Vec<u32> = consumers.map(|to| to.port).collect();
        let mut distinct = ports.clone();
        distinct.sort_unstable();
        distinct.dedup();
        match (&merge.operators[..], &ports[..]) {
            (_, [port]) => format!("merge of {}.{port}", listed(&names)),
            // Its other ports may have merges too.
            ([id], _) if distinct.len() < self.operators[id.0 as usize].inputs.len() => {
                let ports: Vec<_> = distinct.iter().map(u32::to_string).collect();
                format!("merge of {}.{}", listed(&names), ports.join("+"))
            }
            _ => format!("merge of {}", listed(&names)),
        }
    }

    /// What takes a stream there: `Averages -> merge of Bargains`; with the port, if the merge takes it
    /// for several.
    pub fn ring_name(&self, from: Edge, to: Consumer, merge: &Merge) -> String {
        let name = format!("{} -> {}", self.stream_name(from), self.merge_name(merge));
        let mut inputs = merge.inputs.iter();
        match inputs.find(|input| input.from == from) {
            Some(input) if input.consumers.len() > 1 => {
                format!("{name} port {}", self.port_name(to))
            }
            _ => name,
        }
    }

    /// What gives an operator its turn among the consumers of a stream: `turn of Filter.0 for Trades`.
    pub fn turn_name(&self, from: Edge, to: Consumer) -> String {
        format!(
            "turn of {} for {}",
            self.port_name(to),
            self.stream_name(from)
        )
    }

    fn port_name(&self, to: Consumer) -> String {
        format!(
            "{}.{}",
            self.operators[to.operator.0 as usize].name, to.port
        )
    }

    /// The queue of a threaded port: `queue of Filter.0`.
    pub fn queue_name(&self, queue: &ThreadedPort) -> String {
        let operator = &self.operators[queue.operator.0 as usize];
        format!("queue of {}.{}", operator.name, queue.port)
    }
}

/// A list that stays short in a name.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names.len() {
        count if count > SHOWN + 1 => {
            let shown = names[..SHOWN].join(", ");
            format!("{shown} and {} more", count - SHOWN)
        }
        _ => names.join(", "),
    }
}
