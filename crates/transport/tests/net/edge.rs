//! Edges with numbered frames on them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use transport::{Batching, EdgeSpec, EdgeTicket, Error, Medium, ReceivingEnd, SendingEnd, media};

/// Longest time that any step may take; longer means that it is broken, not slow.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Names of the media over TCP.
pub const MEDIA: [&str; 2] = ["tcp", "rum"];

/// Bytes of an edge's ring.
pub const RING_BYTES: usize = 64 * 1024;

/// Description of a new edge.
pub fn spec(receivers: u32) -> EdgeSpec {
    static LINK: AtomicU32 = AtomicU32::new(1);
    EdgeSpec {
        name: "Trades.0".into(),
        edge: LINK.fetch_add(1, Ordering::Relaxed),
        receiver_count: receivers,
        ring_bytes: RING_BYTES,
        batching: Batching::default(),
        token: *b"sixteen secret b",
        listen: Ipv4Addr::LOCALHOST.into(),
    }
}

/// The medium of this name.
pub fn medium(name: &str) -> &'static dyn Medium {
    media::find(name).expect("a medium of that name")
}

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

/// Retries until there is an answer.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = attempt() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "in {PATIENCE:?} never: {what}");
        std::thread::yield_now();
    }
}

/// Payload bytes of the frame of this number.
fn len(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize
}

/// Commits the frame of this number. `false`: there is no room.
pub fn put(out: &mut dyn SendingEnd, number: u64) -> Result<bool, Error> {
    let Some(room) = out.claim(len(number))? else {
        return Ok(false);
    };
    room.fill(number as u8);
    if let Some(word) = room.first_chunk_mut() {
        *word = number.to_le_bytes();
    }
    out.commit(1, 0, len(number));
    Ok(true)
}

/// Takes the frames that have come, which must be those from this number on. Returns the number of
/// the next.
pub fn take(end: &mut dyn ReceivingEnd, mut number: u64) -> Result<u64, Error> {
    for frame in end.poll()? {
        assert_eq!(
            frame.bytes.len(),
            len(number),
            "the length of frame {number}"
        );
        let (word, rest) = match frame.bytes.split_first_chunk() {
            Some((word, rest)) => (u64::from_le_bytes(*word), rest),
            None => (number, frame.bytes),
        };
        assert_eq!(word, number, "the number of a frame");
        let is_right = rest.iter().all(|byte| *byte == number as u8);
        assert!(is_right, "frame {number} is torn");
        number += 1;
    }
    end.release();
    Ok(number)
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
