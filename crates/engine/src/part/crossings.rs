//! Both ends of crossing edges, as a plan wants them.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use graph::{Crossing, CrossingCodec, OutPortId, PeAssignment, Plan, Program};
use planner::PeProgram;
use runtime::crossing::{CrossingEnds, InboundCrossing, OutboundCrossing};
use serde::{Deserialize, Serialize};
use transport::{Batching, EdgeSpec, Medium, media};

use crate::job::{HostSpec, find_host};

/// Bytes under way on an edge through memory whose plan does not say how many, as many as a queue
/// has. Round a smaller ring the writer comes upon each cache line while the reader's processor has
/// just had it: where each core has 1 MB of cache, a ring of 1 MB carried a third to a half as many
/// tuples.
const RING_BYTES: usize = 2 << 20;

/// The same through sockets, which copy: twice as many carry no more.
const SOCKET_BYTES: usize = 1 << 20;

/// Bytes of all edges of a plan together, and of the rings of a PE. With many edges each has less.
const RING_BYTES_TOTAL: usize = 1 << 28;

/// But not less than this: large tuples and large batches need room.
const RING_BYTES_MIN: usize = 1 << 16;

/// Bytes of each of so many, of which one alone would have `most`.
fn ring_bytes_share(count: usize, most: usize) -> usize {
    let share = RING_BYTES_TOTAL / count.max(1);
    share.clamp(RING_BYTES_MIN, most).next_power_of_two()
}

/// The edges of a job.
pub struct Crossings<'a> {
    plan: &'a Plan,
    program: &'a Program,
    homes: PeAssignment,
    /// The job's secret.
    token: [u8; 16],
    hosts: &'a [HostSpec],
}

/// How one receiver of a link reaches its sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct CrossingTicket {
    /// The crossing's number in the plan.
    pub link: u32,
    /// The receiver's number.
    pub receiver: u32,
    /// What the medium wrote.
    pub bytes: Vec<u8>,
}

/// The sending end of a link, and what its receivers need.
type OpenedCrossing = (OutboundCrossing, Vec<(CrossingTicket, Vec<OwnedFd>)>);

/// A crossing with what it rides on.
struct ResolvedCrossing<'a> {
    crossing: &'a Crossing,
    stream: Arc<str>,
    medium: &'static dyn Medium,
    spec: EdgeSpec,
}

