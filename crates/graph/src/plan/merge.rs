//! Threads of a PE that take several streams in the order of their origins.

use super::InPortId;
use super::plan_ids::{CrossingId, OriginId};
use crate::{OperatorId, OutPortId};

/// A thread of a PE that takes streams for some operators in the order of their origins.
///
/// Where streams that part behind a source meet again on another thread, a merge restores the order
/// in which one thread would have processed their tuples. Each tuple carries its order position;
/// the merge passes on the tuple with the lowest one, as soon as no stream can bring a lower one.
/// `planner::order` finds the ports that need a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merge {
    /// The operators that the merge feeds, in order: one, or those of a loop.
    pub operators: Vec<OperatorId>,
    /// The streams that the merge takes, in order of the ports that they feed.
    pub inputs: Vec<MergeInput>,
    /// The core of the merge's thread, if a queue or receiver that it replaces has one.
    pub core: Option<u32>,
}

/// A stream that a merge takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeInput {
    /// The output port that the stream leaves.
    pub from: OutPortId,
    /// The crossing that the merge reads itself; `None` if a ring within the PE brings the stream.
    pub crossing: Option<CrossingId>,
    /// The origins whose order the merge keeps among this stream and others.
    pub origins: Vec<OriginId>,
    /// The input ports that the merge feeds with the stream.
    pub consumers: Vec<InPortId>,
}

impl Merge {
    /// Whether the merge feeds an input port, by any of its streams.
    pub fn feeds(&self, to: InPortId) -> bool {
        let mut inputs = self.inputs.iter();
        inputs.any(|input| input.consumers.contains(&to))
    }
}
