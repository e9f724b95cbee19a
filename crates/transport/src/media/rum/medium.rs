//! The medium `rum`: opens and accepts edges whose connections may break and be made again.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::break_policy::BreakPolicy;
use super::liveness::LivenessListener;
use super::rails::{LoneFrameReports, RailEnd, StripedReceiver};
use super::receiver::RumReceiver;
use super::receiver_task::{RumReceiverTask, SenderEndpoint};
use super::sender::{RumSender, RumSenderTask};
use super::sender_state::{RumSenderParts, RumSenderState};
use crate::media::tcp_edge::address_ticket::{read_rails_ticket, seal_tickets};
use crate::media::tcp_edge::handshake::{
    ConnectionPurpose, FramingProtocol, Handshake, HandshakeReply, HandshakeTerms, random_instance,
};
use crate::media::tcp_edge::io_thread::Registration;
use crate::media::tcp_edge::listener::Listener;
use crate::media::tcp_edge::receive_buffer::ReceiveBuffer;
use crate::media::tcp_edge::receiver_connection::ConnectionPair;
use crate::media::tcp_edge::sender_address::{SenderAddress, check_mptcp};
use crate::media::tcp_edge::{connector, keepalive};
use crate::{
    Batching, EdgeCounters, EdgeSpec, EdgeTicket, Error, Medium, MediumCaps, RAILS_MAX,
    ReceivingEnd, SendingEnd,
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

/// Most time that the rails of a receiver together take to connect for the first time, unless none
/// of them does: the others go on without those that take longer.
const RAILS_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

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

/// Opens and accepts edges of a medium whose senders keep frames in a ring.
#[derive(Clone, Copy, Debug)]
pub(in crate::media) struct RumEdges {
    /// Name of the medium, which its tickets bear.
    name: &'static str,
    /// Framing on several rails.
    rails_protocol: FramingProtocol,
    /// Bytes of a full batch; `None`: as the edge's description says.
    batch_bytes: Option<usize>,
    /// Thread that reports a lone frame on several rails.
    lone_frame_reports: LoneFrameReports,
    break_policy: BreakPolicy,
}

impl RumEdges {
    /// Edges of `tcp` on rails: each frame goes out at once, and an edge is lost with its last
    /// connection.
    pub(in crate::media) const TCP_RAILS: RumEdges = RumEdges {
        name: "tcp",
        rails_protocol: FramingProtocol::TcpRails,
        batch_bytes: Some(1),
        lone_frame_reports: LoneFrameReports::ByIoThread,
        break_policy: BreakPolicy {
            survives_all: false,
            ..RumEdges::of_rum(RumMedium::DEFAULT.reconnect_timeout).break_policy
        },
    };

    const fn of_rum(reconnect_timeout: Duration) -> RumEdges {
        RumEdges {
            name: "rum",
            rails_protocol: FramingProtocol::RumRails,
            batch_bytes: None,
            lone_frame_reports: LoneFrameReports::AtOnce,
            break_policy: BreakPolicy {
                reconnect_timeout,
                survives_all: true,
            },
        }
    }

    /// Makes the sending end of an edge and its tickets: see [`Medium::open`].
    pub(in crate::media) fn open(
        &self,
        spec: &EdgeSpec,
    ) -> Result<(Box<dyn SendingEnd>, Vec<EdgeTicket>), Error> {
        let registration = Registration::reserve()?;
        let counters = match spec.listen.rails().len() {
            1 => Arc::<EdgeCounters>::default(),
            rails => Arc::new(EdgeCounters::with_rails(rails)),
        };
        let listeners = self.listen(spec, registration, &counters)?;
        let addresses = listeners.iter().map(Listener::address);
        let addresses: Vec<SocketAddr> = addresses.collect::<Result<_, _>>()?;
        let tickets = seal_tickets(self.name, spec, &addresses);
        let ring = ring::retaining_ring(ring_bytes(spec));
        let (writer, reader) = ring.map_err(|error| Error::system("make a ring", error))?;
        let payload_bytes_max = payload_bytes_max(reader.capacity());
        let batching = self.batching(spec);
        let state = RumSenderState::new(RumSenderParts {
            retaining_reader: reader,
            listeners,
            receiver_count: spec.receiver_count,
            registration,
            counters: counters.clone(),
            batching,
            payload_bytes_max: payload_bytes_max as u32,
            break_policy: self.break_policy,
        });
        let task = Arc::new(RumSenderTask::new(state)?);
        registration.add_task(task.clone());
        let sizes = (spec.receiver_count, payload_bytes_max);
        let sender_end = RumSender::new(task, counters, writer, batching, sizes);
        Ok((Box::new(sender_end), tickets))
    }

    /// Makes a receiving end from its ticket: see [`Medium::accept`].
    pub(in crate::media) fn accept(
        &self,
        spec: &EdgeSpec,
        ticket: &EdgeTicket,
    ) -> Result<Box<dyn ReceivingEnd>, Error> {
        let (receiver, addresses) = read_rails_ticket(self.name, spec, ticket)?;
        if let [address] = addresses[..] {
            return self.accept_direct(spec, receiver, address);
        }
        self.accept_rails(spec, receiver, &addresses)
    }

    /// Connects for the first time, and tries again if the connection breaks during the handshake.
    fn connect(
        &self,
        name: &str,
        address: SenderAddress,
        handshake: Handshake,
    ) -> Result<(ConnectionPair, HandshakeReply), Error> {
        let until = Instant::now() + self.break_policy.reconnect_timeout;
        loop {
            let result = connector::connect_blocking(address, handshake);
            let is_final = match &result {
                Ok(_) => true,
                Err(error) => error.kind() == ErrorKind::ConnectionRefused,
            };
            if is_final || Instant::now() >= until {
                return connector::connect_result(name, address.address, result);
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
        RumEdges::of_rum(self.reconnect_timeout).open(spec)
    }

    fn accept(&self, spec: &EdgeSpec, ticket: EdgeTicket) -> Result<Box<dyn ReceivingEnd>, Error> {
        RumEdges::of_rum(self.reconnect_timeout).accept(spec, &ticket)
    }

    fn rails_max(&self) -> usize {
        RAILS_MAX
    }
}

impl RumEdges {
    /// Listens on each address of the edge.
    fn listen(
        &self,
        spec: &EdgeSpec,
        registration: Registration,
        counters: &Arc<EdgeCounters>,
    ) -> Result<Vec<Listener>, Error> {
        let addresses = spec.listen.rails();
        let protocol = match addresses.len() {
            1 => FramingProtocol::Rum,
            _ => self.rails_protocol,
        };
        let listen = |address: &IpAddr| {
            let terms = HandshakeTerms::new(protocol, spec);
            Listener::bind_at(*address, spec, terms, registration, counters.clone())
        };
        addresses.iter().map(listen).collect()
    }

    fn batching(&self, spec: &EdgeSpec) -> Batching {
        Batching {
            bytes_max: self.batch_bytes.unwrap_or(spec.batching.bytes_max),
            ..spec.batching
        }
    }

    /// A receiving end with one connection.
    fn accept_direct(
        &self,
        spec: &EdgeSpec,
        receiver: u32,
        address: SocketAddr,
    ) -> Result<Box<dyn ReceivingEnd>, Error> {
        check_mptcp(spec)?;
        let instance = random_instance();
        let liveness = bind_liveness(spec, address, instance)?;
        let handshake = handshake(spec, receiver, instance, liveness.port());
        let address = SenderAddress::new(address, spec);
        let (pair, reply) = self.connect(&spec.name, address, handshake)?;
        keepalive::set_timeout(&pair.frames, self.break_policy.reconnect_timeout);
        let buffer = ReceiveBuffer::from_reply(&spec.name, &reply)?;
        let sender = SenderEndpoint {
            address,
            reconnect_timeout: self.break_policy.reconnect_timeout,
            ring_bytes: reply.ring_bytes,
        };
        let task = RumReceiverTask::new(Some(pair.credit), liveness, &sender)?;
        let ends = (pair.frames, task);
        let receiver_end = RumReceiver::new(
            ends,
            buffer,
            spec.name.clone(),
            handshake,
            self.break_policy.reconnect_timeout,
        );
        Ok(Box::new(receiver_end))
    }

    /// A receiving end with rails. The IO thread goes on connecting those that cannot be now.
    fn accept_rails(
        &self,
        spec: &EdgeSpec,
        receiver: u32,
        addresses: &[SocketAddr],
    ) -> Result<Box<dyn ReceivingEnd>, Error> {
        let instance = random_instance();
        let rails = addresses.iter().map(|&address| {
            let (liveness, port) = bind_rail_liveness(spec, address, addresses, instance)?;
            let handshake = Handshake {
                protocol: self.rails_protocol,
                ..handshake(spec, receiver, instance, port)
            };
            Ok(UnconnectedRail {
                address,
                liveness,
                handshake,
            })
        });
        let rails: Vec<UnconnectedRail> = rails.collect::<Result<_, Error>>()?;
        let mut pairs = self.connect_rails(spec, &rails)?.into_iter();
        let ring_bytes = ring_bytes(spec).next_power_of_two();
        let connect = |(number, rail): (usize, UnconnectedRail)| {
            let (frames, credit) = pairs.next().flatten().unzip();
            let sender = SenderEndpoint {
                address: rail.address.into(),
                reconnect_timeout: self.break_policy.reconnect_timeout,
                ring_bytes: ring_bytes as u64,
            };
            let task = RumReceiverTask::new(credit, rail.liveness, &sender)?;
            Ok(RailEnd::new(number, task, rail.handshake, frames))
        };
        let ends = rails.into_iter().enumerate().map(connect);
        let ends = ends.collect::<Result<_, Error>>()?;
        let sizes = (ring_bytes, payload_bytes_max(ring_bytes));
        let (name, reporting) = (spec.name.clone(), self.lone_frame_reports);
        let receiver_end = StripedReceiver::new(ends, name, sizes, reporting, self.break_policy);
        Ok(Box::new(receiver_end))
    }

    /// Connects for the first time, by every rail that leads to the sender and by one at least.
    /// Returns the connections for frames and for credit of each.
    fn connect_rails(
        &self,
        spec: &EdgeSpec,
        rails: &[UnconnectedRail],
    ) -> Result<Vec<Option<(TcpStream, TcpStream)>>, Error> {
        let until = Instant::now() + self.break_policy.reconnect_timeout;
        loop {
            let (mut pairs, mut is_refused, mut last) = (Vec::new(), true, None);
            for rail in rails {
                let timeout = RAILS_CONNECT_TIMEOUT / rails.len() as u32;
                let result =
                    connector::connect_within(rail.address.into(), rail.handshake, timeout);
                is_refused &= matches!(&result,
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused);
                let pair = match connector::connect_result(&spec.name, rail.address, result) {
                    Ok((pair, reply)) => {
                        check_reply(spec, &reply)?;
                        keepalive::set_timeout(&pair.frames, self.break_policy.reconnect_timeout);
                        Some((pair.frames, pair.credit))
                    }
                    Err(error @ Error::Refused(_)) => return Err(error),
                    Err(error) => {
                        last = Some(error);
                        None
                    }
                };
                pairs.push(pair);
            }
            match last.filter(|_| pairs.iter().all(Option::is_none)) {
                None => return Ok(pairs),
                Some(error) if is_refused || Instant::now() >= until => return Err(error),
                Some(_) => std::thread::sleep(CONNECT_RETRY_PAUSE),
            }
        }
    }
}

/// Checks that the sender's ring has the size that the edge's description says: the receiver makes
/// a copy of it.
fn check_reply(spec: &EdgeSpec, reply: &HandshakeReply) -> Result<(), Error> {
    let ring_bytes = ring_bytes(spec).next_power_of_two();
    let expected = (ring_bytes as u64, payload_bytes_max(ring_bytes) as u32);
    if (reply.ring_bytes, reply.payload_bytes_max) == expected {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{}: the sender announces a ring of {} bytes and frames of {}; expected are {} and {}",
        spec.name, reply.ring_bytes, reply.payload_bytes_max, expected.0, expected.1
    )))
}

/// A rail of a receiver before its first connection.
struct UnconnectedRail {
    address: SocketAddr,
    liveness: LivenessListener,
    handshake: Handshake,
}

/// Bytes of a sender's ring, before it is rounded up to a power of two.
fn ring_bytes(spec: &EdgeSpec) -> usize {
    spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX)
}

