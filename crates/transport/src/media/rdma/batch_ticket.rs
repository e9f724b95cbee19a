//! The ticket of an edge in mode `batch`: where the sender listens, and where it answers probes.
//!
//! ```text
//!   0                      18                             36          44
//!   | address for requests | address of probes            | instance  |
//! ```

use std::net::SocketAddr;

use super::peer_watch::LivenessAddress;
use crate::media::tcp_edge::address_ticket::{ADDRESS_BYTES, address_at, address_bytes};
use crate::media::tcp_edge::handshake::u64_at;
use crate::{EdgeSpec, EdgeTicket, Error};

const TICKET_BYTES: usize = 2 * ADDRESS_BYTES + size_of::<u64>();

/// A ticket for each receiver of an edge.
pub(super) fn seal_batch_tickets(
    medium: &str,
    spec: &EdgeSpec,
    sender: SocketAddr,
    liveness: LivenessAddress,
) -> Vec<EdgeTicket> {
    let addresses = [sender, liveness.address].into_iter();
    let addresses = addresses.flat_map(address_bytes);
    let own = addresses.chain(liveness.instance.to_le_bytes());
    let own: Vec<u8> = own.collect();
    let ticket = |receiver| EdgeTicket::seal(medium, spec, receiver, &own);
    (0..spec.receiver_count).map(ticket).collect()
}

/// Reads the receiver's number, the sender's address, and where the sender answers probes.
///
/// # Errors
/// The ticket is of another edge, medium or mode.
pub(super) fn read_batch_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
) -> Result<(u32, SocketAddr, LivenessAddress), Error> {
    let (receiver, own) = ticket.unseal(medium, spec)?;
    let Some(own) = own
        .first_chunk::<TICKET_BYTES>()
        .filter(|_| own.len() == TICKET_BYTES)
    else {
        let (name, found) = (&spec.name, own.len());
        let why = format!("{name}: the ticket has {found} bytes, one of mode batch {TICKET_BYTES}");
        return Err(Error::Refused(why));
    };
    let liveness = LivenessAddress {
        address: address_at(own, ADDRESS_BYTES),
        instance: u64_at(own, 2 * ADDRESS_BYTES),
    };
    Ok((receiver, address_at(own, 0), liveness))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::media::rdma::sim_edge::spec;

    #[test]
    fn a_ticket_is_read_as_it_was_sealed() {
        let sender: SocketAddr = "10.1.2.3:4".parse().expect("an address");
        let liveness = LivenessAddress {
            address: "[fd00::7]:65535".parse().expect("an address"),
            instance: 99,
        };
        let tickets = seal_batch_tickets("rdma", &spec(3), sender, liveness);
        let read = read_batch_ticket("rdma", &spec(3), &tickets[2]).expect("a ticket");
        assert_eq!(read, (2, sender, liveness));
        let other = EdgeTicket::seal("rdma", &spec(3), 0, &[0; 18]);
        let refusal = read_batch_ticket("rdma", &spec(3), &other).expect_err("another mode's");
        assert_eq!(
            refusal.to_string(),
            "Trades.0: the ticket has 18 bytes, one of mode batch 44"
        );
    }
}
