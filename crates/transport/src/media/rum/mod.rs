//! Reliable unicast messaging: many frames a write, over TCP connections that may break.
//!
//! Frames are built in a ring at the sender's, and sent from there: what lies one after the other
//! goes out as one batch, with one write and no copy. They stay there until every receiver has
//! released them, so a receiver whose connection broke connects again, says the position that it
//! expects, and goes on: nothing is lost, doubled or out of order.
//!
//! ```text
//!   sender                                                   receivers
//!     claim, commit --> | ring: kept ... not sent yet |
//!                           ^          ^         ^
//!                        released    cursor of   cursor of
//!                        by all      receiver 1  receiver 0 -- batch --> intake: polled in place
//!                           +------------------------------ credit <---- position released
//! ```
//! The sending thread sends by itself, when a batch is full or the receiver is idle; what it leaves
//! behind the pump sends in time: see [`link`].
//!
//! # Flow
//! What is under way to a receiver lies in the ring, so the ring's size bounds it. A receiver
//! returns credit when it has released a quarter of the ring, and when it has nothing left to
//! receive.
//!
//! # Who is gone, and who is away
//! A receiver whose connection broke connects again at once and then more and more rarely. It gives
//! up when nobody listens at its sender any more, or when that cannot be reached for as long as it
//! has patience. A sender waits for a receiver that is away as it waits for one that is slow: as
//! long as the receiver's lifeline is answered; see [`lifeline`].

mod batch_header;
mod batch_sender;
mod commit_budget;
mod connection_state;
mod flush_deadline;
mod flush_watchdog;
mod liveness;
mod outgoing_batches;
mod receiver;
mod receiver_task;
mod reconnect;
mod sender;
mod sender_state;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use liveness::LivenessListener;

use crate::media::tcp::connector;
use crate::media::tcp::handshake::{ConnectionPurpose, FramingProtocol, Handshake, HandshakeReply};
use crate::media::tcp::io_thread::Registration;
use crate::media::tcp::listener::Listener;
use crate::media::tcp::receive_buffer::ReceiveBuffer;
use crate::media::tcp::receiver_connection::ConnectionPair;
use crate::media::tcp::{handshake_terms, keepalive, random_instance, read_ticket, seal_tickets};
use crate::{
    EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, ReceivingEnd, SendingEnd,
};

/// Bounds of a ring.
const RING_BYTES_MIN: usize = 4096;
const RING_BYTES_MAX: usize = 1 << 30;

/// Payloads are at most a quarter of the ring, and not longer than this.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Between two tries to connect for the first time.
const CONNECT_RETRY_PAUSE: Duration = Duration::from_millis(2);

/// The medium.
#[derive(Clone, Copy, Debug)]
pub struct RumMedium {
    /// So long both sides wait for a broken connection to be made again.
    pub reconnect_timeout: Duration,
}

impl RumMedium {
    /// With five seconds of patience.
    pub const DEFAULT: RumMedium = RumMedium {
        reconnect_timeout: Duration::from_secs(5),
    };
}

impl RumMedium {
    /// Connects for the first time; tries again if the connection breaks meanwhile.
    fn connect(
        &self,
        name: &str,
        address: SocketAddr,
        handshake: Handshake,
    ) -> Result<(ConnectionPair, HandshakeReply), Error> {
        let until = Instant::now() + self.reconnect_timeout;
        loop {
            let called = connector::connect_blocking(address, handshake);
            let is_hopeless = match &called {
                Ok(_) => true,
                Err(error) => error.kind() == ErrorKind::ConnectionRefused,
            };
            if is_hopeless || Instant::now() >= until {
                return connector::connect_result(name, address, called);
            }
            std::thread::sleep(CONNECT_RETRY_PAUSE);
        }
    }
}

impl Medium for RumMedium {
    fn name(&self) -> &'static str {
        "rum"
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
        let terms = handshake_terms(FramingProtocol::Rum, spec);
        let listener = Listener::bind(spec, terms, registration, counters.clone())?;
        let tickets = seal_tickets(self.name(), spec, listener.address()?);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let made = ring::retaining_ring(ring_bytes);
        let (writer, keeper) = made.map_err(|error| Error::system("make a ring", error))?;
        let frame_bytes_max = (keeper.capacity() / 4 - 8).min(FRAME_BYTES_MAX);
        let link = sender_state::RumSenderState::new(sender_state::RumSenderParts {
            retaining_reader: keeper,
            listener,
            receiver_count: spec.receiver_count,
            registration,
            counters: counters.clone(),
            batching: spec.batching,
            frame_bytes_max: frame_bytes_max as u32,
            reconnect_timeout: self.reconnect_timeout,
        });
        let shared = Arc::new(sender::RumSenderTask::new(link)?);
        registration.add_task(shared.clone());
        let sizes = (spec.receiver_count, frame_bytes_max);
        let sending = sender::RumSender::new(shared, counters, writer, spec.batching, sizes);
        Ok((Box::new(sending), tickets))
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let instance = random_instance();
        let lifeline = LivenessListener::bind_facing(address, instance).map_err(|error| {
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
            liveness_port: lifeline.port(),
        };
        let (pair, welcome) = self.connect(&spec.name, address, handshake)?;
        keepalive::set_timeout(&pair.frames, self.reconnect_timeout);
        let buffer = ReceiveBuffer::from_reply(&spec.name, &welcome)?;
        let sender = receiver_task::SenderEndpoint {
            address,
            reconnect_timeout: self.reconnect_timeout,
            ring_bytes: welcome.ring_bytes,
        };
        let task = receiver_task::RumReceiverTask::new(pair.credit, lifeline, &sender)?;
        let ends = (pair.frames, task);
        let receiving = receiver::RumReceiver::new(
            ends,
            buffer,
            spec.name.clone(),
            handshake,
            self.reconnect_timeout,
        );
        Ok(Box::new(receiving))
    }
}
