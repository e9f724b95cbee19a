//! The crossings of a job: opens sending ends and accepts receiving ends as the plan says.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use graph::{
    Crossing, CrossingCodec, CrossingId, CrossingRails, OutPortId, PeAssignment, PeId, Plan,
    Program,
};
use planner::PeProgram;
use runtime::crossing::{CrossingEnds, InboundCrossing, OutboundCrossing};
use serde::{Deserialize, Serialize};
use transport::{Batching, EdgeSpec, ListenAddresses, Medium, media};

use crate::job::{HostSpec, find_host};
use crate::plan::missing_medium;

/// Bytes of the ring of a crossing through memory, unless the plan says otherwise; as many as a
/// queue has. In a smaller ring the writer reaches each cache line while the reader's core still
/// holds it: where each core has 1 MB of cache, a ring of 1 MB carried a third to a half as many
/// tuples.
const RING_BYTES: usize = 2 << 20;

/// Bytes under way on a crossing through a socket, unless the plan says otherwise. Sockets copy,
/// and twice as many bytes carried no more tuples.
const SOCKET_BYTES: usize = 1 << 20;

/// Bytes of all crossings of a plan together, and of all rings of a PE: each of many gets less, so
/// that a job with many crossings fits into memory.
const RING_BYTES_TOTAL: usize = 1 << 28;

/// Smallest number of bytes of a crossing or ring: large tuples and batches need room.
const RING_BYTES_MIN: usize = 1 << 16;

/// Bytes for each of `count` crossings, a power of two; a single one has `bytes_max`.
fn ring_bytes_share(count: usize, bytes_max: usize) -> usize {
    let share = RING_BYTES_TOTAL / count.max(1);
    share.clamp(RING_BYTES_MIN, bytes_max).next_power_of_two()
}

/// The crossings of a job, by their ids in its plan.
pub struct Crossings<'a> {
    plan: &'a Plan,
    program: &'a Program,
    operator_pes: PeAssignment,
    /// Secret of the job, which receivers show to senders.
    token: [u8; 16],
    hosts: &'a [HostSpec],
}

/// A ticket: how one receiver of a crossing reaches its sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CrossingTicket {
    /// Number of the crossing in the plan.
    pub crossing: u32,
    /// Number of the receiver among those of the crossing, from 0.
    pub receiver: u32,
    /// Address or key of the sender, in the medium's own format.
    pub bytes: Vec<u8>,
}

/// Why an end of a crossing cannot be opened.
#[derive(Debug)]
pub struct CrossingFailure {
    /// A sentence that names the stream.
    pub line: String,
    /// The words of the sentence that do not depend on the stream; may be empty.
    pub shared_reason: String,
}

impl From<String> for CrossingFailure {
    fn from(line: String) -> CrossingFailure {
        CrossingFailure {
            line,
            shared_reason: String::new(),
        }
    }
}

/// The sending end of a crossing, and a ticket with descriptors for each receiver.
type OpenedCrossing = (OutboundCrossing, Vec<(CrossingTicket, Vec<OwnedFd>)>);

/// A crossing of the plan with its stream and its medium.
struct ResolvedCrossing<'a> {
    crossing: &'a Crossing,
    stream: Arc<str>,
    medium: &'static dyn Medium,
    spec: EdgeSpec,
}

