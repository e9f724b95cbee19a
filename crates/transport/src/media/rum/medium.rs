//! The medium `rum`: opens and accepts edges whose connections may break and be made again.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::liveness::LivenessListener;
use super::receiver::RumReceiver;
use super::receiver_task::{RumReceiverTask, SenderEndpoint};
use super::sender::{RumSender, RumSenderTask};
use super::sender_state::{RumSenderParts, RumSenderState};
use crate::media::tcp_edge::address_ticket::{read_ticket, seal_tickets};
use crate::media::tcp_edge::handshake::{
    ConnectionPurpose, FramingProtocol, Handshake, HandshakeReply, HandshakeTerms, random_instance,
};
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receive_buffer::ReceiveBuffer;
use crate::media::tcp_edge::receiver_connection::ConnectionPair;
use crate::media::tcp_edge::{connector, keepalive};
use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd,
};

/// Fewest bytes of a sender's ring. A smaller ring of the edge's description is raised to this, so
/// that a frame of some size always fits.
const RING_BYTES_MIN: usize = 4096;

/// Most bytes of a sender's ring.
const RING_BYTES_MAX: usize = 1 << 30;

/// Most bytes of a payload, which is also at most a quarter of the ring.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Pause between two tries to connect for the first time. Short, because the sender listens
/// already: only a connection that breaks during the handshake is tried again.
const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(2);

/// The medium `rum`: see the [module](super).
#[derive(Clone, Copy, Debug)]
pub struct RumMedium {
    /// Most time that both sides wait for a broken connection to be made again.
    pub reconnect_timeout: Duration,
}

impl RumMedium {
    /// The registered medium, which waits five seconds for a broken connection.
    pub const DEFAULT: RumMedium = RumMedium {
        reconnect_timeout: Duration::from_secs(5),
    };
}

impl RumMedium {
    /// Connects for the first time, and tries again if the connection breaks during the handshake.
    fn connect(
        &self,
        name: &str,
        address: SocketAddr,
        handshake: Handshake,
    ) -> Result<(ConnectionPair, HandshakeReply), Error> {
        let until = Instant::now() + self.reconnect_timeout;
        loop {
            let result = connector::connect_blocking(address, handshake);
            let is_final = match &result {
                Ok(_) => true,
                Err(error) => error.kind() == ErrorKind::ConnectionRefused,
            };
            if is_final || Instant::now() >= until {
                return connector::connect_result(name, address, result);
            }
            std::thread::sleep(CONNECT_RETRY_PAUSE);
        }
    }
}

impl Medium for RumMedium {
    fn name(&self) -> &'static str {
        "rum"
    }

    fn description(&self) -> String {
        "many frames a write, on connections that may break".to_owned()
    }

    fn caps(&self) -> MediumCaps {
        MediumCaps {
            crosses_processes: true,
            crosses_hosts: true,
            is_untrusted: true,
            is_one_to_many: true,
            is_batching: true,
            receivers_max: u32::MAX,
            is_for_tests: false,
        }
    }

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let (registration, counters) = (Registration::reserve()?, Arc::<EdgeCounters>::default());
        let terms = HandshakeTerms::new(FramingProtocol::Rum, spec);
        let listener = Listener::bind(spec, terms, registration, counters.clone())?;
        let tickets = seal_tickets(self.name(), spec, listener.address()?);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let ring = ring::retaining_ring(ring_bytes);
        let (writer, reader) = ring.map_err(|error| Error::system("make a ring", error))?;
        let payload_bytes_max = (reader.capacity() / 4 - 8).min(FRAME_BYTES_MAX);
        let state = RumSenderState::new(RumSenderParts {
            retaining_reader: reader,
            listener,
            receiver_count: spec.receiver_count,
            registration,
            counters: counters.clone(),
            batching: spec.batching,
            payload_bytes_max: payload_bytes_max as u32,
            reconnect_timeout: self.reconnect_timeout,
        });
        let task = Arc::new(RumSenderTask::new(state)?);
        registration.add_task(task.clone());
        let sizes = (spec.receiver_count, payload_bytes_max);
        let sender_end = RumSender::new(task, counters, writer, spec.batching, sizes);
        Ok((Box::new(sender_end), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let instance = random_instance();
        let liveness = LivenessListener::bind_facing(address, instance).map_err(|error| {
            let tried = format!("listen where the sender of {} is reached", spec.name);
            Error::system(tried, error)
        })?;
        let handshake = Handshake {
            protocol: FramingProtocol::Rum,
            edge: spec.edge,
            receiver,
            token: spec.token,
            instance,
            position: 0,
            purpose: ConnectionPurpose::Frames,
            liveness_port: liveness.port(),
        };
        let (pair, reply) = self.connect(&spec.name, address, handshake)?;
        keepalive::set_timeout(&pair.frames, self.reconnect_timeout);
        let buffer = ReceiveBuffer::from_reply(&spec.name, &reply)?;
        let sender = SenderEndpoint {
            address,
            reconnect_timeout: self.reconnect_timeout,
            ring_bytes: reply.ring_bytes,
        };
        let task = RumReceiverTask::new(pair.credit, liveness, &sender)?;
        let ends = (pair.frames, task);
        let receiver_end = RumReceiver::new(
            ends,
            buffer,
            spec.name.clone(),
            handshake,
            self.reconnect_timeout,
        );
        Ok(Box::new(receiver_end))
    }
}
