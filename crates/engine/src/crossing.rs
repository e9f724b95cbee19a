//! Both ends of crossing edges, as a plan wants them.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use compiler::Part;
use graph::{Codec, Crossing, Edge, Homes, Plan, Program};
use runtime::crossing::{Links, Receiving, Sending};
use transport::{Batching, Medium, Spec, media};

use crate::control::Ticket;
use crate::{Host, hosts};

/// Bytes under way on an edge through memory whose plan does not say how many, as many as a queue has.
/// Round a smaller ring the writer comes upon each cache line while the reader's processor has just had
/// it: where each core has 1 MB of cache, a ring of 1 MB carried a third to a half as many tuples.
const RING_BYTES: usize = 2 << 20;

/// The same through sockets, which copy: twice as many carry no more.
const WINDOW_BYTES: usize = 1 << 20;

/// Bytes of all edges of a plan together, and of the rings of a PE. With many edges each has less.
const RINGS_BYTES: usize = 1 << 28;

/// But not less than this: large tuples and large batches need room.
const RING_BYTES_MIN: usize = 1 << 16;

/// Bytes of each of so many, of which one alone would have `most`.
fn share(count: usize, most: usize) -> usize {
    let share = RINGS_BYTES / count.max(1);
    share.clamp(RING_BYTES_MIN, most).next_power_of_two()
}

/// The edges of a job.
pub struct Crossings<'a> {
    plan: &'a Plan,
    program: &'a Program,
    homes: Homes,
    /// The job's secret.
    token: [u8; 16],
    hosts: &'a [Host],
}

/// The sending end of a link, and what its receivers need.
type Opened = (Sending, Vec<(Ticket, Vec<OwnedFd>)>);

/// A crossing with what it rides on.
struct Link<'a> {
    crossing: &'a Crossing,
    stream: Arc<str>,
    medium: &'static dyn Medium,
    spec: Spec,
}

impl<'a> Crossings<'a> {
    /// Those of a plan for a whole program.
    pub fn new(
        plan: &'a Plan,
        program: &'a Program,
        token: [u8; 16],
        hosts: &'a [Host],
    ) -> Crossings<'a> {
        Crossings {
            plan,
            program,
            homes: Homes::new(plan, program.operators.len()),
            token,
            hosts,
        }
    }

    /// Makes the sending end of a link.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn open(&self, number: u32) -> Result<Opened, String> {
        let link = self.find(number)?;
        let opened = link.medium.open(&link.spec);
        let (end, tickets) = opened.map_err(|error| link.sentence(&error))?;
        let ticket = |(receiver, ticket): (u32, transport::Ticket)| {
            let own = Ticket {
                link: number,
                receiver,
                bytes: ticket.bytes,
            };
            (own, ticket.fds)
        };
        let sending = Sending {
            stream: link.stream,
            to: link.crossing.to.clone(),
            codec: link.crossing.codec,
            end,
        };
        Ok((sending, (0..).zip(tickets).map(ticket).collect()))
    }

    /// Makes both ends of the rings within a PE, and adds what else the order of its streams needs.
    ///
    /// # Errors
    /// A sentence that names the stream.
    pub fn within(&self, part: &Part, pe: u32, links: &mut Links) -> Result<(), String> {
        for &(number, from) in &part.rings {
            let bytes = share(part.rings.len(), RING_BYTES);
            let (sending, receiving) = self.ring((number, from), pe, bytes)?;
            links.outbound.insert(number, sending);
            links.inbound.insert(number, receiving);
        }
        links.begins = part.begins.clone();
        Ok(())
    }

    fn ring(
        &self,
        (number, from): (u32, Edge),
        pe: u32,
        ring_bytes: usize,
    ) -> Result<(Sending, Receiving), String> {
        let medium = media::find("ring").ok_or_else(|| unknown_medium("ring"))?;
        let (name, stream) = self.names(from);
        let spec = Spec {
            name: name.into(),
            link: number,
            receivers: 1,
            ring_bytes,
            batch: Batching::default(),
            token: self.token,
            listen: Ipv4Addr::LOCALHOST.into(),
        };
        let failed = |error: transport::Error| format!("stream {} by ring: {error}", spec.name);
        let (end, mut tickets) = medium.open(&spec).map_err(failed)?;
        let ticket = tickets.pop().unwrap_or_default();
        let sending = Sending {
            stream: stream.clone(),
            to: vec![pe],
            codec: Codec::Facade,
            end,
        };
        let receiving = Receiving {
            stream,
            from: pe,
            codec: Codec::Facade,
            is_foreign: false,
            end: medium.accept(&spec, ticket).map_err(failed)?,
        };
        Ok((sending, receiving))
    }

    /// What a stream is called in messages, and its own name.
    fn names(&self, Edge { operator, port }: Edge) -> (String, Arc<str>) {
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
    pub fn accept(&self, ticket: Ticket, fds: Vec<OwnedFd>) -> Result<Receiving, String> {
        let link = self.find(ticket.link)?;
        let bytes = ticket.bytes;
        let accepted = link
            .medium
            .accept(&link.spec, transport::Ticket { bytes, fds });
        let end = accepted.map_err(|error| link.sentence(&error))?;
        let from = self.homes.of(link.crossing.from.operator);
        Ok(Receiving {
            stream: link.stream,
            from: from.unwrap_or_default(),
            codec: link.crossing.codec,
            is_foreign: link.medium.caps().is_foreign,
            end,
        })
    }

    /// Where a crossing's sender listens: for its own host alone, unless a receiver is on another.
    fn listen(&self, crossing: &Crossing) -> Result<IpAddr, String> {
        let host = |pe: u32| self.plan.pes.get(pe as usize)?.host.as_deref();
        let from = self.homes.of(crossing.from.operator).and_then(host);
        if crossing.to.iter().all(|pe| host(*pe) == from) {
            return Ok(Ipv4Addr::LOCALHOST.into());
        }
        let found = from.and_then(|name| hosts::of(self.hosts, name));
        let found = found.ok_or("the sender's host has no address for other hosts")?;
        Ok(found.address)
    }

    fn find(&self, number: u32) -> Result<Link<'a>, String> {
        let crossing = self.plan.crossings.get(number as usize);
        let crossing = crossing.ok_or_else(|| format!("there is no crossing {number}"))?;
        let medium = media::find(&crossing.medium);
        let medium = medium.ok_or_else(|| unknown_medium(&crossing.medium))?;
        let most = match medium.caps().is_foreign {
            true => WINDOW_BYTES,
            false => RING_BYTES,
        };
        let (name, stream) = self.names(crossing.from);
        let spec = Spec {
            name: name.into(),
            link: number,
            receivers: crossing.to.len() as u32,
            ring_bytes: crossing.ring_bytes.map_or_else(
                || share(self.plan.crossings.len(), most),
                |bytes| bytes as usize,
            ),
            batch: crossing.batch.map_or_else(Batching::default, batching),
            token: self.token,
            listen: self.listen(crossing)?,
        };
        Ok(Link {
            crossing,
            stream,
            medium,
            spec,
        })
    }
}

impl Link<'_> {
    fn sentence(&self, error: &transport::Error) -> String {
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
        for (most, full) in [(RING_BYTES, 128), (WINDOW_BYTES, 256)] {
            assert_eq!(share(0, most), most);
            assert_eq!(share(full, most), most);
            assert_eq!(share(full + 1, most), most, "a power of two");
            assert_eq!(share(4 * full, most), most / 4);
            assert_eq!(share(1_000_000, most), RING_BYTES_MIN);
        }
    }
}
