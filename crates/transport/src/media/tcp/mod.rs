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
pub(super) mod credit;
pub(super) mod dial;
pub(super) mod door;
pub(super) mod end;
pub(super) mod hello;
pub(super) mod intake;
pub(super) mod line;
mod lines;
#[cfg(test)]
pub(super) mod loopback;
pub(super) mod progress;
pub(super) mod pump;
mod receiving;
mod sending;
pub(super) mod silence;
pub(super) mod waiting;

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hello::{Hello, Protocol, Terms, Way, Welcome};
use intake::Intake;
use pump::Seat;

use crate::{Caps, Counters, Error, Inbound, Medium, Outbound, Spec, Ticket};

/// Flags of a frame that only fills: the sender leaves, nothing follows.
pub(super) const LEAVES: u8 = 1;

/// So long the pump tries to get out what is left when a sending end is dropped.
pub(super) const LINGER: Duration = Duration::from_secs(10);

/// TCP bridges failures of the network by itself; one that lasts longer is a loss.
const SILENCE: Duration = Duration::from_secs(30);

/// Bounds of what may be under way.
const RING_BYTES_MIN: usize = 4096;
const RING_BYTES_MAX: usize = 1 << 31;

/// Payloads are at most half of what may be under way, and not longer than this.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// The medium.
#[derive(Clone, Copy, Debug)]
pub struct Tcp;

impl Medium for Tcp {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn caps(&self) -> Caps {
        Caps {
            crosses_processes: true,
            crosses_hosts: true,
            is_foreign: true,
            is_one_to_many: false,
            batches: false,
            receivers_max: u32::MAX,
            is_for_tests: false,
        }
    }

    fn open(&self, spec: &Spec) -> Result<(Box<dyn Outbound>, Vec<Ticket>), Error> {
        let (seat, counters) = (Seat::take()?, Arc::<Counters>::default());
        let terms = terms(Protocol::Tcp, spec);
        let door = door::Door::open(spec, terms, seat, counters.clone())?;
        let tickets = tickets(self.name(), spec, door.address()?);
        let ring_bytes = spec.ring_bytes.clamp(RING_BYTES_MIN, RING_BYTES_MAX);
        let frame_bytes_max = (ring_bytes / 2).min(FRAME_BYTES_MAX) / 8 * 8;
        let welcome = Welcome {
            position: 0,
            frame_bytes_max: frame_bytes_max as u32,
            ring_bytes: ring_bytes as u64,
        };
        let receivers = spec.receivers;
        let lines = lines::Lines::new(door, receivers, welcome, seat, counters.clone());
        let shared = Arc::new(sending::Shared::new(lines)?);
        seat.sit(shared.clone());
        let sending = sending::Sending::new(shared, counters, frame_bytes_max, receivers);
        Ok((Box::new(sending), tickets))
    }

    fn accept(&self, spec: &Spec, ticket: Ticket) -> Result<Box<dyn Inbound>, Error> {
        let (receiver, address) = read_ticket(self.name(), spec, &ticket)?;
        let hello = Hello {
            protocol: Protocol::Tcp,
            link: spec.link,
            receiver,
            token: spec.token,
            instance: instance(),
            position: 0,
            way: Way::Frames,
            lifeline: 0,
        };
        let called = dial::call(address, hello);
        let (pair, welcome) = dial::outcome(&spec.name, address, called)?;
        silence::end_after(&pair.frames, SILENCE);
        let intake = Intake::agreed(&spec.name, &welcome)?;
        let seat = Seat::take()?;
        let way_back = Arc::new(receiving::WayBack::new(pair, seat, welcome.ring_bytes));
        seat.sit(way_back.clone());
        let name = spec.name.clone();
        Ok(Box::new(receiving::Receiving::new(way_back, intake, name)))
    }
}

pub(super) fn terms(protocol: Protocol, spec: &Spec) -> Terms {
    Terms {
        protocol,
        link: spec.link,
        receivers: spec.receivers,
        token: spec.token,
    }
}

/// A number that no other receiving end has.
pub(super) fn instance() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// A ticket for each receiver: they connect to this address.
pub(super) fn tickets(medium: &str, spec: &Spec, address: SocketAddr) -> Vec<Ticket> {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let own = [&ip.octets()[..], &address.port().to_le_bytes()].concat();
    let ticket = |receiver| Ticket::seal(medium, spec, receiver, &own);
    (0..spec.receivers).map(ticket).collect()
}

/// The receiver's number and the address.
pub(super) fn read_ticket(
    medium: &str,
    spec: &Spec,
    ticket: &Ticket,
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
