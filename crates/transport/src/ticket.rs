//! Sealed tickets: bytes that say which end of which edge they are for, and whether they are whole.
//!
//! ```text
//!   0          4         8        12          16         24                 24 + n
//!   +----------+---------+--------+-----------+----------+------------------+
//!   | magic u32| version | edge   | receiver  | seal u64 | the medium's own |
//!   +----------+---------+--------+-----------+----------+------------------+
//! ```
//! Numbers are little endian, as the two sides may be on different hosts. The seal is a checksum
//! over all other bytes, the medium's name and the job's token: a ticket that is cut off, changed,
//! of another job or of another medium is refused before anything is done with it. It is no
//! protection against an attacker, which the connection itself must keep out.

use crate::{EdgeSpec, EdgeTicket, Error};

const MAGIC: u32 = u32::from_le_bytes(*b"thlT");
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 16;
const SEAL_BYTES: usize = 8;

impl EdgeTicket {
    /// Makes a ticket without descriptors for a receiver of the edge. `own` are further bytes that
    /// the medium needs.
    ///
    /// # Example
    /// ```
    /// use thalweg_transport::{Batching, EdgeSpec, EdgeTicket};
    ///
    /// # let spec = EdgeSpec {
    /// #     name: "Trades.0".into(),
    /// #     edge: 3,
    /// #     receiver_count: 2,
    /// #     ring_bytes: 4096,
    /// #     batching: Batching::default(),
    /// #     token: [7; 16],
    /// #     listen: std::net::Ipv4Addr::LOCALHOST.into(),
    /// # };
    /// let ticket = EdgeTicket::seal("pigeon", &spec, 1, b"loft 4");
    /// assert_eq!(ticket.unseal("pigeon", &spec)?, (1, &b"loft 4"[..]));
    /// assert!(ticket.unseal("tcp", &spec).is_err());
    /// # Ok::<(), thalweg_transport::Error>(())
    /// ```
    pub fn seal(medium: &str, spec: &EdgeSpec, receiver: u32, own: &[u8]) -> EdgeTicket {
        let head = [MAGIC, VERSION, spec.edge, receiver].map(u32::to_le_bytes);
        let head = head.concat();
        let seal = checksum(&[medium.as_bytes(), &spec.token, &head, own]);
        EdgeTicket {
            bytes: [&head[..], &seal.to_le_bytes(), own].concat(),
            fds: Vec::new(),
        }
    }

    /// Returns the receiver's number and the medium's own bytes.
    ///
    /// # Errors
    /// The ticket is not whole, or not for this edge and medium.
    pub fn unseal(&self, medium: &str, spec: &EdgeSpec) -> Result<(u32, &[u8]), Error> {
        let refused = |why: String| Error::Refused(format!("{}: {why}", spec.name));
        let Some((head, rest)) = self.bytes.split_at_checked(HEAD_BYTES) else {
            return Err(refused("the ticket is cut off".to_owned()));
        };
        let Some((seal, own)) = rest.split_first_chunk::<SEAL_BYTES>() else {
            return Err(refused("the ticket is cut off".to_owned()));
        };
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if word(0) != MAGIC {
            return Err(refused("that is no ticket".to_owned()));
        }
        if word(4) != VERSION {
            let found = word(4);
            return Err(refused(format!(
                "the ticket has version {found}, this is version {VERSION}"
            )));
        }
        let is_whole =
            checksum(&[medium.as_bytes(), &spec.token, head, own]) == u64::from_le_bytes(*seal);
        if !is_whole || word(8) != spec.edge || word(12) >= spec.receiver_count {
            return Err(refused(format!(
                "the ticket is broken, or not one of this job for edge {} by {medium}",
                spec.edge
            )));
        }
        Ok((word(12), own))
    }
}

/// Checksum over the parts: FNV-1a, with the length of each. A change of one byte always changes
/// it.
fn checksum(parts: &[&[u8]]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    parts.iter().fold(0xcbf2_9ce4_8422_2325, |hash, part| {
        let hash = part.iter().copied().fold(hash, step);
        (part.len() as u64)
            .to_le_bytes()
            .into_iter()
            .fold(hash, step)
    })
}

const _: () = assert!(HEAD_BYTES == 4 * size_of::<u32>() && SEAL_BYTES == size_of::<u64>());

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::Batching;

    fn spec() -> EdgeSpec {
        EdgeSpec {
            name: "Trades.0".into(),
            edge: 7,
            receiver_count: 3,
            ring_bytes: 65536,
            batching: Batching::default(),
            token: [9; 16],
            listen: Ipv4Addr::LOCALHOST.into(),
        }
    }

    fn refusal(ticket: &EdgeTicket, spec: &EdgeSpec) -> String {
        match ticket.unseal("shm", spec) {
            Err(error) => error.to_string(),
            Ok(found) => panic!("not refused: {found:?}"),
        }
    }

    #[test]
    fn a_ticket_opens_as_it_was_sealed() {
        let ticket = EdgeTicket::seal("shm", &spec(), 2, b"own");
        let found = ticket.unseal("shm", &spec());
        assert!(matches!(found, Ok((2, b"own"))), "{found:?}");
    }

    #[test]
    fn any_change_is_refused() {
        let ticket = EdgeTicket::seal("shm", &spec(), 0, b"own");
        for at in 0..ticket.bytes.len() {
            for bit in 0..8 {
                let mut bytes = ticket.bytes.clone();
                bytes[at] ^= 1 << bit;
                let fds = Vec::new();
                refusal(&EdgeTicket { bytes, fds }, &spec());
            }
            let bytes = ticket.bytes[..at].to_vec();
            let fds = Vec::new();
            refusal(&EdgeTicket { bytes, fds }, &spec());
        }
    }

    #[test]
    fn another_edge_job_or_medium_is_refused() {
        let ticket = EdgeTicket::seal("shm", &spec(), 0, b"");
        let other = EdgeSpec { edge: 8, ..spec() };
        let why = "Trades.0: the ticket is broken, or not one of this job for edge 8 by shm";
        assert_eq!(refusal(&ticket, &other), why);
        let token = [8; 16];
        refusal(&ticket, &EdgeSpec { token, ..spec() });
        refusal(&EdgeTicket::seal("tcp", &spec(), 0, b""), &spec());
        refusal(&EdgeTicket::seal("shm", &spec(), 3, b""), &spec());
    }
}
