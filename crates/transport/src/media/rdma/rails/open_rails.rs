//! How edges with rails are opened and accepted.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use fabric::{FabricAddress, FabricNode, PinnedMemory, RdmaNode};

use super::SPARE_BYTES;
use super::rail_number::RING_BYTES_MAX;
use super::rail_receiver::RailReceiver;
use super::rail_targets::RailTargets;
use super::rails_ticket::{RailAddress, read_rails_ticket, seal_rails_tickets};
use super::target_rail::RECEIVERS_MAX;
use crate::media::rdma::batch_pacing::BatchTerms;
use crate::media::rdma::introduction::Introduction;
use crate::media::rdma::medium::{RdmaMedium, random_salt, ring_bytes};
use crate::media::rdma::peer_watch::{LivenessAddress, PeerWatch, WatchGuard};
use crate::media::rdma::receiver::RdmaReceiver;
use crate::media::rdma::sender::RdmaSender;
use crate::media::rdma::sender_reconnection::{ReconnectTimes, SenderReconnection, WatchedSender};
use crate::media::rdma::settings::RdmaMode;
use crate::media::rdma::write_sender::WriteSender;
use crate::media::rdma::write_targets::{WriteTerms, memory, refused};
use crate::media::tcp_edge::handshake::random_instance;
use crate::{EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, ReceivingEnd, SendingEnd};

impl RdmaMedium {
    /// Whether an edge has rails.
    ///
    /// # Errors
    /// The edge has rails, and the medium with its settings has none.
    pub(in crate::media::rdma) fn has_rails(&self, spec: &EdgeSpec) -> Result<bool, Error> {
        let refuse = |why: String| Error::Refused(format!("{}: {why}", spec.name));
        let is_mptcp = spec.listen.is_mptcp();
        if !is_mptcp && spec.listen.rails().len() < 2 {
            return Ok(false);
        }
        self.check_own_rails(is_mptcp).map_err(refuse)?;
        if spec.receiver_count > RECEIVERS_MAX {
            return Err(refuse(format!(
                "a stream with rails has at most {RECEIVERS_MAX} receivers"
            )));
        }
        Ok(true)
    }

    /// Checks that the medium has rails, as [`Medium::check_rails`] says.
    ///
    /// # Errors
    /// A sentence: the medium with its settings has no rails.
    pub(in crate::media::rdma) fn check_own_rails(&self, is_mptcp: bool) -> Result<(), String> {
        let (settings, name) = (&self.settings, self.name());
        if is_mptcp {
            return Err(format!("{name} has no rails by Multipath TCP"));
        }
        if settings.mode != RdmaMode::Batch {
            let mode = settings.mode.name();
            return Err(format!(
                "{name} in mode {mode} has no rails, which are for mode=batch"
            ));
        }
        match settings.device {
            None => Ok(()),
            Some(device) => Err(format!(
                "{name} with device={device} has no rails: libfabric takes the device of each \
                 address"
            )),
        }
    }

    /// Opens an edge with rails.
    pub(in crate::media::rdma) fn open_rails(
        &self,
        spec: &EdgeSpec,
    ) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let addresses = spec.listen.rails();
        let counters = Arc::new(EdgeCounters::with_rails(addresses.len()));
        let nodes = addresses.iter().map(|address| self.listen(*address));
        let nodes = nodes.collect::<Result<Vec<FabricNode>, _>>()?;
        let instance = random_instance();
        // A watch that is dropped answers no more, also where a later step fails.
        let (mut rails, mut watches) = (Vec::new(), Vec::new());
        for node in &nodes {
            let sender = node.listen_address().map_err(refused)?;
            let watch = PeerWatch::of_sender(sender.ip(), instance)?;
            let liveness = watch.own();
            rails.push(RailAddress { sender, liveness });
            watches.push(WatchGuard(watch));
        }
        let tickets = seal_rails_tickets(self.name(), spec, &rails, instance);
        let terms = WriteTerms {
            proof: self.settings.provider.proof(),
            ring_bytes: rails_ring_bytes(spec) as u64,
            salt: random_salt()?,
            batch: Some(BatchTerms {
                batching: spec.batching,
                reconnect_timeout: self.reconnect_timeout,
                counters: counters.clone(),
                watch: None,
                clock: Instant::now,
            }),
        };
        let sender = rail_sender(nodes, spec, &terms, watches)?;
        Ok((Box::new(RdmaSender::new(sender, counters)?), tickets))
    }

    /// Accepts an edge with rails. A rail that leads nowhere now is tried again.
    pub(in crate::media::rdma) fn accept_rails(
        &self,
        spec: &EdgeSpec,
        ticket: &EdgeTicket,
    ) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, rails) = read_rails_ticket(self.name(), spec, ticket)?;
        let instance = random_instance();
        let link = |rail: &RailAddress| self.link(rail, &rails, instance);
        let links = rails.iter().map(link).collect::<Result<Vec<_>, _>>()?;
        let sizes = (instance, rails_ring_bytes(spec));
        let receiver = RailReceiver::new(links, (spec, receiver), sizes)?;
        Ok(Box::new(RdmaReceiver::new(receiver)?))
    }

    /// The way to the sender by one of several rails.
    fn link(
        &self,
        rail: &RailAddress,
        rails: &[RailAddress],
        instance: u64,
    ) -> Result<SenderReconnection<FabricNode>, Error> {
        let watch = watch_facing(rail.sender, rails, instance)?;
        let introduction = Introduction {
            instance,
            liveness: Some(watch.own().address),
        };
        let query = self.query(FabricAddress::Connect(rail.sender), None);
        let open_node = move || FabricNode::open(&query);
        let liveness: LivenessAddress = rail.liveness;
        let watched = Some(WatchedSender { watch, liveness });
        let times = ReconnectTimes::giving_up_after(self.reconnect_timeout);
        let clock = Instant::now;
        Ok(SenderReconnection::new(
            open_node,
            introduction,
            watched,
            times,
            clock,
        ))
    }
}

/// Listens for probes where the sender is reached by a rail. A rail that leads nowhere now has its
/// probes come by another.
fn watch_facing(
    sender: SocketAddr,
    rails: &[RailAddress],
    instance: u64,
) -> Result<Arc<PeerWatch>, Error> {
    let own = PeerWatch::of_receiver(sender, instance);
    own.or_else(|error| {
        let others = rails.iter();
        let mut others = others.map(|other| PeerWatch::of_receiver(other.sender, instance));
        others.find_map(Result::ok).ok_or(error)
    })
}

/// The sending thread's side over a node for each rail.
pub(super) fn rail_sender<N: RdmaNode>(
    nodes: Vec<N>,
    spec: &EdgeSpec,
    terms: &WriteTerms,
    watches: Vec<WatchGuard>,
) -> Result<WriteSender<RailTargets<N>>, Error> {
    let ring: PinnedMemory = memory(terms.ring_bytes as usize + SPARE_BYTES)?;
    let Some(batch) = &terms.batch else {
        return Err(Error::Refused("rails are for mode batch".to_owned()));
    };
    let targets = RailTargets::new(nodes, spec, (terms, batch), &ring, watches)?;
    Ok(WriteSender::over(targets, ring, spec, terms))
}

/// Bytes of the rings of both sides.
fn rails_ring_bytes(spec: &EdgeSpec) -> usize {
    ring_bytes(spec).min(RING_BYTES_MAX)
}
