//! Plain TCP: a frame a write, without delay.
//!
//! The sender listens, on a port of its own for each edge; receivers connect with what their ticket
//! says. With several receivers each frame is written to each.
//!
//! ```text
//!   sender                                          receiver
//!     door: listens              <- connect, twice    dial
//!                                <--- hello ---       magic, version, token, link, receiver
//!                                --- answer -->       welcome, or what is wrong
//!     claim, commit: one write   --- frames -->       intake: frames polled in place
//!     ear                        <-- credit ---       way back: how far it has released
//! ```
//! The threads that send and receive never wait: a write that goes only in part is continued by the
//! next calls, and by the [`pump`] when there are none. The pump also does the handshakes.
//!
//! What is under way is bounded by credit: a receiver tells how far it has released at once when
//! that is an eighth of the ring, and otherwise leaves it to the pump, about once a millisecond.
//!
//! Frames lie as they lay in memory, so both sides have the same byte order.

pub(super) mod acknowledge;
pub(super) mod connector;
pub(super) mod credit;
pub(super) mod handshake;
pub(super) mod io_thread;
pub(super) mod keepalive;
pub(super) mod listener;
#[cfg(test)]
pub(super) mod loopback;
pub(super) mod receive_buffer;
mod receiver;
pub(super) mod receiver_connection;
pub(super) mod release_progress;
mod sender;
pub(super) mod sender_poll_set;
mod sender_state;
pub(super) mod stream_end;

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use handshake::{ConnectionPurpose, FramingProtocol, Handshake, HandshakeReply, HandshakeTerms};
use io_thread::Registration;
use receive_buffer::ReceiveBuffer;

use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd,
};

/// Flags of a frame that only fills: the sender leaves, nothing follows.
pub(super) const END_OF_STREAM: u8 = 1;

/// So long the pump tries to get out what is left when a sending end is dropped.
pub(super) const LINGER: Duration = Duration::from_secs(10);

/// TCP bridges failures of the network by itself; one that lasts longer is a loss.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(30);

/// Bounds of what may be under way.
const RING_BYTES_MIN: usize = 4096;
const RING_BYTES_MAX: usize = 1 << 31;

/// Payloads are at most half of what may be under way, and not longer than this.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// The medium.
#[derive(Clone, Copy, Debug)]
pub struct TcpMedium;

impl Medium for TcpMedium {
    fn name(&self) -> &'static str {
        "tcp"
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

    fn open(&self, spec: &EdgeSpec) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let (registration, counters) = (Registration::reserve()?, Arc::<EdgeCounters>::default());
        let terms = handshake_terms(FramingProtocol::Tcp, spec);
        let listener = listener::Listener::bind(spec, terms, registration, counters.clone())?;
        let tickets = seal_tickets(self.name(), spec, listener.address()?);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let frame_bytes_max = (ring_bytes / 2).min(FRAME_BYTES_MAX) / 8 * 8;
        let welcome = HandshakeReply {
            position: 0,
            frame_bytes_max: frame_bytes_max as u32,
            ring_bytes: ring_bytes as u64,
        };
        let receivers = spec.receiver_count;
        let lines = sender_state::TcpSenderState::new(
            listener,
            receivers,
            welcome,
            registration,
            counters.clone(),
        );
        let shared = Arc::new(sender::TcpSenderTask::new(lines)?);
        registration.add_task(shared.clone());
        let sending = sender::TcpSender::new(shared, counters, frame_bytes_max, receivers);
        Ok((Box::new(sending), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
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
        let called = connector::connect_blocking(address, handshake);
        let (pair, welcome) = connector::connect_result(&spec.name, address, called)?;
        keepalive::set_timeout(&pair.frames, KEEPALIVE_TIMEOUT);
        let buffer = ReceiveBuffer::from_reply(&spec.name, &welcome)?;
        let registration = Registration::reserve()?;
        let task = Arc::new(receiver::TcpReceiverTask::new(
            pair,
            registration,
            welcome.ring_bytes,
        ));
        registration.add_task(task.clone());
        let name = spec.name.clone();
        Ok(Box::new(receiver::TcpReceiver::new(task, buffer, name)))
    }
}

pub(super) fn handshake_terms(protocol: FramingProtocol, spec: &EdgeSpec) -> HandshakeTerms {
    HandshakeTerms {
        protocol,
        edge: spec.edge,
        receiver_count: spec.receiver_count,
        token: spec.token,
    }
}

/// A number that no other receiving end has.
pub(super) fn random_instance() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// A ticket for each receiver: they connect to this address.
pub(super) fn seal_tickets(medium: &str, spec: &EdgeSpec, address: SocketAddr) -> Vec<EdgeTicket> {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let own = [&ip.octets()[..], &address.port().to_le_bytes()].concat();
    let ticket = |receiver| EdgeTicket::seal(medium, spec, receiver, &own);
    (0..spec.receiver_count).map(ticket).collect()
}

/// The receiver's number and the address.
pub(super) fn read_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
) -> Result<(u32, SocketAddr), Error> {
    let (receiver, own) = ticket.unseal(medium, spec)?;
    let address = own.split_first_chunk::<16>().and_then(|(ip, port)| {
        let port = u16::from_le_bytes(port.try_into().ok()?);
        Some(SocketAddr::new(IpAddr::from(*ip).to_canonical(), port))
    });
    let address = address
        .ok_or_else(|| Error::Refused(format!("{}: the ticket has no address", spec.name)))?;
    Ok((receiver, address))
}
