//! The resources of inserted operators: the ends of media of their PE, and the parts that they
//! share.

use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::CrossingId;

use super::crossing_ends::{CrossingEnds, InboundCrossing, OutboundCrossing};
use super::idle_policy::IdlePolicy;
use super::linger::LingerList;
use crate::counters::crossing_counters::{CrossingCounters, CrossingSide};
use crate::counters::queue_counters::QueueCounters;

/// Resources that inserted operators take from, and add their counters to.
pub(crate) struct CrossingResources {
    pub ends: CrossingEnds,
    pub idle_policy: Arc<IdlePolicy>,
    pub linger: Arc<LingerList>,
    /// Counters of every crossing whose end was taken.
    pub crossing_counters: Vec<Arc<CrossingCounters>>,
    /// Counters of every queue of the PE.
    pub queue_counters: Vec<Arc<QueueCounters>>,
}

impl CrossingResources {
    /// Resources of a PE that is about to be wired.
    pub fn new(
        ends: CrossingEnds,
        idle_policy: IdlePolicy,
        linger: Arc<LingerList>,
    ) -> CrossingResources {
        CrossingResources {
            ends,
            idle_policy: Arc::new(idle_policy),
            linger,
            crossing_counters: Vec::new(),
            queue_counters: Vec::new(),
        }
    }

    /// Takes the sending end of a crossing, with new counters.
    ///
    /// # Errors
    /// The PE has no such end, or another operator has taken it.
    pub fn take_outbound(
        &mut self,
        crossing: CrossingId,
    ) -> Result<(OutboundCrossing, Arc<CrossingCounters>), Fault> {
        let outbound = self.ends.outbound.remove(&crossing);
        let outbound = outbound.ok_or_else(|| missing_end(crossing, "outbound"))?;
        let (stream, to) = (outbound.stream.clone(), outbound.to_pes.clone());
        let counters =
            CrossingCounters::new(crossing, stream, self.ends.pe, to, CrossingSide::Sender);
        let counters = self.add_counters(counters.with_sender_counters(outbound.end.counters()));
        Ok((outbound, counters))
    }

    /// Takes the receiving end of a crossing, with new counters.
    ///
    /// # Errors
    /// The PE has no such end, or another operator has taken it.
    pub fn take_inbound(
        &mut self,
        crossing: CrossingId,
    ) -> Result<(InboundCrossing, Arc<CrossingCounters>), Fault> {
        let inbound = self.ends.inbound.remove(&crossing);
        let inbound = inbound.ok_or_else(|| missing_end(crossing, "inbound"))?;
        let (stream, from) = (inbound.stream.clone(), inbound.from_pe);
        let to = vec![self.ends.pe];
        let counters = CrossingCounters::new(crossing, stream, from, to, CrossingSide::Receiver);
        let counters = match self.ends.measures_latency {
            true => counters.with_latency(),
            false => counters,
        };
        Ok((inbound, self.add_counters(counters)))
    }

    fn add_counters(&mut self, counters: CrossingCounters) -> Arc<CrossingCounters> {
        let counters = Arc::new(counters);
        self.crossing_counters.push(counters.clone());
        counters
    }
}

fn missing_end(crossing: CrossingId, side: &str) -> Fault {
    let message =
        format!("crossing {crossing} has no {side} end in this PE, or two operators want it");
    Fault::new(FaultKind::Limit, message)
}