impl<'a> Crossings<'a> {
    /// Those of a plan for a whole program.
    pub fn new(
        plan: &'a Plan,
        program: &'a Program,
        token: [u8; 16],
        hosts: &'a [HostSpec],
    ) -> Crossings<'a> {
        Crossings {
            plan,
            program,
            homes: PeAssignment::new(plan, program.operators.len()),
            token,
            hosts,
        }
    }

    /// Makes the sending end of a link.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn open(&self, number: u32) -> Result<OpenedCrossing, String> {
        let link = self.resolve(number)?;
        let opened = link.medium.open(&link.spec);
        let (end, tickets) = opened.map_err(|error| link.error_text(&error))?;
        let ticket = |(receiver, ticket): (u32, transport::EdgeTicket)| {
            let own = CrossingTicket {
                link: number,
                receiver,
                bytes: ticket.bytes,
            };
            (own, ticket.fds)
        };
        let sending = OutboundCrossing {
            stream: link.stream,
            to_pes: link.crossing.to.clone(),
            codec: link.crossing.codec,
            end,
        };
        Ok((sending, (0..).zip(tickets).map(ticket).collect()))
    }

    /// Makes both ends of the rings within a PE, and adds what else the order of its streams needs.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn open_rings(
        &self,
        part: &PeProgram,
        pe: u32,
        links: &mut CrossingEnds,
    ) -> Result<(), String> {
        for &(number, from) in &part.rings {
            let bytes = ring_bytes_share(part.rings.len(), RING_BYTES);
            let (sending, receiving) = self.open_ring((number, from), pe, bytes)?;
            links.outbound.insert(number, sending);
            links.inbound.insert(number, receiving);
        }
        links.operator_origins = part.origins.clone();
        Ok(())
    }

    fn open_ring(
        &self,
        (number, from): (u32, OutPortId),
        pe: u32,
        ring_bytes: usize,
    ) -> Result<(OutboundCrossing, InboundCrossing), String> {
        let medium = media::find("ring").ok_or_else(|| unknown_medium("ring"))?;
        let (name, stream) = self.stream_names(from);
        let spec = EdgeSpec {
            name: name.into(),
            edge: number,
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

    /// What a stream is called in messages, and its own name.
    fn stream_names(&self, OutPortId { operator, port }: OutPortId) -> (String, Arc<str>) {
        let operator = self.program.operators.get(operator.0 as usize);
        let stream = operator.and_then(|operator| operator.outputs.get(port as usize));
        let name = operator.map_or("?", |operator| &*operator.name);
        let stream = stream.map(|stream| stream.name.clone()).unwrap_or_default();
        (format!("{name}.{port}"), stream)
    }

    /// Makes a receiving end from its ticket.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn accept(
        &self,
        ticket: CrossingTicket,
        fds: Vec<OwnedFd>,
    ) -> Result<InboundCrossing, String> {
        let link = self.resolve(ticket.link)?;
        let bytes = ticket.bytes;
        let accepted = link
            .medium
            .accept(&link.spec, transport::EdgeTicket { bytes, fds });
        let end = accepted.map_err(|error| link.error_text(&error))?;
        let from = self.homes.pe_of(link.crossing.from.operator);
        Ok(InboundCrossing {
            stream: link.stream,
            from_pe: from.unwrap_or_default(),
            codec: link.crossing.codec,
            is_foreign: link.medium.caps().is_untrusted,
            end,
        })
    }

    /// Where a crossing's sender listens: for its own host alone, unless a receiver is on another.
    fn listen_address(&self, crossing: &Crossing) -> Result<IpAddr, String> {
        let host = |pe: u32| self.plan.pes.get(pe as usize)?.host.as_deref();
        let from = self.homes.pe_of(crossing.from.operator).and_then(host);
        if crossing.to.iter().all(|pe| host(*pe) == from) {
            return Ok(Ipv4Addr::LOCALHOST.into());
        }
        let found = from.and_then(|name| find_host(self.hosts, name));
        let found = found.ok_or("the sender's host has no address for other hosts")?;
        Ok(found.address)
    }

    fn resolve(&self, number: u32) -> Result<ResolvedCrossing<'a>, String> {
        let crossing = self.plan.crossings.get(number as usize);
        let crossing = crossing.ok_or_else(|| format!("there is no crossing {number}"))?;
        let medium = media::find(&crossing.medium);
        let medium = medium.ok_or_else(|| unknown_medium(&crossing.medium))?;
        let most = match medium.caps().is_untrusted {
            true => SOCKET_BYTES,
            false => RING_BYTES,
        };
        let (name, stream) = self.stream_names(crossing.from);
        let spec = EdgeSpec {
            name: name.into(),
            edge: number,
            receiver_count: crossing.to.len() as u32,
            ring_bytes: crossing.ring_bytes.map_or_else(
                || ring_bytes_share(self.plan.crossings.len(), most),
                |bytes| bytes as usize,
            ),
            batching: crossing.batch.map_or_else(Batching::default, batching),
            token: self.token,
            listen: self.listen_address(crossing)?,
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
    fn error_text(&self, error: &transport::Error) -> String {
        let (stream, medium) = (&self.spec.name, self.medium.name());
        format!("stream {stream} by {medium}: {error}")
    }
}

/// That there is no such medium, and which there are.
fn unknown_medium(name: &str) -> String {
    let media = media::all().iter().filter(|m| !m.caps().is_for_tests);
    let media: Vec<_> = media.map(|medium| medium.name()).collect();
    format!("there is no medium {name}; there are {}", media.join(", "))
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
