//! The ends of media that a PE is given, and handing them to the inserted operators.

use std::collections::BTreeMap;
use std::sync::Arc;

use graph::{Codec, Fault, FaultKind, Origin};
use transport::{Inbound, Outbound, Strategy};

use super::flow::{Flow, Side};
use super::{Linger, Pacing, Queued};
use crate::house::House;

/// The ends of a PE's crossing streams, by the crossing's number.
#[derive(Default)]
pub struct Links {
    /// The PE's own number, for messages.
    pub pe: u32,
    /// Where streams leave.
    pub outbound: BTreeMap<u32, Sending>,
    /// Where streams come in.
    pub inbound: BTreeMap<u32, Receiving>,
    /// Tuples are stamped, to know how long they are under way.
    pub has_latency: bool,
    /// By operator: what it gives an order to. Empty: nothing in the PE is ordered.
    pub begins: Vec<Option<Origin>>,
}

/// The sending end of a crossing stream.
pub struct Sending {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The receiving PEs, in order of the receivers' numbers.
    pub to: Vec<u32>,
    /// How tuples are written.
    pub codec: Codec,
    /// The medium's end.
    pub end: Box<dyn Outbound>,
}

/// A receiving end of a crossing stream.
pub struct Receiving {
    /// The stream's name.
    pub stream: Arc<str>,
    /// The sending PE.
    pub from: u32,
    /// How tuples are written.
    pub codec: Codec,
    /// Tuples come from a network and are checked before they are read.
    pub is_foreign: bool,
    /// The medium's end.
    pub end: Box<dyn Inbound>,
}

/// What inserted operators are made from.
pub(crate) struct Borders {
    pub links: Links,
    pub pacing: Arc<Pacing>,
    pub linger: Arc<Linger>,
    /// The counters of every link that was handed out.
    pub flows: Vec<Arc<Flow>>,
    /// Those of every queue.
    pub queues: Vec<Arc<Queued>>,
}

impl Borders {
    /// Of a PE that is about to be wired.
    pub fn new(house: &House, links: Links, idle: Strategy) -> Borders {
        Borders {
            links,
            pacing: Arc::new(Pacing::new(idle, house.failed.clone())),
            linger: house.linger.clone(),
            flows: Vec::new(),
            queues: Vec::new(),
        }
    }

    /// The sending end of a crossing, once.
    pub fn sending(&mut self, link: u32) -> Result<(Sending, Arc<Flow>), Fault> {
        let sending = self.links.outbound.remove(&link);
        let sending = sending.ok_or_else(|| no_end(link, "outbound"))?;
        let (stream, to) = (sending.stream.clone(), sending.to.clone());
        let flow = Flow::new(link, stream, self.links.pe, to, Side::Sender);
        let flow = self.flow(flow.with_end(sending.end.counters()));
        Ok((sending, flow))
    }

    /// The receiving end of a crossing, once.
    pub fn receiving(&mut self, link: u32) -> Result<(Receiving, Arc<Flow>), Fault> {
        let receiving = self.links.inbound.remove(&link);
        let receiving = receiving.ok_or_else(|| no_end(link, "inbound"))?;
        let (stream, from) = (receiving.stream.clone(), receiving.from);
        let to = vec![self.links.pe];
        let flow = Flow::new(link, stream, from, to, Side::Receiver);
        let flow = match self.links.has_latency {
            true => flow.with_latency(),
            false => flow,
        };
        Ok((receiving, self.flow(flow)))
    }

    fn flow(&mut self, flow: Flow) -> Arc<Flow> {
        let flow = Arc::new(flow);
        self.flows.push(flow.clone());
        flow
    }
}

fn no_end(link: u32, side: &str) -> Fault {
    let message = format!("crossing {link} has no {side} end in this PE, or two operators want it");
    Fault::new(FaultKind::Limit, message)
}
