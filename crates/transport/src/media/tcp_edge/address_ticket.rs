//! The ticket of an edge over sockets: the address where its sender listens.
//!
//! ```text
//!   offset  0            16      18
//!           | IPv6       | port  |      IPv4 addresses are written as mapped ones
//! ```

use std::net::{IpAddr, SocketAddr};

use crate::{EdgeSpec, EdgeTicket, Error};

/// A ticket for each receiver of the edge, which says that its sender listens at `address`.
pub(in crate::media) fn seal_tickets(
    medium: &str,
    spec: &EdgeSpec,
    address: SocketAddr,
) -> Vec<EdgeTicket> {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let own = [&ip.octets()[..], &address.port().to_le_bytes()].concat();
    let ticket = |receiver| EdgeTicket::seal(medium, spec, receiver, &own);
    (0..spec.receiver_count).map(ticket).collect()
}

/// Reads the receiver's number and the sender's address.
///
/// # Errors
/// The ticket is of another edge or medium, or has no address.
pub(in crate::media) fn read_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
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
