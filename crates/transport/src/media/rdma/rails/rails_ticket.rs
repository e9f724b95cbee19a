//! The ticket of an edge with rails: where the sender listens, and where it answers probes, on each
//! rail.
//!
//! ```text
//!   0                          18 n                     36 n       36 n + 8
//!   | addresses for requests   | addresses of probes    | instance |
//! ```

use std::net::SocketAddr;

use crate::media::rdma::peer_watch::LivenessAddress;
use crate::media::tcp_edge::address_ticket::{ADDRESS_BYTES, address_at, address_bytes};
use crate::media::tcp_edge::handshake::u64_at;
use crate::{EdgeSpec, EdgeTicket, Error};

/// A rail as a ticket has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RailAddress {
    pub(super) sender: SocketAddr,
    pub(super) liveness: LivenessAddress,
}

const fn ticket_bytes(rails: usize) -> usize {
    2 * ADDRESS_BYTES * rails + size_of::<u64>()
}

/// A ticket for each receiver of an edge.
pub(super) fn seal_rails_tickets(
    medium: &str,
    spec: &EdgeSpec,
    rails: &[RailAddress],
    instance: u64,
) -> Vec<EdgeTicket> {
    let senders = rails.iter().map(|rail| rail.sender);
    let addresses = senders.chain(rails.iter().map(|rail| rail.liveness.address));
    let bytes = addresses.flat_map(address_bytes);
    let own: Vec<u8> = bytes.chain(instance.to_le_bytes()).collect();
    let ticket = |receiver| EdgeTicket::seal(medium, spec, receiver, &own);
    (0..spec.receiver_count).map(ticket).collect()
}

/// Reads the receiver's number and the rails.
///
/// # Errors
/// The ticket is of another edge, medium or mode, or has another number of rails.
pub(super) fn read_rails_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
) -> Result<(u32, Vec<RailAddress>), Error> {
    let (receiver, own) = ticket.unseal(medium, spec)?;
    let rails = spec.listen.rails().len();
    let wanted = ticket_bytes(rails);
    if own.len() != wanted {
        let (name, found) = (&spec.name, own.len());
        return Err(Error::Refused(format!(
            "{name}: the ticket has {found} bytes, one of mode batch with {rails} rails {wanted}"
        )));
    }
    let instance = u64_at(own, 2 * ADDRESS_BYTES * rails);
    let rail = |rail| RailAddress {
        sender: address_at(own, ADDRESS_BYTES * rail),
        liveness: LivenessAddress {
            address: address_at(own, ADDRESS_BYTES * (rails + rail)),
            instance,
        },
    };
    Ok((receiver, (0..rails).map(rail).collect()))
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::ListenAddresses;
    use crate::media::rdma::sim_edge::spec;

    #[test]
    fn a_ticket_is_read_as_it_was_sealed() {
        let addresses = ["10.1.2.3", "10.1.3.3"].map(|text| text.parse::<IpAddr>().unwrap());
        let spec = EdgeSpec {
            listen: ListenAddresses::from_rails(&addresses).unwrap(),
            ..spec(3)
        };
        let rail = |at: usize| RailAddress {
            sender: SocketAddr::new(addresses[at], 4),
            liveness: LivenessAddress {
                address: SocketAddr::new(addresses[at], 65_535),
                instance: 99,
            },
        };
        let rails = [rail(0), rail(1)];
        let tickets = seal_rails_tickets("rdma", &spec, &rails, 99);
        let read = read_rails_ticket("rdma", &spec, &tickets[2]).expect("a ticket");
        assert_eq!(read, (2, rails.to_vec()));
        let other = EdgeTicket::seal("rdma", &spec, 0, &[0; 44]);
        let refusal = read_rails_ticket("rdma", &spec, &other).expect_err("of one path");
        assert_eq!(
            refusal.to_string(),
            "Trades.0: the ticket has 44 bytes, one of mode batch with 2 rails 80"
        );
    }
}
