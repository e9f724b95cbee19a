//! The ends of media that a PE is given, and handing them to the inserted operators.

use std::collections::BTreeMap;
use std::sync::Arc;

use eval::{Fault, FaultKind};
use graph::{CrossingCodec, OriginId};
use transport::{IdleStrategy, ReceivingEnd, SendingEnd};

use super::crossing_counters::{CrossingCounters, CrossingSide};
use super::{IdlePolicy, LingerList, QueueCounters};
use crate::pe_context::PeContext;

/// The ends of a PE's crossing streams, by the crossing's number.
#[derive(Default)]
pub struct CrossingEnds {
    /// The PE's own number, for messages.
    pub pe: u32,
    /// Where streams leave.
    pub outbound: BTreeMap<u32, OutboundCrossing>,
    /// Where streams come in.
    pub inbound: BTreeMap<u32, InboundCrossing>,
    /// Tuples are stamped, to know how long they are under way.
    pub measures_latency: bool,
    /// By operator: what it gives an order to. Empty: nothing in the PE is ordered.
    pub operator_origins: Vec<Option<OriginId>>,
}

/// The sending end of a crossing stream.
pub struct OutboundCrossing {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The receiving PEs, in order of the receivers' numbers.
    pub to_pes: Vec<u32>,
    /// How tuples are written.
    pub codec: CrossingCodec,
    /// The medium's end.
    pub end: Box<dyn SendingEnd>,
}

/// A receiving end of a crossing stream.
pub struct InboundCrossing {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The sending PE.
    pub from_pe: u32,
    /// How tuples are written.
    pub codec: CrossingCodec,
    /// Tuples come from a network and are checked before they are read.
    pub is_foreign: bool,
    /// The medium's end.
    pub end: Box<dyn ReceivingEnd>,
}

/// What inserted operators are made from.
pub(crate) struct CrossingResources {
    pub ends: CrossingEnds,
    pub idle_policy: Arc<IdlePolicy>,
    pub linger: Arc<LingerList>,
    /// The counters of every link that was handed out.
    pub crossing_counters: Vec<Arc<CrossingCounters>>,
    /// Those of every queue.
    pub queue_counters: Vec<Arc<QueueCounters>>,
}

impl CrossingResources {
    /// Of a PE that is about to be wired.
    pub fn new(
        pe_context: &PeContext,
        links: CrossingEnds,
        idle: IdleStrategy,
    ) -> CrossingResources {
        CrossingResources {
            ends: links,
            idle_policy: Arc::new(IdlePolicy::new(idle, pe_context.failed.clone())),
            linger: pe_context.linger.clone(),
            crossing_counters: Vec::new(),
            queue_counters: Vec::new(),
        }
    }

    /// The sending end of a crossing, once.
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

    /// The receiving end of a crossing, once.
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
