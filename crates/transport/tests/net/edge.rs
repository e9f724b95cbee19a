//! Edges with numbered frames on them, and the addresses in their tickets.

use std::net::{IpAddr, SocketAddr};

use transport::{EdgeSpec, EdgeTicket, ReceivingEnd, SendingEnd};

pub use crate::numbered_frames::{PATIENCE, medium, put, spec, take, until};

/// Names of the media over TCP.
pub const MEDIA: [&str; 2] = ["tcp", "rum"];

/// Address that a ticket leads to.
pub fn address(name: &str, spec: &EdgeSpec, ticket: &EdgeTicket) -> SocketAddr {
    addresses(name, spec, ticket)[0]
}

/// Addresses that a ticket leads to, one for each rail.
pub fn addresses(name: &str, spec: &EdgeSpec, ticket: &EdgeTicket) -> Vec<SocketAddr> {
    let (_, own) = ticket.unseal(name, spec).expect("a sound ticket");
    let address = |bytes: &[u8]| {
        let (ip, port) = bytes.split_first_chunk::<16>().expect("an address");
        let port = u16::from_le_bytes(port.try_into().expect("a port"));
        SocketAddr::new(IpAddr::from(*ip).to_canonical(), port)
    };
    own.chunks(18).map(address).collect()
}

/// A ticket that leads to another address.
pub fn ticket_to(name: &str, spec: &EdgeSpec, receiver: u32, address: SocketAddr) -> EdgeTicket {
    ticket_to_all(name, spec, receiver, &[address])
}

/// A ticket that leads to other addresses, one for each rail.
pub fn ticket_to_all(
    name: &str,
    spec: &EdgeSpec,
    receiver: u32,
    addresses: &[SocketAddr],
) -> EdgeTicket {
    let bytes = addresses.iter().flat_map(|address| {
        let ip = match address.ip() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped(),
            IpAddr::V6(ip) => ip,
        };
        [&ip.octets()[..], &address.port().to_le_bytes()].concat()
    });
    EdgeTicket::seal(name, spec, receiver, &bytes.collect::<Vec<_>>())
}

/// An edge with a stream of numbered frames.
pub struct Stream {
    /// Sending end of the edge.
    pub out: Box<dyn SendingEnd>,
    /// Receiving ends of the edge, and the number of the next frame for each.
    pub ends: Vec<(Box<dyn ReceivingEnd>, u64)>,
    sent: u64,
}

impl Stream {
    /// Accepts every ticket of the edge.
    pub fn accept(
        out: Box<dyn SendingEnd>,
        name: &str,
        spec: &EdgeSpec,
        tickets: Vec<EdgeTicket>,
    ) -> Stream {
        let accept = |ticket| (medium(name).accept(spec, ticket).expect("accepted"), 0);
        let ends = tickets.into_iter().map(accept).collect();
        Stream { out, ends, sent: 0 }
    }

    /// Passes `count` more frames to every receiver, in order.
    pub fn pass(&mut self, count: u64) {
        let until_sent = self.sent + count;
        until("the last frame", || {
            while self.sent < until_sent && put(&mut *self.out, self.sent).expect("room or not") {
                self.sent += 1;
            }
            let is_out = self.sent == until_sent && self.out.flush().expect("flushed");
            for (end, next) in &mut self.ends {
                *next = take(&mut **end, *next).expect("a sound stream");
            }
            let have_all = self.ends.iter().all(|(_, next)| *next == until_sent);
            (is_out && have_all).then_some(())
        });
    }
}
