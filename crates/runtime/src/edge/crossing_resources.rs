//! The resources of inserted operators: the ends of media of their PE, and the parts that they
//! share.

use std::sync::Arc;

use eval::{Fault, FaultKind};

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
        link: u32,
    ) -> Result<(OutboundCrossing, Arc<CrossingCounters>), Fault> {
        let sending = self.ends.outbound.remove(&link);
        let sending = sending.ok_or_else(|| missing_end(link, "outbound"))?;
        let (stream, to) = (sending.stream.clone(), sending.to_pes.clone());
        let flow = CrossingCounters::new(link, stream, self.ends.pe, to, CrossingSide::Sender);
        let flow = self.add_counters(flow.with_sender_counters(sending.end.counters()));
        Ok((sending, flow))
    }

    /// Takes the receiving end of a crossing, with new counters.
    ///
    /// # Errors
    /// The PE has no such end, or another operator has taken it.
    pub fn take_inbound(
        &mut self,
        link: u32,
    ) -> Result<(InboundCrossing, Arc<CrossingCounters>), Fault> {
        let receiving = self.ends.inbound.remove(&link);
        let receiving = receiving.ok_or_else(|| missing_end(link, "inbound"))?;
        let (stream, from) = (receiving.stream.clone(), receiving.from_pe);
        let to = vec![self.ends.pe];
        let flow = CrossingCounters::new(link, stream, from, to, CrossingSide::Receiver);
        let flow = match self.ends.measures_latency {
            true => flow.with_latency(),
            false => flow,
        };
        Ok((receiving, self.add_counters(flow)))
    }

    fn add_counters(&mut self, flow: CrossingCounters) -> Arc<CrossingCounters> {
        let flow = Arc::new(flow);
        self.crossing_counters.push(flow.clone());
        flow
    }
}

fn missing_end(link: u32, side: &str) -> Fault {
    let message = format!("crossing {link} has no {side} end in this PE, or two operators want it");
    Fault::new(FaultKind::Limit, message)
}
