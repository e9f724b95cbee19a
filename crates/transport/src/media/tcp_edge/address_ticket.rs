//! The ticket of an edge over sockets: the addresses where its sender listens, one for each rail.
//!
//! ```text
//!   offset  0            16      18
//!           | IPv6       | port  | and so on; IPv4 addresses are written as mapped ones
//! ```

use std::net::{IpAddr, SocketAddr};

use super::handshake::{array_at, u16_at};
use crate::{EdgeSpec, EdgeTicket, Error};

/// Bytes of an address in a ticket.
pub(in crate::media) const ADDRESS_BYTES: usize = 18;

/// A ticket for each receiver of the edge, which says that its sender listens at `addresses`.
pub(in crate::media) fn seal_tickets(
    medium: &str,
    spec: &EdgeSpec,
    addresses: &[SocketAddr],
) -> Vec<EdgeTicket> {
    let bytes = addresses.iter().copied().flat_map(address_bytes);
    let own: Vec<u8> = bytes.collect();
    let ticket = |receiver| EdgeTicket::seal(medium, spec, receiver, &own);
    (0..spec.receiver_count).map(ticket).collect()
}

/// An address as tickets have it.
pub(in crate::media) fn address_bytes(address: SocketAddr) -> impl Iterator<Item = u8> {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    ip.octets().into_iter().chain(address.port().to_le_bytes())
}

/// The address that begins at a byte of a ticket.
pub(in crate::media) fn address_at(bytes: &[u8], at: usize) -> SocketAddr {
    let ip = IpAddr::from(array_at::<16>(bytes, at)).to_canonical();
    SocketAddr::new(ip, u16_at(bytes, at + 16))
}

/// Reads the receiver's number and the sender's addresses, as many as the edge has rails.
///
/// # Errors
/// The ticket is of another edge or medium, or has another number of addresses.
pub(in crate::media) fn read_rails_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
) -> Result<(u32, Vec<SocketAddr>), Error> {
    let (receiver, own) = ticket.unseal(medium, spec)?;
    let (parts, rest) = own.as_chunks::<ADDRESS_BYTES>();
    let (found, wanted) = (parts.len(), spec.listen.rails().len());
    if !rest.is_empty() || found != wanted {
        let name = &spec.name;
        let why = format!("{name}: the ticket has {found} addresses, the edge has {wanted}");
        return Err(Error::Refused(why));
    }
    let address = |bytes: &[u8; ADDRESS_BYTES]| address_at(bytes, 0);
    Ok((receiver, parts.iter().map(address).collect()))
}

/// Reads the receiver's number and the sender's address, of an edge without rails.
///
/// # Errors
/// The ticket is of another edge or medium, or has not one address.
pub(in crate::media) fn read_ticket(
    medium: &str,
    spec: &EdgeSpec,
    ticket: &EdgeTicket,
) -> Result<(u32, SocketAddr), Error> {
    let (receiver, addresses) = read_rails_ticket(medium, spec, ticket)?;
    let [address] = addresses[..] else {
        let why = format!("{}: {medium} has one path and no rails", spec.name);
        return Err(Error::Refused(why));
    };
    Ok((receiver, address))
}
