//! What the inserted operators are called, in messages, counters and printed plans.
//!
//! Names of a program hold no blanks, so that these are never the same.

use super::{Crossing, Homes, Plan, Program, Receiver, ThreadedPort};

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
