//! The medium `tcp`: opens and accepts edges over plain TCP connections.

use std::sync::Arc;

use super::receiver::{TcpReceiver, TcpReceiverTask};
use super::sender::{TcpSender, TcpSenderTask};
use super::sender_state::{KEEPALIVE_TIMEOUT, TcpSenderState};
use crate::media::rum::RumEdges;
use crate::media::tcp_edge::address_ticket::{read_ticket, seal_tickets};
use crate::media::tcp_edge::handshake::{
    ConnectionPurpose, FramingProtocol, Handshake, HandshakeReply, HandshakeTerms, random_instance,
};
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receive_buffer::ReceiveBuffer;
use crate::media::tcp_edge::sender_address::{SenderAddress, check_mptcp};
use crate::media::tcp_edge::{connector, keepalive};
use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, RAILS_MAX, ReceivingEnd,
    SendingEnd,
};

/// Fewest bytes that may be unreleased on a connection. A smaller ring of the edge's description
/// is raised to this, so that a frame of some size always fits.
const RING_BYTES_MIN: usize = 4096;

/// Most bytes that may be unreleased on a connection: as many as the largest ring of the other
/// media holds.
const RING_BYTES_MAX: usize = 1 << 31;

/// Most bytes of a payload, which is also at most half of the ring.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// The medium `tcp`: see the [module](super).
#[derive(Clone, Copy, Debug)]
pub struct TcpMedium;

impl Medium for TcpMedium {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn description(&self) -> String {
        "a connection for each receiver, a frame a write".to_owned()
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: true,
            crosses_hosts: true,
            is_untrusted: true,
            is_one_to_many: false,
            is_batching: false,
            receivers_max: u32::MAX,
            is_for_tests: false,
        }
    }

    fn rails_max(&self) -> usize {
        RAILS_MAX
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        if spec.listen.rails().len() > 1 {
            return RumEdges::TCP_RAILS.open(spec);
        }
        let (registration, counters) = (Registration::reserve()?, Arc::<EdgeCounters>::default());
        let terms = HandshakeTerms::new(FramingProtocol::Tcp, spec);
        let listener = Listener::bind(spec, terms, registration, counters.clone())?;
        let tickets = seal_tickets(self.name(), spec, &[listener.address()?]);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let payload_bytes_max = (ring_bytes / 2).min(FRAME_BYTES_MAX) / 8 * 8;
        let reply = HandshakeReply {
            position: 0,
            payload_bytes_max: payload_bytes_max as u32,
            ring_bytes: ring_bytes as u64,
        };
        let receivers = spec.receiver_count;
        let state = TcpSenderState::new(listener, receivers, reply, registration, counters.clone());
        let task = Arc::new(TcpSenderTask::new(state)?);
        registration.add_task(task.clone());
        let sender = TcpSender::new(task, counters, payload_bytes_max, receivers);
        Ok((Box::new(sender), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        if spec.listen.rails().len() > 1 {
            return RumEdges::TCP_RAILS.accept(spec, &ticket);
        }
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let handshake = Handshake {
            protocol: FramingProtocol::Tcp,
            edge: spec.edge,
            receiver,
            token: spec.token,
            instance: random_instance(),
            position: 0,
            purpose: ConnectionPurpose::Frames,
            liveness_port: 0,
        };
        check_mptcp(spec)?;
        let sender = SenderAddress::new(address, spec);
        let result = connector::connect_blocking(sender, handshake);
        let (pair, reply) = connector::connect_result(&spec.name, address, result)?;
        keepalive::set_timeout(&pair.frames, KEEPALIVE_TIMEOUT);
        let buffer = ReceiveBuffer::from_reply(&spec.name, &reply)?;
        let registration = Registration::reserve()?;
        let task = Arc::new(TcpReceiverTask::new(pair, registration, reply.ring_bytes));
        registration.add_task(task.clone());
        let name = spec.name.clone();
        Ok(Box::new(TcpReceiver::new(task, buffer, name)))
    }
}
