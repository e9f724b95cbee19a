//! Where the launcher of rank 0 listens for the other ranks: a Unix socket without a file, and, if
//! ranks are on other hosts, TCP at the addresses of this one.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{self, UnixListener};

use crate::control::RankContact;
use crate::error::Error;
use crate::job::RankOptions;

/// Most addresses of this host at which the launcher listens: the contact has 1024 bytes.
const ADDRESSES_MAX: usize = 8;

/// The sockets on which ranks connect.
pub struct RankListeners {
    unix: UnixListener,
    tcp: Vec<TcpListener>,
}

/// A connection that was accepted: its socket, which does not block, and for TCP the addresses of
/// the other side and of this one.
pub struct AcceptedSocket {
    pub socket: OwnedFd,
    pub addresses: Option<(IpAddr, IpAddr)>,
}

impl RankListeners {
    /// Starts to listen, and notes in the contact where.
    ///
    /// # Errors
    /// The system refuses, or this host has no address for other hosts.
    pub fn new(contact: &mut RankContact, options: &RankOptions) -> Result<RankListeners, Error> {
        let failed = |error: io::Error| Error::system("listen for the other ranks", error);
        let name = net::SocketAddr::from_abstract_name(&contact.unix_name).map_err(failed)?;
        let unix = UnixListener::bind_addr(&name).map_err(failed)?;
        unix.set_nonblocking(true).map_err(failed)?;
        let is_one_host = options.environment.as_ref().and_then(|e| e.is_one_host);
        let addresses = match (is_one_host, options.control_address) {
            (Some(true), _) => Vec::new(),
            (_, Some(address)) => vec![address],
            _ => own_addresses(),
        };
        if is_one_host == Some(false) && addresses.is_empty() {
            let why = "this host has no address at which ranks on other hosts reach the launcher: \
                       --control-address ADDRESS gives one";
            return Err(Error::Program(why.to_owned()));
        }
        let mut tcp = Vec::new();
        for address in addresses.into_iter().take(ADDRESSES_MAX) {
            let bound = TcpListener::bind(SocketAddr::new(address, 0));
            let listener = bound.map_err(|error| {
                Error::system(format!("listen for the other ranks on {address}"), error)
            })?;
            listener.set_nonblocking(true).map_err(failed)?;
            contact
                .addresses
                .push(listener.local_addr().map_err(failed)?);
            tcp.push(listener);
        }
        Ok(RankListeners { unix, tcp })
    }

    /// The listening sockets, to poll.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let tcp = self.tcp.iter().map(AsFd::as_fd);
        [self.unix.as_fd()].into_iter().chain(tcp)
    }

    /// Takes the connections that wait, at most `count_max` of each socket.
    pub fn accept(&self, count_max: usize) -> Vec<AcceptedSocket> {
        let unix = std::iter::from_fn(|| self.unix.accept().ok()).take(count_max);
        let mut accepted: Vec<_> = unix
            .filter_map(|(socket, _)| {
                socket.set_nonblocking(true).ok()?;
                let (socket, addresses) = (socket.into(), None);
                Some(AcceptedSocket { socket, addresses })
            })
            .collect();
        for listener in &self.tcp {
            let tcp = std::iter::from_fn(|| listener.accept().ok()).take(count_max);
            accepted.extend(tcp.filter_map(|(socket, other)| {
                socket.set_nonblocking(true).ok()?;
                socket.set_nodelay(true).ok()?;
                let addresses = Some((other.ip(), socket.local_addr().ok()?.ip()));
                let socket = socket.into();
                Some(AcceptedSocket { socket, addresses })
            }));
        }
        accepted
    }
}

/// Addresses of this host at which others may reach it, without loopback.
fn own_addresses() -> Vec<IpAddr> {
    let routes = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let interfaces = fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let mut addresses: Vec<IpAddr> = Vec::new();
    for network in networks(&routes) {
        // A datagram socket that is connected says which address it would send from, and sends
        // nothing.
        let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
            socket.connect((network, 9))?;
            socket.local_addr()
        });
        addresses.extend(own.map(|own| own.ip()));
    }
    addresses.extend(global_addresses(&interfaces));
    let mut known = Vec::new();
    for address in addresses {
        if !address.is_loopback() && !address.is_unspecified() && !known.contains(&address) {
            known.push(address);
        }
    }
    known
}

/// An address in each network of `/proc/net/route`: the networks are hexadecimal, in native byte
/// order.
fn networks(routes: &str) -> impl Iterator<Item = Ipv4Addr> {
    let lines = routes.lines().skip(1);
    // The default route, 0, leads to no network of this host.
    lines.filter_map(|line| {
        let network = line.split_whitespace().nth(1)?;
        let network = u32::from_str_radix(network, 16).ok()?.to_ne_bytes();
        let network = Some(u32::from_be_bytes(network)).filter(|network| *network != 0)?;
        Some(Ipv4Addr::from(network | 1))
    })
}

/// The global addresses of `/proc/net/if_inet6`: 32 hexadecimal digits, then, in the fourth column,
/// a scope that is 00.
fn global_addresses(interfaces: &str) -> impl Iterator<Item = IpAddr> {
    interfaces.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        let is_global = words.nth(2)? == "00";
        is_global.then_some(IpAddr::V6(Ipv6Addr::from(address)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses_are_read_as_the_kernel_writes_them() {
        let order = |address: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(address));
        let routes = format!(
            "Iface\tDestination\tGateway\neth0\t{}\t0\neth0\t{}\t0\nodd\n",
            order([0, 0, 0, 0]),
            order([10, 3, 0, 0])
        );
        let found: Vec<_> = networks(&routes).collect();
        assert_eq!(found, [Ipv4Addr::new(10, 3, 0, 1)]);
        let interfaces = "fe800000000000000000000000000001 02 40 20 80 eth0\n\
                          20010db8000000000000000000000007 02 40 00 80 eth0\n";
        let found: Vec<_> = global_addresses(interfaces).collect();
        assert_eq!(found, ["2001:db8::7".parse::<IpAddr>().unwrap()]);
    }
}