/// Most bytes of a payload in a ring of this size.
fn payload_bytes_max(ring_bytes: usize) -> usize {
    (ring_bytes / 4 - 8).min(FRAME_BYTES_MAX)
}

/// The handshake of a receiver's first connection for frames.
fn handshake(spec: &EdgeSpec, receiver: u32, instance: u64, liveness_port: u16) -> Handshake {
    Handshake {
        protocol: FramingProtocol::Rum,
        edge: spec.edge,
        receiver,
        token: spec.token,
        instance,
        position: 0,
        purpose: ConnectionPurpose::Frames,
        liveness_port,
    }
}

fn bind_liveness(
    spec: &EdgeSpec,
    address: SocketAddr,
    instance: u64,
) -> Result<LivenessListener, Error> {
    LivenessListener::bind_facing(address, instance).map_err(|error| {
        let tried = format!("listen where the sender of {} is reached", spec.name);
        Error::system(tried, error)
    })
}

/// Listens for probes on a rail, and returns the port. A rail that leads nowhere yet has no port:
/// its probes come by the others.
fn bind_rail_liveness(
    spec: &EdgeSpec,
    address: SocketAddr,
    addresses: &[SocketAddr],
    instance: u64,
) -> Result<(LivenessListener, u16), Error> {
    let own = bind_liveness(spec, address, instance);
    if let Ok(liveness) = own {
        let port = liveness.port();
        return Ok((liveness, port));
    }
    let others = addresses
        .iter()
        .map(|other| bind_liveness(spec, *other, instance));
    let other = others.flatten().next();
    other.map_or(own.map(|own| (own, 0)), |other| Ok((other, 0)))
}
