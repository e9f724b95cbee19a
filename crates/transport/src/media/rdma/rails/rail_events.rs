//! Completions and events of the nodes of a sender with rails: requests for connections, and the
//! ends of connections.

use std::sync::atomic::Ordering;

use fabric::{
    Completion, CompletionKind, ConnectionId, ConnectionRequest, FabricError, FabricEvent,
    RdmaNode, RemoteMemory,
};

use super::rail_request::RailRequest;
use super::rail_targets::RailTargets;
use super::target_rail::named_by;
use super::{RAILS_MODE, SPARE_BYTES, is_at_most};
use crate::Error;
use crate::media::rdma::batch_targets::BatchTargets;
use crate::media::rdma::greeting::{RdmaAcceptance, RdmaRequest};
use crate::media::rdma::write_target::TargetState;
use crate::media::rdma::write_targets::{not_awaited, refused, reject};

impl<N: RdmaNode> RailTargets<N> {
    /// Takes the completions of a node, and perhaps its events. If the node fails, its rail ends.
    pub(super) fn poll_node(&mut self, rail: usize, takes_events: bool) {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self.nodes[rail].node.poll_completions(&mut completions);
        for completion in completions.drain(..) {
            self.complete(rail, &completion);
        }
        self.completions = completions;
        let polled = polled.and_then(|()| match takes_events {
            true => self.take_events(rail),
            false => Ok(()),
        });
        match polled {
            Ok(()) => self.post_used_number_buffers(rail),
            Err(error) => self.fail_node(rail, error.to_string()),
        }
    }

    /// Notes that a node works no more: all connections of its rail have ended.
    pub(super) fn fail_node(&mut self, rail: usize, why: String) {
        for receiver in 0..self.receivers.len() {
            self.end_rail(receiver, rail, &why);
        }
        self.nodes[rail].failure = Some(why);
    }

    fn take_events(&mut self, rail: usize) -> Result<(), FabricError> {
        while let Some(event) = self.nodes[rail].node.next_event()? {
            match event {
                FabricEvent::Request(request) => self.answer(rail, request),
                FabricEvent::Connected { connection, .. } => self.connect(rail, connection),
                FabricEvent::Closed {
                    connection, why, ..
                } => {
                    if let Some(receiver) = self.receiver_of(rail, connection) {
                        self.end_rail(receiver, rail, &why);
                    }
                }
            }
        }
        Ok(())
    }

    fn receiver_of(&self, rail: usize, connection: ConnectionId) -> Option<usize> {
        let mut receivers = self.receivers.iter();
        receivers.position(|target| target.rails[rail].state.connection() == Some(connection))
    }

    fn complete(&mut self, rail: usize, completion: &Completion) {
        let (receiver, epoch, write) = named_by(completion.number);
        let Some(target) = self.receivers.get_mut(receiver) else {
            return;
        };
        let target = &mut target.rails[rail];
        // A provider without receive buffers for numbers names nobody.
        if target.epoch as u8 != epoch || target.state.connection().is_none() {
            return;
        }
        match &completion.kind {
            CompletionKind::Posted => target.finish_to(write),
            CompletionKind::RemoteWrite { .. } => target.numbers.take(),
            CompletionKind::Failed(error) if write != 0 => {
                let why = error.to_string();
                self.end_rail(receiver, rail, &why);
            }
            // Reports tell of themselves by their words, and the end of a connection by an event.
            _ => {}
        }
    }

    /// Posts the receive buffers that reports have used up. A sender that waits for a report has
    /// nothing else to post, and the report may wait for these buffers.
    fn post_used_number_buffers(&mut self, rail: usize) {
        if !self.nodes[rail].number_memory.is_used() {
            return;
        }
        for receiver in 0..self.receivers.len() {
            let target = &mut self.receivers[receiver].rails[rail];
            let posted = target.post_number_buffers(&mut self.nodes[rail], receiver);
            if let Err(error) = posted {
                self.end_rail(receiver, rail, &error.to_string());
            }
        }
    }

    /// Notes that a connection is made.
    fn connect(&mut self, rail: usize, connection: ConnectionId) {
        let accepted = TargetState::Accepted(connection);
        let Some(receiver) = self.receiver_of(rail, connection) else {
            return;
        };
        let now = self.now();
        let target = &mut self.receivers[receiver];
        if target.rails[rail].state != accepted {
            return;
        }
        target.rails[rail].state = TargetState::Connected(connection);
        target.disconnected = None;
        target.schedule.join(rail, now);
        target.push_closings(now);
        self.post_to(receiver);
    }

    /// Accepts a receiver of this edge that shows the token, and refuses others.
    fn answer(&mut self, rail: usize, request: ConnectionRequest) {
        let accepted = self.read_request(rail, &request).and_then(|read| {
            // The receiver has closed the connection that it had, and may have noticed first.
            self.end_rail(read.receiver as usize, rail, "the receiver connects again");
            let connection = self.nodes[rail].node.begin_accept(&request);
            Ok((connection.map_err(refused)?, read))
        });
        match accepted {
            Ok((connection, read)) => self.finish_accept(rail, connection, &read),
            Err(why) => reject(&mut self.nodes[rail].node, &self.counters, request, &why),
        }
    }

    /// The request of a receiver that may be accepted.
    fn read_request(&self, rail: usize, request: &ConnectionRequest) -> Result<RdmaRequest, Error> {
        let read = RdmaRequest::read(&request.data, RAILS_MODE, &self.spec)?;
        let target = &self.receivers[read.receiver as usize];
        let (place, instance) = read.place();
        let place = RailRequest::from_word(place);
        let is_known = target.instance.is_none_or(|known| known == instance);
        if target.is_lost || !is_known {
            return Err(not_awaited(read.receiver));
        }
        let own = (rail, self.nodes.len());
        if (place.rail, place.rails) != own {
            return Err(Error::Refused(format!(
                "rail {} of {} of the receiver comes by rail {} of {}",
                place.rail, place.rails, own.0, own.1
            )));
        }
        // Requests may be read in another order than that in which they were sent.
        if is_at_most(place.epoch, target.rails[rail].epoch) {
            let why = "the receiver has asked for a later connection";
            return Err(Error::Refused(why.to_owned()));
        }
        Ok(read)
    }

    fn finish_accept(&mut self, rail: usize, connection: ConnectionId, read: &RdmaRequest) {
        let receiver = read.receiver as usize;
        let (place, instance) = read.place();
        let epoch = RailRequest::from_word(place).epoch;
        let target = &mut self.receivers[receiver];
        let is_new = target.rails[rail].state == TargetState::Awaited;
        if !is_new {
            self.counters.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        target.instance = Some(instance);
        let memory = RemoteMemory {
            bytes: self.terms.ring_bytes + SPARE_BYTES as u64,
            ..read.ring
        };
        target.rails[rail].begin(connection, epoch, memory);
        self.has_news |= target.find_reusable();
        let target = &mut target.rails[rail];
        let acceptance = RdmaAcceptance {
            mode: RAILS_MODE,
            position: u64::from(epoch),
            salt: self.terms.salt,
            credit: self.nodes[rail].node.remote_memory(target.reports_region),
            ring_bytes: self.terms.ring_bytes,
        };
        // Those that find no room now are posted with the next completions.
        let posted = target.post_number_buffers(&mut self.nodes[rail], receiver);
        let node = &mut self.nodes[rail].node;
        let answered = posted.and_then(|_| node.finish_accept(connection, &acceptance.to_bytes()));
        if let Err(error) = answered {
            self.end_rail(receiver, rail, &error.to_string());
        }
    }
}