impl<'a> Crossings<'a> {
    /// The crossings of a plan for a whole program.
    pub fn new(
        plan: &'a Plan,
        program: &'a Program,
        token: [u8; 16],
        hosts: &'a [HostSpec],
    ) -> Crossings<'a> {
        Crossings {
            plan,
            program,
            operator_pes: PeAssignment::new(plan, program.operators.len()),
            token,
            hosts,
        }
    }

    /// Opens the sending end of a crossing.
    ///
    /// # Errors
    /// A sentence that names the stream and the medium.
    pub fn open(&self, id: CrossingId) -> Result<OpenedCrossing, CrossingFailure> {
        let resolved = self.resolve(id)?;
        let opened = resolved.medium.open(&resolved.spec);
        let (end, tickets) = opened.map_err(|error| resolved.failure(&error))?;
        let ticket = |(receiver, ticket): (u32, transport::EdgeTicket)| {
            let crossing_ticket = CrossingTicket {
                crossing: id.0,
                receiver,
                bytes: ticket.bytes,
            };
            (crossing_ticket, ticket.fds)
        };
        let sending = OutboundCrossing {
            stream: resolved.stream,
            to_pes: resolved.crossing.to.clone(),
            codec: resolved.crossing.codec,
            end,
        };
        Ok((sending, (0..).zip(tickets).map(ticket).collect()))
    }

    /// Opens both ends of the rings within a PE, and notes the origins by which its streams are
    /// ordered.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn open_rings(
        &self,
        part: &PeProgram,
        pe: PeId,
        ends: &mut CrossingEnds,
    ) -> Result<(), String> {
        for &(ring, from) in &part.rings {
            let bytes = ring_bytes_share(part.rings.len(), RING_BYTES);
            let (sending, receiving) = self.open_ring((ring, from), pe, bytes)?;
            ends.outbound.insert(ring, sending);
            ends.inbound.insert(ring, receiving);
        }
        ends.operator_origins = part.origins.clone();
        Ok(())
    }

    fn open_ring(
        &self,
        (ring, from): (CrossingId, OutPortId),
        pe: PeId,
        ring_bytes: usize,
    ) -> Result<(OutboundCrossing, InboundCrossing), String> {
        let medium = media::find_with("ring", "").map_err(|error| error.to_string())?;
        let (name, stream) = self.stream_names(from);
        let spec = EdgeSpec {
            name: name.into(),
            edge: ring.0,
            receiver_count: 1,
            ring_bytes,
            batching: Batching::default(),
            token: self.token,
            listen: Ipv4Addr::LOCALHOST.into(),
        };
        let failed = |error: transport::Error| format!("stream {} by ring: {error}", spec.name);
        let (end, mut tickets) = medium.open(&spec).map_err(failed)?;
        let ticket = tickets.pop().unwrap_or_default();
        let sending = OutboundCrossing {
            stream: stream.clone(),
            to_pes: vec![pe],
            codec: CrossingCodec::Facade,
            end,
        };
        let receiving = InboundCrossing {
            stream,
            from_pe: pe,
            codec: CrossingCodec::Facade,
            is_foreign: false,
            end: medium.accept(&spec, ticket).map_err(failed)?,
        };
        Ok((sending, receiving))
    }

    /// Name of a stream in messages (`Operator.0`), and its name in the program.
    fn stream_names(&self, OutPortId { operator, port }: OutPortId) -> (String, Arc<str>) {
        let operator = self.program.operators.get(operator.0 as usize);
        let stream = operator.and_then(|operator| operator.outputs.get(port.index()));
        let name = operator.map_or("?", |operator| &*operator.name);
        let stream = stream.map(|stream| stream.name.clone()).unwrap_or_default();
        (format!("{name}.{port}"), stream)
    }

    /// Accepts the receiving end of a crossing from its ticket and descriptors.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn accept(
        &self,
        ticket: CrossingTicket,
        fds: Vec<OwnedFd>,
    ) -> Result<InboundCrossing, CrossingFailure> {
        let resolved = self.resolve(CrossingId(ticket.crossing))?;
        let bytes = ticket.bytes;
        let accepted = resolved
            .medium
            .accept(&resolved.spec, transport::EdgeTicket { bytes, fds });
        let end = accepted.map_err(|error| resolved.failure(&error))?;
        let from = self.operator_pes.pe_of(resolved.crossing.from.operator);
        let from = from.ok_or_else(|| {
            format!(
                "the sender of the stream {} is in no PE",
                resolved.spec.name
            )
        })?;
        Ok(InboundCrossing {
            stream: resolved.stream,
            from_pe: from,
            codec: resolved.crossing.codec,
            is_foreign: resolved.medium.caps().is_untrusted,
            end,
        })
    }

    /// Addresses at which a crossing's sender listens: those of its rails; without rails loopback,
    /// unless a receiver is on another host.
    fn listen_addresses(&self, crossing: &Crossing) -> Result<ListenAddresses, String> {
        match &crossing.rails {
            CrossingRails::None => self.host_address(crossing).map(ListenAddresses::from),
            CrossingRails::Striped(addresses) => ListenAddresses::from_rails(addresses),
            CrossingRails::Mptcp => self.host_address(crossing).map(ListenAddresses::from_mptcp),
        }
    }

    /// The address of a crossing's sender: loopback, unless a receiver is on another host.
    fn host_address(&self, crossing: &Crossing) -> Result<IpAddr, String> {
        let host = |pe: PeId| self.plan.pes.get(pe.0 as usize)?.host.as_deref();
        let from = self
            .operator_pes
            .pe_of(crossing.from.operator)
            .and_then(host);
        if crossing.to.iter().all(|pe| host(*pe) == from) {
            return Ok(Ipv4Addr::LOCALHOST.into());
        }
        let found = from.and_then(|name| find_host(self.hosts, name));
        let found = found.ok_or("the sender's host has no address for other hosts")?;
        Ok(found.address)
    }

    fn resolve(&self, id: CrossingId) -> Result<ResolvedCrossing<'a>, String> {
        let crossing = self.plan.crossings.get(id.0 as usize);
        let crossing = crossing.ok_or_else(|| format!("there is no crossing {id}"))?;
        let medium = media::find_with(&crossing.medium, &crossing.medium_settings);
        let medium = medium.map_err(|error| match media::find(&crossing.medium) {
            None => missing_medium(&crossing.medium, &error.to_string()),
            Some(_) => error.to_string(),
        })?;
        let bytes_max = match medium.caps().is_untrusted {
            true => SOCKET_BYTES,
            false => RING_BYTES,
        };
        let (name, stream) = self.stream_names(crossing.from);
        let spec = EdgeSpec {
            name: name.into(),
            edge: id.0,
            receiver_count: crossing.to.len() as u32,
            ring_bytes: crossing.ring_bytes.map_or_else(
                || ring_bytes_share(self.plan.crossings.len(), bytes_max),
                |bytes| bytes as usize,
            ),
            batching: crossing.batch.map_or_else(Batching::default, batching),
            token: self.token,
            listen: self.listen_addresses(crossing)?,
        };
        Ok(ResolvedCrossing {
            crossing,
            stream,
            medium,
            spec,
        })
    }
}

impl ResolvedCrossing<'_> {
    fn failure(&self, error: &transport::Error) -> CrossingFailure {
        let (stream, medium) = (&self.spec.name, self.medium.name());
        let shared_reason = error.to_string();
        CrossingFailure {
            line: format!("stream {stream} by {medium}: {shared_reason}"),
            shared_reason,
        }
    }
}

fn batching((shortest, longest, bytes): (u32, u32, u32)) -> Batching {
    Batching {
        time_min: Duration::from_micros(shortest.into()),
        time_max: Duration::from_micros(longest.into()),
        bytes_max: bytes as usize,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_edges_have_less_room_each() {
        for (most, full) in [(RING_BYTES, 128), (SOCKET_BYTES, 256)] {
            assert_eq!(ring_bytes_share(0, most), most);
            assert_eq!(ring_bytes_share(full, most), most);
            assert_eq!(ring_bytes_share(full + 1, most), most, "a power of two");
            assert_eq!(ring_bytes_share(4 * full, most), most / 4);
            assert_eq!(ring_bytes_share(1_000_000, most), RING_BYTES_MIN);
        }
    }
}
